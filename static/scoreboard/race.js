// SPDX-License-Identifier: Apache-2.0
// The race line of a running session: its score over its seconds, beside the leader's.

import { niceTop } from "../shared/curve.js";
import { points as text } from "../shared/format.js";
import { apart } from "./running.js";

// Scores of the first seconds are wild; they choose no scale.
const EARLY = 0.05;

// The score of a course at a second: that of its last point until then, or null before the first.
export function scoreAt(points, second) {
  const before = points.filter(([at]) => at <= second);
  return before.length ? before.at(-1)[1] : null;
}

// The score at the top of all race lines, so that the eye may compare them.
export function topOf(sessions, { courses, leader }) {
  const now = sessions.map(({ elapsed_s: second, score }) => [second, score]);
  const early = EARLY * Math.min(...sessions.map(({ length_s: lengthS }) => lengthS));
  const all = [...now, ...courses.flatMap(({ points }) => points), ...(leader?.points ?? [])];
  return niceTop(Math.max(0, ...all.filter(([at]) => at >= early).map(([, score]) => score ?? 0)));
}

// The lines as paths over a square of side 100, the session's own newest point, and its lead over
// the leader's course at the same second. `course` is its course so far, and `leader` has team and
// points, or is null.
export function raceOf(session, course, leader, top) {
  const { elapsed_s: second, score, length_s: lengthS } = session;
  const now = score === null || second === null ? [] : [[second, score]];
  const own = [...course.filter(([at]) => second === null || at < second), ...now];
  const other = leader?.points ?? [];
  const x = (at) => Math.min(100, (100 * at) / lengthS);
  const y = (value) => Math.max(0, 100 - (100 * value) / top);
  const line = (points) => points.map(([at, value], place) =>
    `${place ? "L" : "M"}${x(at).toFixed(2)} ${y(value).toFixed(2)}`).join("");
  return {
    top: text(top, 2),
    own: line(own),
    other: line(other),
    at: own.length ? { x: x(own.at(-1)[0]), y: y(own.at(-1)[1]) } : null,
    pace: paceOf(second, score, leader),
  };
}

function paceOf(second, score, leader) {
  const other = leader && second !== null ? scoreAt(leader.points, second) : null;
  if (other === null || score === null) return null;
  const lead = score - other;
  return { ahead: lead >= 0, text: `${lead < 0 ? "−" : "+"}${apart(score, other)}`, team: leader.team };
}
