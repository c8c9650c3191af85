// SPDX-License-Identifier: Apache-2.0
// A break of the event: the organiser's words, and the time until it goes on.

import { clockText } from "../shared/format.js";

// Somebody may forget to end a break. It is shown no more so long after its time.
const FORGOTTEN_S = 15 * 60;

// What is shown of a break at a moment of the referee's clock, or null.
export function pauseOf(pause, nowMs) {
  if (!pause) return null;
  const leftS = (Date.parse(pause.until_utc) - nowMs) / 1000;
  if (leftS < -FORGOTTEN_S) return null;
  return { text: pause.text, clock: leftS > 0 ? clockText(leftS) : "", after: leftS > 0 ? "" : "in a moment" };
}

// By how many milliseconds this machine's clock is behind the referee's, by the date of an answer.
export function behindMs(date, nowMs) {
  const told = Date.parse(date ?? "");
  return Number.isNaN(told) ? 0 : told - nowMs;
}
