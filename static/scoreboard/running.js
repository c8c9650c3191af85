// SPDX-License-Identifier: Apache-2.0
// What the audience reads of the sessions that are on: words, clock, and the place that each would
// have now.

import { clockText } from "../shared/format.js";
import { isAhead } from "./places.js";

const LAST_S = 10;
// Until this share of its time is over, a score rests on too little to be a place.
const EARLY = 0.05;

// A lost meter is the operators' affair: the figures are dashes then, and the words stay.
export function words(session) {
  const lane = session.lane_name ? `lane ${session.lane_name} · ` : "";
  const marks = session.marks.map((mark) => ` · ${mark}`).join("");
  if (session.state === "ARMED") return `${lane}getting ready${marks}`;
  if (session.state === "ENDED") return `${lane}ended, energy being judged${marks}`;
  return `${lane}running${marks}`;
}

// The clock, `passedS` after the news came: between two events the page itself counts down.
export function clockOf(session, passedS) {
  const running = session.state === "RUNNING";
  const leftS = running ? Math.max(0, session.remaining_s - passedS) : session.remaining_s;
  return { text: clockText(leftS), last: running && leftS <= LAST_S };
}

// The scores that would be compared if all ended now: of those that run, the score so far.
function field(entries, sessions) {
  const on = sessions.filter(({ team, score, elapsed_s: passedS, length_s: lengthS, state }) =>
    team && score !== null && state !== "ARMED" && passedS >= EARLY * lengthS);
  const teams = new Set(sessions.map(({ team }) => team));
  const rest = entries.filter(({ team, rank, score }) => rank !== null && score !== null && !teams.has(team));
  return [...on, ...rest].sort((a, b) => b.score - a.score);
}

// The place of a session if it ended now, and how far the next better team is, or the next one
// behind a leader. Null while there is no score, or too early a one.
export function placeOf(session, entries, sessions) {
  const all = field(entries, sessions);
  const own = all.find((one) => one.session === session.session && one.state);
  if (!own) return null;
  const better = all.filter((one) => isAhead(one.score, own.score));
  const place = better.length + 1;
  const other = place > 1 ? better.at(-1) : all.find((one) => one !== own);
  return {
    place,
    text: ordinal(place),
    distance: other ? `${apart(own.score, other.score)} ${place > 1 ? "behind" : "ahead of"}` : "",
    other: other?.team ?? "",
  };
}

// How far two scores are apart, with the decimals that three digits of the larger one have.
export function apart(one, other) {
  const size = Math.max(Math.abs(one), Math.abs(other));
  const decimals = size > 0 ? Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(size)))) : 1;
  return Math.abs(one - other).toFixed(decimals);
}

export function ordinal(number) {
  const ends = { 1: "st", 2: "nd", 3: "rd" };
  return `${number}${Math.floor(number / 10) % 10 === 1 ? "th" : ends[number % 10] ?? "th"}`;
}

// The team that leads if all ended now, or null.
export function leaderOf(entries, sessions) {
  return field(entries, sessions)[0]?.team ?? null;
}
