// SPDX-License-Identifier: Apache-2.0
// The operators' page: it shows each board that the desk sends, and asks the desk to act.

import { listen } from "../shared/events.js";
import { zonedText, zoneText } from "../shared/format.js";
import { $, fill, make, show } from "../shared/page.js";
import { act, isBusy } from "../shared/acting.js";
import "../shared/pages.js";
import { closeMenusByThemselves } from "../shared/parts.js";
import { enable } from "../shared/person.js";
import { confirmed } from "./actions.js";
import { footOf, isSilent } from "./bar.js";
import { choices, chosen, forgetChoice, showChoice } from "./choice.js";
import { Lane } from "./lane.js";
import { noticeRow, showRows } from "./lists.js";
import { QUESTIONS, replaceQuestion } from "./questions.js";

const CHECKS_MS = 5000;

let board = null;
let checks = null; // the list of the page Check
let boardAt = performance.now(); // when that board came
let trouble = "";
let lanes = [];

const ageS = () => (performance.now() - boardAt) / 1000;

function showBoard(next) {
  board = next;
  boardAt = performance.now();
  trouble = "";
  if (lanes.length !== board.lanes.length) makeLanes(board.lanes);
  show("contest", `${board.contest} – ${board.mode}`);
  showContestants();
  fill("guests", board.guests, guestBox);
  showChoice(board);
  lanes.forEach((lane, n) => lane.showBoard(board, board.lanes[n]));
  showSessions();
  show("notices-title", `What happened, times in ${zoneText(new Date())}`);
  fill("notices", board.notices, noticeRow);
  tick();
}

// The first card stands before the desk has told how many lanes there are.
function makeLanes(news) {
  document.body.classList.toggle("many", news.length > 1);
  document.body.classList.toggle("dense", news.length > 2);
  const asked = { move, card, chosen: () => { showSessions(); tick(); } };
  if (news.length < lanes.length) {
    $("lanes").replaceChildren();
    lanes = [];
  }
  lanes.push(...news.slice(lanes.length).map(({ number }) => new Lane(number, asked)));
  fill("lane", news, ({ number, name }) => {
    const option = make("option", name || number);
    option.value = number;
    return option;
  });
  $("lane-label").hidden = lanes.length < 2;
}

const laneOf = (id) => {
  const { lane } = board.sessions.find((row) => row.id === id);
  return lanes.find(({ number }) => number === lane) ?? lanes[0];
};

function showSessions() {
  const shown = lanes.map((lane) => lane.selected ?? lane.news.current?.id);
  showRows(board, shown, (id) => laneOf(id).select(id));
}

// With several lanes each card has its own address.
function showContestants() {
  const { password } = board.contestants;
  const none = "this laptop is on no network that they can reach";
  const urls = board.lanes.flatMap((lane) => lane.urls);
  $("contestants").hidden = lanes.length > 1 && urls.length > 0 && !password;
  show("urls", !urls.length ? none : lanes.length > 1 ? "" : urls.join(" or "));
  $("contestants").title = urls.join(" or ");
  show("login-hint", password ? `· any user name, password ${password}` : "");
}

// What a guest beside the contest shows, in its own words.
function guestBox({ title, text, link, link_text: words }) {
  const way = make("a", words);
  way.href = link;
  const box = make("section", make("h2", title), make("p", text), make("p", way));
  box.setAttribute("aria-label", title);
  return box;
}

// Show everything that changes between two boards.
function tick() {
  show("now", zonedText(new Date()));
  const silent = isSilent(ageS());
  show("connection", silent ? "no news" : board ? "live" : "connecting…");
  $("connection").className = silent ? "lost" : "";
  document.body.classList.toggle("silent", silent);
  showFoot();
  if (!board) return;
  for (const lane of lanes) lane.tick(ageS());
  enable($("create"), !isBusy() && $("team").value !== "", "new session");
}

function showFoot() {
  const foot = footOf(board, checks, ageS(), trouble);
  $("alarm").hidden = foot.alarm === null;
  $("calm").hidden = foot.calm === null;
  if (foot.calm !== null) {
    $("calm").classList.toggle("hindered", foot.hindered);
    $("calm-page").hidden = !foot.link;
    show("calm-text", foot.calm);
  }
  if (foot.alarm === null) return;
  show("alarm-text", foot.alarm);
  show("alarm-detail", foot.detail);
  $("alarm-seen").hidden = foot.seen;
  enable($("alarm-seen"), !isBusy(), "alarm seen");
}

// Nobody can arm a session while a check fails, so "Nothing is wrong." would be untrue then. A list
// that cannot be fetched is not known.
async function lookAtChecks() {
  try {
    const response = await fetch("check/now");
    checks = response.ok ? await response.json() : null;
  } catch {
    checks = null;
  }
  setTimeout(lookAtChecks, CHECKS_MS);
}

async function refresh() {
  const response = await fetch("board");
  if (response.ok) showBoard(await response.json());
}

async function move(session, action) {
  const ask = QUESTIONS[action];
  const filled = ask ? await confirmed(ask(session)) : {};
  if (filled === null) return;
  const seen = { seen_state: session.state, seen_length_s: session.length_s };
  await act(`sessions/${session.id}/${action}`, { ...seen, ...filled }, async () => {
    for (const lane of lanes) lane.forgetOther();
    await refresh();
  });
  tick();
  keepFocus(session);
}

// A pressed button that is disabled afterwards loses the focus; the title takes it over.
function keepFocus(session) {
  if (document.activeElement === document.body) $(laneOf(session.id).at("session-title")).focus();
}

// The desk compares the texts without their blanks, and takes no line breaks.
$("alarm-seen").addEventListener("click", () => {
  const alarms = board.alarms.map(({ lane, text }) => ({ lane, text: text.replace(/\s+/g, " ") }));
  act("alarms/seen", { alarms }, refresh);
});

const card = (lane, on) => act("display/card", { lane, on }, refresh);

$("new-session").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { team, lane, counted, replaces } = chosen();
  if (!team || (replaces && !await confirmed(replaceQuestion(team, replaces)))) return;
  const after = choices();
  await act("sessions", { team, lane, seen_counted: counted }, (made) => {
    if (made) forgetChoice(after);
    return refresh();
  });
  tick();
  if (document.activeElement === document.body) $("create").focus();
});

const showTrouble = ({ text }) => { trouble = text; };

closeMenusByThemselves();
makeLanes([{ number: 1, name: "" }]);
listen("events", { board: showBoard, trouble: showTrouble, full: showTrouble });
setInterval(tick, 200);
lookAtChecks();
