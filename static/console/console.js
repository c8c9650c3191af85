// SPDX-License-Identifier: Apache-2.0
// The operators' page: it shows each board that the desk sends, and asks the desk to act.

import { listen } from "../shared/events.js";
import { clockText, figure, timeText } from "../shared/format.js";
import { $, fill, make, show, showState } from "../shared/page.js";
import { act, isBusy, say } from "../shared/acting.js";
import { confirmed } from "./actions.js";
import { follow } from "./chart.js";
import { noticeRow, showRows } from "./lists.js";
import { leftOf, showSession, showTime } from "./panel.js";
import { silenceAlarm } from "./wording.js";

const SILENT_MS = 4000;

let board = null;
let boardAt = performance.now(); // when that board came
let selected = null; // the number of the session that was clicked on; null: the desk's choice
let other = null; // that session with its details
let otherKey = ""; // the row of the board for which it was fetched
let trouble = "";
let nextTeam = null; // the team that was next on the last board

const ageS = () => (performance.now() - boardAt) / 1000;
const isOther = () => selected !== null && selected !== board.current?.id;
const shownSession = () => (isOther() ? other : board.current);

function showBoard(next) {
  board = next;
  boardAt = performance.now();
  trouble = "";
  if (!isOther()) selected = null;
  show("contest", `${board.contest} – ${board.mode}`);
  showContestants();
  showMeter();
  showDisplay();
  showOvic();
  showTeams();
  showNext();
  showRows(board, selected ?? board.current?.id, select);
  fill("notices", board.notices, noticeRow);
  showPanel();
}

function showPanel() {
  if (isOther()) fetchOther();
  const session = shownSession();
  if (session || !isOther()) {
    showSession(session, board);
    follow(session, session?.length_s ?? board.seconds, 3 * board.meter.update_interval_s);
  }
  tick();
}

// The board has the details of one session only. Those of another are fetched when its row changes.
async function fetchOther() {
  const id = selected;
  const key = JSON.stringify(board.sessions.find((row) => row.id === id));
  if (other?.id === id && otherKey === key) return;
  try {
    const response = await fetch(`sessions/${id}`);
    if (!response.ok) throw new Error((await response.json()).text);
    const session = await response.json();
    if (id !== selected) return;
    [other, otherKey] = [session, key];
    showPanel();
  } catch (error) {
    say(`Session ${id} cannot be shown (${error.message}). The page tries again.`);
  }
}

// Show a session; null is the one that the desk chose.
function select(id) {
  selected = id === board.current?.id ? null : id;
  if (other?.id !== selected) other = null;
  say("");
  showRows(board, selected ?? board.current?.id, select);
  showPanel();
}

function showContestants() {
  const { urls, password } = board.contestants;
  show("urls", urls.join(" or ") || "this laptop is on no network that they can reach");
  show("login-hint", password ? `· any user name, password ${password}` : "");
}

function showMeter() {
  const { meter } = board;
  const { reading } = meter;
  showState("link", meter.word);
  show("meter-model", meter.link === "none" ? "Sessions are run without energy." : meter.model ?? "");
  show("meter-reading", reading
    ? `${figure(reading.voltage_v, 2)} V, ${figure(reading.current_a, 4)} A, `
      + `integrator ${reading.state} at ${figure(reading.integration_s, 0)} s`
    : "");
  $("meter-reading").classList.toggle("old", meter.old);
  show("meter-flags", meter.flags_text);
}

function showDisplay() {
  const { display } = board;
  $("display").hidden = !display;
  if (!display) return;
  showState("display-state", display.fault ? "lost" : "ok", display.fault ? "not ready" : "ready");
  show("display-text", display.text);
  $("card").setAttribute("aria-pressed", display.card);
}

function showOvic() {
  const { ovic } = board;
  $("ovic").hidden = !ovic;
  if (!ovic) return;
  const running = ovic.now ? `Entry ${ovic.now.entry} of ${ovic.now.team} is ${ovic.now.state}.`
    : "No model runs now.";
  show("ovic-line", `${running} ${ovic.received} to validate, ${ovic.waiting} to measure.`);
}

function showTeams() {
  $("next").hidden = board.mode === "practice";
  const chosen = $("team").value;
  fill("team", board.teams, (name) => make("option", name));
  // The team that is next is chosen by itself, as often as the running order moves on.
  const moved = board.next_team !== nextTeam;
  nextTeam = board.next_team;
  const wanted = moved && nextTeam ? nextTeam : chosen;
  if (board.teams.includes(wanted)) $("team").value = wanted;
  $("team").disabled = board.teams.length === 0;
  const none = board.mode === "practice" || board.teams.length
    ? "" : "No team is registered: run ‘referee team add NAME’. The team then appears here by itself.";
  show("teams-text", board.teams_text ?? none);
}

