// SPDX-License-Identifier: Apache-2.0
// The operators' page: it shows each board that the desk sends, and asks the desk to act.

import { listen } from "../shared/events.js";
import { lostText, offsetText, zonedText } from "../shared/format.js";
import { Held } from "../shared/held.js";
import { $, fill, make, show, showCut } from "../shared/page.js";
import { act, askAndAct, isAsked } from "../shared/acting.js";
import "../shared/pages.js";
import { closeMenusByThemselves } from "../shared/parts.js";
import { enable } from "../shared/person.js";
import { say } from "../shared/saying.js";
import { footOf, isSilent } from "./bar.js";
import { choices, chosen, chosenFor, forgetChoice, showChoice } from "./choice.js";
import { Lane } from "./lane.js";
import { noticeRow, showRows } from "./lists.js";
import { teamOf } from "./next.js";
import { replaceQuestion } from "./questions.js";

const CHECKS_MS = 5000;

let board = null;
let checks = null; // the list of the page Check
let boardAt = performance.now(); // when that board came
let heardAt = performance.now(); // when the desk last said something, if only that nothing is new
let trouble = "";
let lanes = [];

const held = new Held();
const ageS = () => (performance.now() - boardAt) / 1000;
const silentS = () => (performance.now() - heardAt) / 1000;

function hear() {
  heardAt = performance.now();
  trouble = "";
}

function showBoard(next) {
  board = next;
  boardAt = performance.now();
  hear();
  if (lanes.length !== board.lanes.length) makeLanes(board.lanes);
  showCut("contest", `${board.settings.name} – ${board.settings.mode}`);
  showContestants();
  fill("guests", board.guests, guestBox);
  showChoice(board);
  lanes.forEach((lane, n) => lane.showBoard(board, board.lanes[n]));
  showSessions();
  show("notices-title", `What happened (local time, ${offsetText(new Date())})`);
  fill("notices", board.notices, noticeRow);
  showWanted();
  tick();
}

// The session that the page's address asks for, once: a line of the audit log leads here.
function showWanted() {
  const wanted = new URLSearchParams(location.search).get("session");
  if (!wanted) return;
  history.replaceState(null, "", location.pathname);
  const row = board.sessions.find(({ id }) => id === Number(wanted));
  if (row) laneOf(row.id).select(row.id);
  else say(`Session ${wanted} is older than the sessions on this page.`);
}

// The first card stands before the desk has told how many lanes there are.
function makeLanes(news) {
  document.body.classList.toggle("many", news.length > 1);
  document.body.classList.toggle("dense", news.length > 2);
  const asked = { begin: beginIn, choose: chooseIn, chosen: () => { showSessions(); tick(); }, done: lookAgain };
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
  const box = make("section", make("h2", title), make("p", text));
  if (link) {
    const way = make("a", words);
    way.href = link;
    box.append(make("p", way));
  }
  box.setAttribute("aria-label", title);
  return box;
}

// Show everything that changes between two boards.
function tick() {
  show("now", zonedText(new Date()));
  const silent = isSilent(silentS());
  show("connection", silent ? lostText(silentS()) : board ? "live" : "connecting…");
  $("connection").className = silent ? "lost" : "";
  document.body.classList.toggle("silent", silent);
  showFoot();
  if (!board) return;
  for (const lane of lanes) lane.tick(ageS(), checks, chosen());
  enable($("create"), !isAsked("sessions") && $("team").value !== "", "new session");
}

function showFoot() {
  const foot = footOf(board, checks, silentS(), trouble);
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
  enable($("alarm-seen"), !isAsked("alarms/seen"), "alarm seen");
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
  if (!response.ok) return;
  const next = await response.json();
  // The stream may have been faster, and says nothing more until the next change.
  if (!board || next.utc >= board.utc) showBoard(next);
}

async function lookAgain() {
  for (const lane of lanes) lane.forgetOther();
  await refresh();
  tick();
}

// The desk compares the texts without their blanks, and takes no line breaks.
$("alarm-seen").addEventListener("click", () => {
  const alarms = board.alarms.map(({ lane, text }) => ({ lane, text: text.replace(/\s+/g, " ") }));
  act("alarms/seen", { alarms }, refresh);
});

// Make the next session of a lane: of the team that is chosen for it, else of the next in the order.
const beginIn = (number) => makeSession(chosenFor(number, teamOf(board, { number }, chosen())));

// Nobody is next in a lane: somebody must choose.
function chooseIn(number) {
  $("lane").value = number;
  $("lane").dispatchEvent(new Event("change"));
  $("next").scrollIntoView({ block: "nearest" });
  $("team").focus();
}

$("new-session").addEventListener("submit", (event) => {
  event.preventDefault();
  makeSession(chosen());
});

function makeSession({ team, lane, counted, replaces }) {
  if (!team) return;
  const after = choices();
  const body = { team, lane, seen_counted: counted };
  const shown = async (made) => {
    if (made) forgetChoice(after);
    await lookAgain();
  };
  if (replaces) askAndAct(replaceQuestion(team, replaces, board.scored_with), () => ["sessions", body], shown);
  else act("sessions", body, shown);
}

const showTrouble = ({ text }) => { trouble = text; };

function takeWhole(news) {
  held.take(news);
  showBoard(held.document);
}

function takeChange(news) {
  if (!held.change(news)) return false;
  showBoard(held.document);
  return true;
}

function takeNothing({ number }) {
  hear();
  return held.has(number);
}

closeMenusByThemselves();
makeLanes([{ number: 1, name: "" }]);
listen(() => `events?since=${held.number}`, {
  whole: takeWhole, change: takeChange, alive: takeNothing, trouble: showTrouble, full: showTrouble,
});
setInterval(tick, 200);
lookAtChecks();
