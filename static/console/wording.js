// SPDX-License-Identifier: Apache-2.0
// States, alarms and flags as people read them.

import { clockText } from "../shared/format.js";

const TEXTS = {
  READY: "Arm it when the team stands at the table.",
  ARMED: "The meter is prepared; the clock starts when the team logs in.",
  RUNNING: "The clock and the meter run. Nothing is to be done.",
  SCORED: "The score is computed.",
  SEALED: "Sealed: the result cannot change.",
};

const CAUSES = {
  deadline: "Its time was over.",
  logout: "The team logged out.",
  stop: "It was stopped.",
};

export function stateText(session, meter) {
  const cause = CAUSES[session.end_cause] ?? "";
  if (session.state === "VOID") return `Void: ${session.void_reason ?? "no reason was given"}`;
  if (session.state === "ENDED") return `${cause} ${endedText(session, meter)}`.trim();
  if (session.state === "RUNNING" && meter.old) return "The clock runs.";
  if (session.state === "RUNNING" && meter.link === "none") return "The clock runs; there is no meter.";
  if (session.state === "ARMED" && meter.link === "none") return "The clock starts when the team logs in.";
  if (session.state === "SCORED" && session.score === null) return `${cause} It has no score.`;
  return `${cause} ${TEXTS[session.state]}`.trim();
}

function endedText(session, meter) {
  if (session.verdict) return "The energy is read; the score is being computed.";
  if (!meter.old) return "The final energy is being read from the meter.";
  return "The final energy is not read yet. The meter is waited for "
    + `${clockText(session.settling_left_s)} more; without it the energy is INVALID. Until then no `
    + "other session can begin.";
}

// What the whole page is about while something is wrong: a plain sentence, and the technical one.
// `trouble` is what the desk said last instead of a board.
export function alarmOf(board, silentS, trouble) {
  if (silentS !== null) {
    return {
      text: trouble || "The desk does not answer: what you see is old. It is started again by itself within "
        + "seconds; a running session and the meter go on.",
      detail: `The last news is ${Math.round(silentS)} s old.`,
    };
  }
  const { meter } = board;
  if (!meter.old) return newAlarm(board);
  const what = meter.link === "lost" ? "The power meter is lost" : "The power meter sends no readings";
  return { text: `${what}${goesOn(board)}`, detail: meter.text };
}

// An alarm that nothing has followed yet, for two minutes.
function newAlarm(board) {
  const newest = board.notices[0];
  const recent = newest && new Date(board.utc) - new Date(newest.utc) < 120000;
  return recent && newest.level === "alarm" ? { text: newest.text, detail: "" } : null;
}

function goesOn(board) {
  const unread = board.sessions.find((row) => row.state === "ENDED" && !row.verdict);
  if (board.current?.state === "RUNNING") {
    return ", but the session goes on and the meter integrates by itself: put its cable back, "
      + "and reset nothing.";
  }
  if (unread) {
    return ` and the final energy of session ${unread.id} is not read yet. The meter keeps it: `
      + "put its cable back, and reset nothing.";
  }
  const then = board.current?.state === "ARMED" ? "the team cannot log in" : "no session can begin";
  return `: ${then} until it answers. Look at its cable and its power, and whether another program `
    + "talks to it.";
}

const FLAGS = {
  over_range: "over range",
  voltage_peak_over: "voltage peak over range",
  current_peak_over: "current peak over range",
  auto_range: "automatic ranging is on",
  range_switched: "the range was switched",
};

export function meterFlags(reading) {
  const flags = (reading?.flags ?? []).map((flag) => FLAGS[flag] ?? flag);
  const absent = Object.entries(reading?.absent ?? {}).map(([name, why]) => `no ${name}: ${why}`);
  return [...flags, ...absent].join("; ");
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
