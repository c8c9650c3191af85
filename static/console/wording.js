// SPDX-License-Identifier: Apache-2.0
// The few sentences that the page has of its own; all others come from the desk.

import { points } from "../shared/format.js";

// A session's score with the digits that count: fewer where its energy is doubtful or not exact.
export function scoreText(session) {
  const doubtful = session.verdict === "SUSPECT" ? 3 : 4;
  return points(session.score, session.too_short ? 2 : doubtful);
}

const NO_ANSWER = "The desk does not answer, so what you see is old. It starts again by itself within "
  + "seconds. A running session and the meter go on.";

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
