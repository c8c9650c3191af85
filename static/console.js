// SPDX-License-Identifier: Apache-2.0
// The operators' page: shows each board that the desk sends, and asks it to act.

import { clockText, figure, stateText } from "./wording.js";

const $ = (id) => document.getElementById(id);

let formKey = "";
let board = null;
let boardAt = 0; // performance.now() when the board came
const SILENT_MS = 4000;

function show(id, text) {
  const element = $(id);
  if (element.textContent !== text) element.textContent = text;
}

function showState(id, name) {
  show(id, name);
  $(id).className = `state ${name}`;
}

function showSession(session) {
  show("session-title", session ? `Session ${session.id}: ${session.team}` : "No session yet");
  showState("state", session ? session.state : "–");
  show("state-text", session ? stateText(session) : "");
  show("energy", figure(session?.energy_wh, 6));
  show("map", figure(session?.mean_ap, 4));
  show("score", figure(session?.score, 4));
  show("images", session ? `${session.images_fetched} of ${board.images}` : "–");
  show("answers", session ? answersText(session) : "–");
  show("detections", figure(session?.detections, 0));
  show("flagged", figure(session?.flagged, 0));
  const verdict = $("verdict");
  verdict.hidden = !session?.verdict;
  if (session?.verdict) {
    verdict.className = `state ${session.verdict}`;
    show("verdict", `energy ${session.verdict}`);
  }
  fill("reasons", session?.reasons ?? [], (reason) => row("li", reason));
  $("arm").disabled = session?.state !== "READY";
  $("stop").disabled = session?.state !== "RUNNING";
  $("void").disabled = !session || ["SEALED", "VOID"].includes(session.state);
}

function answersText(session) {
  return session.late_answers ? `${session.answers} + ${session.late_answers} late` : `${session.answers}`;
}

function showMeter(meter) {
  showState("link", meter.link);
  show("meter-model", meter.model ?? "");
  show("meter-text", meter.text);
  const reading = meter.reading;
  show("power", figure(reading?.power_w, 3));
  show("meter-reading", reading
    ? `${figure(reading.voltage_v, 2)} V, ${figure(reading.current_a, 4)} A, `
      + `integrator ${reading.state}, ${figure(reading.integration_s, 0)} s`
    : "no reading yet");
  const alarm = $("alarm");
  alarm.hidden = meter.link !== "lost";
  if (!alarm.hidden) show("alarm", `The power meter is lost. ${meter.text}`);
}

function row(tag, ...texts) {
  const element = document.createElement(tag);
  for (const text of texts) element.append(text);
  return element;
}

function cell(text) {
  const element = document.createElement("td");
  element.textContent = text;
  return element;
}

// Lists are rebuilt only when they changed, so that a selection or a scroll position survives.
const shown = new Map();
function fill(id, items, make) {
  const key = JSON.stringify(items);
  if (shown.get(id) === key) return;
  shown.set(id, key);
  $(id).replaceChildren(...items.map(make));
}

function sessionRow(session) {
  return row("tr",
    cell(session.id), cell(session.team), cell(session.void_reason
      ? `VOID: ${session.void_reason}` : session.state),
    cell(figure(session.mean_ap, 6)), cell(figure(session.energy_wh, 6)),
    cell(session.verdict ?? "–"), cell(figure(session.score, 6)));
}

function noticeRow(notice) {
  const time = document.createElement("time");
  time.dateTime = notice.utc;
  time.textContent = new Date(notice.utc).toLocaleTimeString();
  const element = row("li", time,
    notice.session ? `session ${notice.session}: ${notice.text}` : notice.text);
  element.className = notice.level;
  return element;
}

function showBoard(next) {
  board = next;
  boardAt = performance.now();
  show("contest", `${board.contest} – ${board.mode}, ${board.images} images, ${board.classes} classes`);
  showSession(board.current);
  showMeter(board.meter);
  fill("sessions", board.sessions, sessionRow);
  fill("notices", board.notices, noticeRow);
  tick();
}

// Between boards the clock runs by itself, from the remaining time that the desk computed.
function tick() {
  const age = performance.now() - boardAt;
  const silent = !board || age > SILENT_MS;
  show("connection", silent ? "the desk does not answer: what you see is old" : "live");
  $("connection").className = silent ? "lost" : "";
  const session = board?.current;
  if (!session) return;
  const running = session.state === "RUNNING";
  const left = running ? Math.max(0, session.remaining_s - age / 1000) : session.remaining_s;
  show("clock", clockText(left));
  $("clock").classList.toggle("last", running && left < 30);
  $("time-bar").style.width = `${100 * (1 - left / session.length_s)}%`;
}

async function act(path, body) {
  show("refusal", "");
  try {
    const response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Form-Key": formKey },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) show("refusal", answer.text);
  } catch (error) {
    show("refusal", `The desk does not answer (${error.message}).`);
  }
}

// A reason of null means that none is asked for.
function confirmed(text, withReason) {
  const dialog = $("confirm");
  show("confirm-text", text);
  $("reason-label").hidden = !withReason;
  $("reason").required = withReason;
  $("reason").value = "";
  dialog.returnValue = "cancel";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes" ? { reason: $("reason").value } : null);
    }, { once: true });
  });
}

async function move(action, question, withReason) {
  const { id, state } = board.current;
  const answer = question ? await confirmed(question(board.current), withReason) : {};
  if (answer) await act(`sessions/${id}/${action}`, { seen_state: state, ...answer });
}

$("arm").addEventListener("click", () => move("arm"));
$("stop").addEventListener("click", () => move("stop",
  (s) => `Stop the running session ${s.id} of ${s.team}? What has come so far is scored.`, false));
$("void").addEventListener("click", () => move("void",
  (s) => `Void session ${s.id} of ${s.team}? It will have no score.`, true));
$("new-session").addEventListener("submit", (event) => {
  event.preventDefault();
  act("sessions", { team: $("team").value });
});

async function start() {
  formKey = (await (await fetch("form-key")).json()).key;
  const { practice, teams } = await (await fetch("teams")).json();
  $("new-session").hidden = practice;
  fill("team", teams, (name) => {
    const option = document.createElement("option");
    option.textContent = name;
    return option;
  });
  const events = new EventSource("events");
  events.addEventListener("board", (event) => showBoard(JSON.parse(event.data)));
  setInterval(tick, 200);
}

start();
