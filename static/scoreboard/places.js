// SPDX-License-Identifier: Apache-2.0
// The order of the rows of the ranking, and the part of them that a projector shows.

// The entries with the past champions at the places of their scores. Of equal scores this year's is
// first; who has no score or no rank stands below all champions.
export function ranked({ entries, champions }) {
  const rest = [...champions].sort((a, b) => b.score - a.score);
  const rows = [];
  for (const entry of entries) {
    while (rest.length && (entry.score === null || entry.rank === null || rest[0].score > entry.score)) {
      rows.push(rest.shift());
    }
    rows.push(entry);
  }
  return entries.length ? [...rows, ...rest] : [];
}

// The row that comes to the top next: the one after the shown part, `[first, last]`, and after the
// last row the first one again.
export function nextTop(part, count) {
  return part === null || part[1] >= count - 1 ? 0 : part[1] + 1;
}
