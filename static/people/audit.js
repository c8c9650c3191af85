// SPDX-License-Identifier: Apache-2.0
// The audit log: who did what, the newest first. New lines appear by themselves.

import { followDocument } from "../event/following.js";
import { $, make, show, showCut } from "../shared/page.js";
import "../shared/pages.js";
import "../shared/person.js";

const STEP = 200;

const form = $("filters");
let count = STEP;

// The filters are part of the page's address, so a reload and a login keep them.
for (const [name, value] of new URLSearchParams(location.search)) {
  if (form.elements[name]) form.elements[name].value = value;
}

const wanted = () => new URLSearchParams(
  [...new FormData(form)].map(([name, value]) => [name, value.trim()]).filter(([, value]) => value),
);

const look = followDocument(() => `audit/now?${wanted()}&count=${count}`, render);

function render({ contest, rows, more }) {
  showCut("contest", `${contest} – audit`);
  $("rows").replaceChildren(...rows.map(rowOf));
  $("older").hidden = !more;
  $("none").hidden = rows.length > 0;
  show("none", String(wanted()) ? "No action matches the filters." : "Nobody has done anything yet.");
}

function rowOf(row) {
  const time = make("time", row.time);
  time.dateTime = row.utc;
  const when = make("td", time);
  when.className = "when";
  const who = make("td", row.who);
  if (row.role) who.append(make("small", row.role));
  const result = make("td", row.refusal === null ? "done" : "refused");
  result.className = row.refusal === null ? "done" : "refused";
  if (row.refusal) result.append(make("small", row.refusal));
  return make("tr", when, who, make("td", row.action), make("td", aboutOf(row)),
    make("td", row.reason), result);
}

// What an action is about; a session is one click away.
function aboutOf({ about, session_id: session }) {
  if (session === null) return about;
  const link = make("a", about);
  link.href = `.?session=${session}`;
  return link;
}

function changed() {
  count = STEP;
  const filters = String(wanted());
  history.replaceState(null, "", filters ? `?${filters}` : location.pathname);
  look();
}

form.addEventListener("input", changed);
form.addEventListener("submit", (event) => event.preventDefault());
// The fields are empty only after this event.
form.addEventListener("reset", () => setTimeout(changed));
$("older").addEventListener("click", () => {
  count += 5 * STEP;
  look();
});