// The session that is next in line can be armed while the card still shows the result before it.
function showNext() {
  const { next, current } = board;
  $("in-line").hidden = !next || next.id === current?.id;
  if ($("in-line").hidden) return;
  show("in-line-text", `Next in line: session ${next.id} of ${next.team}.`);
  show("arm-next", `Arm session ${next.id}`);
}

// Show everything that changes between two boards.
function tick() {
  show("now", timeText(new Date()));
  const silent = performance.now() - boardAt > SILENT_MS;
  show("connection", silent ? "no news" : board ? "live" : "connecting…");
  $("connection").className = silent ? "lost" : "";
  document.body.classList.toggle("silent", silent);
  showAlarm(silent ? ageS() : null);
  if (!board) return;
  const age = board.meter.reading ? board.meter.reading.age_s + ageS() : null;
  show("meter-age", age === null ? noReading() : `last reading ${ageText(age)}`);
  const session = shownSession();
  if (session || !isOther()) showTime(session, board, ageS());
  showElsewhere();
  $("emulated").hidden = !(session?.emulated ?? board.meter.emulated);
  const state = session?.state;
  $("arm").hidden = board.mode === "practice";
  $("arm").disabled = isBusy() || state !== "READY";
  $("stop").disabled = isBusy() || state !== "RUNNING";
  $("void").disabled = isBusy() || !session || ["SEALED", "VOID"].includes(state);
  $("create").disabled = isBusy() || board.teams.length === 0;
  $("arm-next").disabled = isBusy() || ["ARMED", "RUNNING"].includes(board.current?.state);
}

function showAlarm(silentS) {
  const alarm = silentS === null ? board?.alarm : silenceAlarm(silentS, trouble);
  $("alarm").hidden = !alarm;
  if (!alarm) return;
  show("alarm-text", alarm.text);
  show("alarm-detail", alarm.detail);
}

const noReading = () => (board.meter.link === "none" ? "" : "no reading yet");

function ageText(seconds) {
  if (seconds < 2) return "just now";
  return seconds < 120 ? `${Math.floor(seconds)} s ago` : `${Math.floor(seconds / 60)} min ago`;
}

function showElsewhere() {
  $("elsewhere").hidden = !isOther() || !board.current;
  if ($("elsewhere").hidden) return;
  const { current } = board;
  const left = current.state === "RUNNING" ? `, ${clockText(leftOf(current, board, ageS()))} left` : "";
  show("elsewhere-text", `Session ${current.id} of ${current.team} is ${current.state}${left}.`);
}

async function refresh() {
  const response = await fetch("board");
  if (response.ok) showBoard(await response.json());
}

async function move(session, action, question) {
  const reason = question ? await confirmed(question(session)) : "";
  if (reason === null) return;
  await act(`sessions/${session.id}/${action}`, { seen_state: session.state, reason }, async () => {
    otherKey = "";
    await refresh();
  });
  tick();
  keepFocus();
}

// A pressed button that is disabled afterwards loses the focus; the title takes it over.
function keepFocus() {
  if (document.activeElement === document.body) $("session-title").focus();
}

$("arm").addEventListener("click", () => move(shownSession(), "arm"));
$("arm-next").addEventListener("click", () => {
  select(null);
  move({ ...board.next, state: "READY" }, "arm");
});
$("stop").addEventListener("click", () => move(shownSession(), "stop", (s) => ({
  text: `Stop the running session ${s.id} of ${s.team}? What has come so far will be scored.`,
  yes: "Stop it now",
  no: "Let it run",
  withReason: false,
})));
$("void").addEventListener("click", () => move(shownSession(), "void", (s) => ({
  text: `Void session ${s.id} of ${s.team}? It will have no score, and that cannot be undone.`,
  yes: "Void it",
  no: "Leave it",
  withReason: true,
})));
$("card").addEventListener("click", () => act("display/card", { on: !board.display.card }, refresh));
$("show-live").addEventListener("click", () => select(board.current.id));
$("new-session").addEventListener("submit", (event) => {
  event.preventDefault();
  act("sessions", { team: $("team").value }, refresh);
});

const showTrouble = ({ text }) => { trouble = text; };

listen("events", { board: showBoard, trouble: showTrouble, full: showTrouble });
setInterval(tick, 200);
