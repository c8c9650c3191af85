// SPDX-License-Identifier: Apache-2.0
// The order of the rows of the ranking, the part of them that a projector shows, and their bars.

// Two divisions that differ by no more than this, as a share, are the same score: a double rounds it.
const ROUNDING = 1e-14;

export function isAhead(score, other) {
  return score > other * (1 + ROUNDING);
}

// The entries with the past champions at the places of their scores. Of equal scores this year's is
// first; who has no score or no rank stands below all champions.
export function ranked({ entries, champions }) {
  const rest = [...champions].sort((a, b) => b.score - a.score);
  const rows = [];
  for (const entry of entries) {
    const unplaced = entry.score === null || entry.rank === null;
    while (rest.length && (unplaced || isAhead(rest[0].score, entry.score))) {
      rows.push(rest.shift());
    }
    rows.push(entry);
  }
  return entries.length ? [...rows, ...rest] : [];
}

// What the projector shows next: the row that comes to its top, or a panel beside the ranking by its
// place, counted from `count`. Shown are the rows `[first, last]`, null for none, or a panel. After
// the last row the panels come, and then the first row again.
export function nextTurn({ part, panel = null }, count, panels) {
  if (panel !== null) return panel + 1 < panels ? count + panel + 1 : 0;
  if (part !== null && part[1] < count - 1) return part[1] + 1;
  return panels > 0 ? count : 0;
}

// The share of the table's width, in percent, that the longest name needs to stand in two lines. A
// letter of Chinese, Japanese or Korean is as wide as two others.
export function nameShare(entries) {
  const widths = entries.map(({ team }) => [...team].reduce((sum, letter) => sum + (letter >= "\u2e80" ? 2 : 1), 0));
  return Math.min(56, Math.max(34, 17 + 0.65 * Math.max(0, ...widths)));
}

// Places gained by the newest result: an arrow with how many, and the words for it.
export function moveOf({ moved, newest }) {
  const places = Math.abs(moved ?? 0) === 1 ? "place" : "places";
  if (moved > 0) return { text: `▲${moved}`, kind: "up", words: `${moved} ${places} up` };
  if (moved < 0) return { text: `▼${-moved}`, kind: "down", words: `${-moved} ${places} down` };
  return newest ? { text: "new", kind: "new", words: "the newest result" } : { text: "", kind: "", words: "" };
}

// The score that the full width of a bar stands for: the largest one that any bar has.
export function scaleOf({ entries, champions }) {
  const ends = [...entries, ...champions].flatMap(({ score, score_high: high }) => [score, high]);
  return Math.max(0, ...ends.filter((end) => end !== null && end !== undefined)) || 1;
}

// A row's bar in percent of its width: the score, and the interval's ends if it has them.
export function barOf({ score, score_low: low, score_high: high }, scale) {
  if (score === null) return null;
  const at = (value) => Math.min(100, Math.max(0, (96 * value) / scale + 2));
  const wide = low !== null && low !== undefined && high !== null && high !== undefined;
  return { at: at(score), from: wide ? at(low) : null, to: wide ? at(high) : null };
}
