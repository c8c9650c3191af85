// SPDX-License-Identifier: Apache-2.0
// A lane's card: one session, its time, its figures and its result. `at` gives the ids of the lane.

import { ageText, figure, zonedText } from "../shared/format.js";
import { $, fill, make, show, showCut, showState } from "../shared/page.js";
import { sayAbout } from "../shared/parts.js";
import { clockOf, isTooShort } from "./clock.js";
import { flagText } from "./wording.js";

export function showSession(at, session, lane, board) {
  showTitle(at, session, board);
  showFigures(at, session, lane, board);
  showCounts(at, session);
  showResult(at, session);
}

function showTitle(at, session, board) {
  $(at("state")).hidden = !session;
  $(at("rehearsal")).hidden = !session?.rehearsal;
  if (session) {
    sayAbout($(at("session-title")), [`Session ${session.id}: `, session.team, ""]);
    $(at("session-title")).className = session.team.length > 24 ? "name long" : "name";
    showState(at("state"), session.state);
    showCut(at("state-text"), session.text);
    return;
  }
  const practice = board.settings.mode === "practice";
  const anybody = board.contestants.password !== null;
  showCut(at("session-title"), practice ? "Waiting for a login" : "No session yet");
  showCut(at("state-text"), practice
    ? `${anybody ? "Any user name will do. The password is practice."
      : "The teams log in with their own passwords."} Every login starts a session of its own.`
    : "Choose the next team and press New session.");
}

function showFigures(at, session, { meter }, { figures }) {
  const soFar = session && !session.final && !["READY", "VOID"].includes(session.state) ? " so far" : "";
  const old = meter.old && ["RUNNING", "ENDED"].includes(session?.state) && !session.verdict;
  $(at("results")).classList.toggle("void", session?.state === "VOID");
  showCut(at("energy-name"), `${session?.emulated ? "emulated " : ""}energy${soFar}, Wh`);
  showCut(at("map-name"), `${figures.accuracy.label}${soFar}`);
  showCut(at("score-name"), `${figures.score.label}${soFar}, ${figures.score.unit}`);
  // The power is that of this moment, whichever session the card shows.
  showCut(at("power-name"), session?.state === "RUNNING" ? "power, W" : "power now, W");
  show(at("power"), figure(meter.reading?.power_w, 3));
  $(at("power-box")).classList.toggle("old", meter.old);
  showCut(at("power-note"), meter.old && meter.reading ? `at ${zonedText(new Date(meter.reading.utc))}` : "");
  show(at("energy"), figure(session?.energy_wh, 6));
  $(at("energy-box")).classList.toggle("old", old);
  showCut(at("energy-note"), energyNote(session, old));
  show(at("map"), figure(session?.mean_ap, 4));
  show(at("score"), session ? session.score_text : "–");
  showCut(at("score-note"), scoreNote(session, old));
}

function showCounts(at, session) {
  const running = session?.state === "RUNNING";
  show(at("images"), session ? `${session.images_fetched} of ${session.images}` : "–");
  show(at("image-rate"), running ? figure(session.images_a_second, 1) : "–");
  show(at("answers"), session ? answersText(session) : "–");
  show(at("answer-rate"), running ? figure(session.answers_a_second, 1) : "–");
  show(at("detections"), figure(session?.detections, 0));
  show(at("flagged"), figure(session?.flagged, 0));
  show(at("flag-text"), session ? flagText(session.flag_counts) : "");
}

function scoreNote(session, old) {
  if (old) return "the meter is lost";
  return session?.score && isTooShort(session) ? "too short to be exact" : "";
}

function energyNote(session, old) {
  if (session?.state === "VOID") return "void";
  if (old && session.energy_utc) return `at ${zonedText(new Date(session.energy_utc))}`;
  return session?.uncertainty_wh ? `± ${figure(session.uncertainty_wh, 6)}` : "";
}

function answersText(session) {
  return session.late_answers ? `${session.answers} + ${session.late_answers} late` : `${session.answers}`;
}

function showResult(at, session) {
  const verdict = session?.verdict ?? null;
  for (const part of ["result", "verdict"]) $(at(part)).hidden = !verdict;
  if (verdict) {
    showState(at("verdict"), verdict);
    show(at("verdict-text"), session.verdict_text);
    $(at("verdict")).classList.toggle("void", session.state === "VOID");
  }
  fill(at("reasons"), session?.reasons ?? [], (reason) => make("li", reason));
  $(at("more-of-result")).hidden = !session?.slip && !session?.intervals?.length;
  fill(at("intervals"), session?.intervals ?? [], (interval) => make("li", interval));
  $(at("slip")).hidden = !session?.slip;
  if (session?.slip) {
    show(at("slip-link"), `Print the slip: ${session.slip}`);
    $(at("slip-link")).href = `/sessions/${session.id}/slip`;
  }
  // More notes than there is room for are reached by keys.
  const lines = session ? notesOf(session) : [];
  $(at("session-notes")).tabIndex = lines.length ? 0 : -1;
  fill(at("session-notes"), lines, (line) => make("li", line));
}

// What the client calls itself, and what operators have noted.
function notesOf({ clients, notes }) {
  return [
    ...clients.map((name) => `Client: ${name}`),
    ...notes.map(({ text, operator, utc }) => `Note by ${operator}, ${zonedText(new Date(utc))}: ${text}`),
  ];
}

// The large line and the age of the last request. Call it between two boards too.
export function showTime(at, session, board, ageS) {
  const { text, label, classes, percent } = clockOf(session, board, ageS);
  show(at("clock"), text);
  showCut(at("clock-label"), label);
  $(at("clock")).className = ["clock", ...classes, ...(text.length > 5 ? ["long"] : [])].join(" ");
  $(at("time-bar")).style.width = `${percent}%`;
  const running = session?.state === "RUNNING";
  const age = running && session.request_age_s !== null ? session.request_age_s + ageS : null;
  show(at("request-age"), age === null ? "–" : ageText(age));
}
