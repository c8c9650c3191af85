// SPDX-License-Identifier: Apache-2.0
// What the hall must not miss: another team leads, or a session has its result.

import { ordinal } from "./running.js";

// A lead counts when it has lasted so long: two teams that run side by side may change every second.
const LASTS_MS = 3000;

export const NOBODY = { leader: null, other: null, sinceMs: 0 };

// The lead after a look at the field. `changed` says that the hall is told of the new leader; the
// first leader of all is none that has changed.
export function nextLead(lead, leader, nowMs) {
  if (leader === null || leader === lead.leader) return { ...lead, other: null, changed: false };
  if (lead.leader === null) return { leader, other: null, sinceMs: nowMs, changed: false };
  if (leader !== lead.other) return { ...lead, other: leader, sinceMs: nowMs, changed: false };
  if (nowMs - lead.sinceMs < LASTS_MS) return { ...lead, changed: false };
  return { leader, other: null, sinceMs: nowMs, changed: true };
}

// The energy may come before the score: then the verdict alone is no result yet. An INVALID has none.
const hasResult = ({ verdict, rank }) => Boolean(verdict) && (rank !== null || verdict === "INVALID");

// The entry whose result has come between two views, or null. Results that come at once with an
// unfreeze or an approval are none of them: the whole ranking is news then.
export function finished(before, after) {
  if (!before || before.state !== "PROVISIONAL" || after.state !== "PROVISIONAL") return null;
  const known = new Set(before.entries.filter(hasResult).map(({ session }) => session));
  return after.entries.find((one) => one.newest && hasResult(one) && !known.has(one.session)) ?? null;
}

// The result in words: whose it is, and the rest of the sentence, which is always read.
export function resultText({ team, rank, short, verdict, marks }, score) {
  if (rank === null) return [team, `: ${verdict}, no score`];
  return [team, `: ${ordinal(rank)} with ${score} ${short.score}${marks.length ? ` (${marks.join(", ")})` : ""}`];
}
