// SPDX-License-Identifier: Apache-2.0
// The two lists below the card: the sessions, and what happened.

import { figure, secondText, timeText } from "../shared/format.js";
import { $, make, put, show } from "../shared/page.js";
import { lineAbout } from "../shared/parts.js";
import { ABOUT_WORDS, isAbout, verdictOf } from "./wording.js";

const rows = new Map(); // the table's rows by session number

// `shownIds` are the sessions on the cards.
export function showRows({ sessions, figures, lanes }, shownIds, select) {
  show("accuracy-head", figures.accuracy.label);
  show("score-head", figures.score.unit);
  $("no-sessions").hidden = sessions.length > 0;
  const order = sessions.map((session) => {
    const row = rows.get(session.id) ?? newRow(session.id, select);
    rows.set(session.id, row);
    const name = lanes.length > 1 ? lanes.find((lane) => lane.number === session.lane)?.name : "";
    showRow(row, session, shownIds.includes(session.id), name);
    return row;
  });
  const body = $("sessions");
  if (body.rows.length !== order.length || order.some((row, n) => body.rows[n] !== row)) {
    body.replaceChildren(...order);
  }
}

function showRow(row, session, shown, lane) {
  const texts = [
    stateOf(session),
    figure(session.mean_ap, 4), figure(session.energy_wh, 4), verdictOf(session),
    session.score_text,
  ];
  texts.forEach((text, n) => {
    const cell = row.cells[n + 2];
    put(cell, text);
    cell.classList.toggle("none", text === "–");
  });
  for (const name of ["VALID", "SUSPECT", "INVALID"]) {
    row.cells[5].classList.toggle(name, name === session.verdict);
  }
  showTeam(row.cells[1], session.team, lane ? ` (lane ${lane})` : "", session.void_reason ?? "");
  row.cells[6].classList.toggle("doubtful", session.too_short);
  row.cells[6].title = session.score !== null && isAbout(session) ? ABOUT_WORDS : "";
  row.classList.toggle("void", session.state === "VOID");
  row.classList.toggle("shown", shown);
  row.querySelector("button").setAttribute("aria-pressed", String(shown));
}

// Why a session is void has the width of the name above it: an operator reads it in the list.
function showTeam(cell, name, lane, reason) {
  const shown = name + lane + reason;
  if (cell.dataset.shown === shown) return;
  cell.dataset.shown = shown;
  cell.replaceChildren(lineAbout("", name, lane));
  if (!reason) return;
  const why = make("p", reason);
  why.className = "reason";
  cell.append(why);
}

function stateOf({ state, rehearsal }) {
  return rehearsal ? `${state}, rehearsal` : state;
}

function newRow(id, select) {
  const button = make("button", String(id));
  button.type = "button";
  button.setAttribute("aria-label", `Show session ${id}`);
  const cells = Array.from({ length: 7 }, () => make("td"));
  cells[0].append(button);
  for (const n of [3, 4, 6]) cells[n].classList.add("number");
  for (const n of [3, 4]) cells[n].classList.add("extra");
  const row = make("tr", ...cells);
  row.addEventListener("click", () => select(id));
  return row;
}

export function noticeRow(notice) {
  const time = make("time", timeText(new Date(notice.utc)));
  time.dateTime = notice.utc;
  const second = notice.at_s === null ? "" : ` at ${secondText(notice.at_s)}`;
  const lane = notice.lane ? `lane ${notice.lane}` : "";
  const where = make("span", notice.session ? `session ${notice.session}${second}` : lane);
  const element = make("li", time, where, make("p", notice.text));
  element.className = notice.level;
  return element;
}
