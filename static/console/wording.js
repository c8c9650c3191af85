// SPDX-License-Identifier: Apache-2.0
// The few sentences that the page has of its own; all others come from the desk.

import { figure, points } from "../shared/format.js";

// A session's score with the digits that count: fewer where its energy is doubtful or not exact.
export function scoreText(session) {
  const doubtful = session.verdict === "SUSPECT" ? 3 : 4;
  return points(session.score, session.too_short ? 2 : doubtful);
}

const NO_ANSWER = "The desk does not answer, so what you see is old. It starts again by itself within "
  + "seconds. A running session and the meter go on.";

export function ageText(seconds) {
  if (seconds < 2) return "just now";
  return seconds < 120 ? `${Math.floor(seconds)} s ago` : `${Math.floor(seconds / 60)} min ago`;
}

// A session that is over, in one line.
export function rowText(row, { accuracy, score }) {
  const said = [`session ${row.id} of ${row.team}`];
  if (row.state === "VOID") return `${said[0]}: VOID, ${row.void_reason}`;
  if (row.rehearsal) said.push("rehearsal");
  if (row.verdict === null) return `${said.join(", ")}: ${row.state}, no result yet`;
  const figures = [`${accuracy.label} ${figure(row[accuracy.field], 4)}`, `${figure(row.energy_wh, 4)} Wh`];
  figures.push(row.score === null ? "no score" : `${scoreText(row)} ${score.unit}`);
  return `${said.join(", ")}: ${row.verdict}, ${figures.join(", ")}`;
}

// The lines of the red bar: what is wrong in several lanes stands there once.
export function alarmLines(alarms) {
  const lanesOf = new Map();
  for (const { text, lane } of alarms) {
    const mark = `Lane ${lane}: `;
    const own = lane && text.startsWith(mark) ? text.slice(mark.length) : text;
    lanesOf.set(own, [...lanesOf.get(own) ?? [], ...lane ? [lane] : []]);
  }
  return [...lanesOf].map(([text, lanes]) => {
    if (!lanes.length) return text;
    return `${lanes.length > 1 ? "Lanes" : "Lane"} ${lanes.join(", ")}: ${text}`;
  });
}

// What stands in the place of the red bar while there is no alarm: "" if nothing is wrong, and sessions
// can be armed. `list` is that of the page Check, null while nobody knows it.
export function hinderedText({ mode, final, lanes }, list) {
  if (final) return "The results are final, so no session can be armed.";
  if (!list) return "The checks are not known yet.";
  if (list.running) return "No session can be armed while the slow checks run.";
  return list.ready ? "" : failingText(list.findings, mode, lanes);
}

function failingText(findings, mode, lanes) {
  const standing = findings.filter(({ level, override }) => level === "FAIL" && !override);
  const common = standing.some(({ lane }) => lane === null);
  const hindered = lanes.filter(({ number }) => common || standing.some(({ lane }) => lane === number));
  const where = hindered.length < lanes.length
    ? ` in lane ${hindered.map(({ name }) => name).join(", ")}` : "";
  const count = standing.length === 1 ? "a check fails" : `${standing.length} checks fail`;
  if (mode === "practice") return `Before a login: ${count}. `;
  return `No session can be armed${where}: ${count}. `;
}

export function seenText(alarms) {
  const names = [...new Set(alarms.map(({ seen }) => seen).filter(Boolean))];
  return names.length ? `Seen by ${names.join(", ")}` : "";
}

// What the red bar says while nothing comes from the desk. `trouble` is what the desk last said
// instead of a board.
export function silenceAlarm(silentS, trouble) {
  return { text: trouble || NO_ANSWER, detail: `The last news is ${Math.round(silentS)} s old.` };
}

const REASONS = {
  "unknown image": "of an image that does not exist",
  "class out of range": "of a class that does not exist",
  "confidence not finite": "without a finite confidence",
  "coordinate not finite": "without finite coordinates",
  "inverted box": "with corners the wrong way round",
};

export function flagText(counts) {
  const parts = Object.entries(counts).map(([why, n]) => `${n} ${REASONS[why] ?? why}`);
  return parts.length ? `These boxes match no object: ${parts.join(", ")}.` : "";
}
