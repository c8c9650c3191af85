// SPDX-License-Identifier: Apache-2.0
// The large card: one session, its time, its figures and its result.

import { clockText, figure, timeText } from "../shared/format.js";
import { $, fill, make, show, showState } from "../shared/page.js";
import { flagText, scoreText } from "./wording.js";

const OVER = ["SCORED", "SEALED", "VOID"];

export function showSession(session, board) {
  showTitle(session, board);
  showFigures(session, board);
  showResult(session);
}

function showTitle(session, board) {
  $("state").hidden = !session;
  if (session) {
    show("session-title", `Session ${session.id}: ${session.team}`);
    showState("state", session.state);
    show("state-text", session.text);
    return;
  }
  const practice = board.mode === "practice";
  const anybody = board.contestants.password !== null;
  show("session-title", practice ? "Waiting for a login" : "No session yet");
  show("state-text", practice
    ? `${anybody ? "Any user name will do. The password is practice."
      : "The teams log in with their own passwords."} Every login starts a session of its own.`
    : "Choose the team that is next, and press New session.");
}

function showFigures(session, { meter, figures }) {
  const soFar = session && !session.final && !["READY", "VOID"].includes(session.state) ? " so far" : "";
  const old = meter.old && ["RUNNING", "ENDED"].includes(session?.state) && !session.verdict;
  $("results").classList.toggle("void", session?.state === "VOID");
  show("energy-name", `${session?.emulated ? "emulated " : ""}energy${soFar}, Wh`);
  show("map-name", `${figures.accuracy.label}${soFar}`);
  show("score-name", `${figures.score.label}${soFar}, ${figures.score.unit}`);
  // The power is that of this moment, whichever session the card shows.
  show("power-name", session?.state === "RUNNING" ? "power, W" : "power now, W");
  show("power", figure(meter.reading?.power_w, 3));
  $("power-box").classList.toggle("old", meter.old);
  show("power-note", meter.old && meter.reading ? `at ${timeText(new Date(meter.reading.utc))}` : "");
  show("energy", figure(session?.energy_wh, 6));
  $("energy-box").classList.toggle("old", old);
  show("energy-note", energyNote(session, old));
  show("map", figure(session?.[figures.accuracy.field], 4));
  show("score", session ? scoreText(session) : "–");
  show("score-note", scoreNote(session, old));
  show("images", session ? `${session.images_fetched} of ${session.images}` : "–");
  show("answers", session ? answersText(session) : "–");
  show("detections", figure(session?.detections, 0));
  show("flagged", figure(session?.flagged, 0));
  show("flag-text", session ? flagText(session.flag_counts) : "");
}

function scoreNote(session, old) {
  if (old) return "none while the meter is lost";
  return session?.score && isTooShort(session) ? "too short to be exact" : "";
}

// While a session runs every figure is one so far.
const isTooShort = (session) => session.too_short && OVER.includes(session.state);

function energyNote(session, old) {
  if (session?.state === "VOID") return "void";
  if (old && session.energy_utc) return `at ${timeText(new Date(session.energy_utc))}`;
  return session?.uncertainty_wh ? `± ${figure(session.uncertainty_wh, 6)}` : "";
}

function answersText(session) {
  return session.late_answers ? `${session.answers} + ${session.late_answers} late` : `${session.answers}`;
}

function showResult(session) {
  const verdict = session?.verdict ?? null;
  $("result").hidden = !verdict;
  if (verdict) {
    showState("verdict", verdict);
    show("verdict-text", session.verdict_text);
    $("verdict").classList.toggle("void", session.state === "VOID");
  }
  fill("reasons", session?.reasons ?? [], (reason) => make("li", reason));
  fill("intervals", session?.intervals ?? [], (interval) => make("li", interval));
}

// The large line: the time that is left, then the score.
export function showTime(session, board, ageS) {
  const clock = $("clock");
  const left = leftOf(session, board, ageS);
  const running = session?.state === "RUNNING";
  const over = session && OVER.includes(session.state);
  if (over) {
    const [text, unit] = resultText(session, board.figures.score.unit);
    show("clock", text);
    show("clock-label", unit);
  } else {
    show("clock", clockText(left));
    show("clock-label", running ? "left" : "");
  }
  const sure = running || (over && session.state !== "VOID" && !session.too_short);
  clock.className = `clock ${running && left < 30 ? "last" : ""} ${sure ? "" : "still"}`;
  const length = session?.length_s ?? board.seconds;
  $("time-bar").style.width = `${over ? 100 : 100 * (1 - left / length)}%`;
}

// What the session gave: a text, and its unit.
function resultText(session, unit) {
  if (session.state === "VOID") return ["void", ""];
  if (session.score === null) return ["no score", ""];
  return [scoreText(session), session.too_short ? `${unit}, too short to be exact` : unit];
}

// Between two boards the page counts down by itself, from the time that the desk computed.
export function leftOf(session, board, ageS) {
  if (!session) return board.seconds;
  return session.state === "RUNNING" ? Math.max(0, session.remaining_s - ageS) : session.remaining_s;
}
