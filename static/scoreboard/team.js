// SPDX-License-Identifier: Apache-2.0
// The page of one team: its result, the course of its session, its curves, and later its mistakes.

import { $, fill, make, show, showCut } from "../shared/page.js";
import { figureOf, pillOf } from "../shared/parts.js";
import { followPicture, showPicture } from "./picture.js";
import { source } from "./source.js";

const name = source.team;
let shownSession = null;
let shownMisses = null;

// A figure of the result; the verdict is a pill.
function figureFor([label, value, verdict]) {
  const made = figureOf({ label, value: verdict ? "" : value });
  if (verdict) made.querySelector(".value").replaceChildren(pillOf(value, verdict));
  return made;
}

function showTeam({ view, key }) {
  const entry = view.entries.find((one) => one.team === name);
  document.title = `${name}: ${view.contest}`;
  showCut("team", name);
  show("state", view.state);
  $("state").className = `badge ${view.state}`;
  if (entry === undefined) {
    show("word", "No team has this name now. The scoreboard lists all of them.");
    fill("figures", [], figureFor);
    show("clients", "");
    $("session").hidden = true;
    $("misses-box").hidden = true;
    return;
  }
  show("place", entry.organisation);
  show("word", entry.word);
  fill("figures", view.team_columns.map(({ field, head }) =>
    [head, entry.printed[field], field === "verdict" ? entry.verdict : null]), figureFor);
  show("clients", entry.clients.length > 0 ? `Client: ${entry.clients.join("; ")}` : "");
  const session = entry.verdict === null ? null : entry.session;
  $("session").hidden = session === null;
  if (session !== null) {
    for (const what of ["course", "curves"]) showPicture($(what), source.session(session).picture(what));
    if (session !== shownSession) $("every").open = false;
  }
  shownSession = session;
  const final = view.state === "FINAL" ? session : null;
  $("session-links").hidden = final === null || view.session_links.length === 0;
  fill("session-links", final === null ? [] : view.session_links, ({ text, part }) => {
    const link = make("a", text);
    link.href = source.session(final).link(part) ?? "";
    link.hidden = !link.getAttribute("href");
    return link;
  });
  showMisses(final, key);
}

async function showMisses(session, key) {
  $("misses-box").hidden = session === null;
  if (session === null || shownMisses === key) return;
  shownMisses = key;
  const misses = await source.session(session).misses();
  if (misses === null) {
    $("misses-box").hidden = true;
    shownMisses = null;
    return;
  }
  $("misses-box").hidden = misses.length === 0;
  fill("misses", misses, ({ caption, picture: address }) => {
    const picture = make("img");
    picture.loading = "lazy";
    picture.alt = "";
    picture.src = address;
    return make("figure", picture, make("figcaption", caption));
  });
}

// Not every track has curves.
for (const what of ["course", "curves"]) followPicture($(what));
$("every").addEventListener("toggle", () => {
  if ($("every").open) showPicture($("all-curves"), source.session(shownSession).picture("classes"));
});
source.follow({ view: showTeam });
