// SPDX-License-Identifier: Apache-2.0
// The rows of the ranking: which of them a projector shows, their bars, and the past champions beside them.

// Two divisions that differ by no more than this, as a share, are the same score: a double rounds it.
const ROUNDING = 1e-14;

export function isAhead(score, other) {
  return score > other * (1 + ROUNDING);
}

// The past champions, the best one first, each with the place that its score would have this year. Of
// equal scores this year's is first. Without a ranked entry there is no place to compare with.
export function championsOf({ entries, champions }) {
  const scores = entries.filter(({ rank, score }) => rank !== null && score !== null).map(({ score }) => score);
  const placeOf = (own) => (scores.length ? 1 + scores.filter((score) => !isAhead(own, score)).length : null);
  return [...champions].sort((a, b) => b.score - a.score).map((one) => ({ ...one, place: placeOf(one.score) }));
}

// So many rows at most stay while the pages below them turn, in no more than this share of the room.
const LEADERS_MOST = 3;
const LEADERS_SHARE = 0.66;

const sum = (heights) => heights.reduce((all, height) => all + height, 0);

// A round of so many pages lasts two minutes. Where it would last longer, leaders give way, but for the first.
const PAGES_MOST = 12;

// How rows of these heights are shown in so much room: how many leaders stay, and the pages of the rows
// below them as [first, last]. No page cuts a row, and the last one is filled from above. All rows that
// fit at once are one page.
export function pagesOf(heights, room) {
  if (sum(heights) <= room) return { leaders: 0, pages: [[0, heights.length - 1]] };
  let leaders = Math.min(LEADERS_MOST, heights.length - 1);
  const used = () => sum(heights.slice(0, leaders));
  const highest = () => Math.max(...heights.slice(leaders));
  while (leaders > 0 && (used() > LEADERS_SHARE * room || used() + highest() > room)) leaders -= 1;
  let pages = pagesBelow(leaders, heights, room);
  while (leaders > 1 && pages.length > PAGES_MOST) pages = pagesBelow(--leaders, heights, room);
  return { leaders, pages };
}

function pagesBelow(leaders, heights, room) {
  const left = room - sum(heights.slice(0, leaders));
  const fits = (first, last) => sum(heights.slice(first, last + 1)) <= left;
  const pages = [];
  for (let first = leaders; first < heights.length; first = pages.at(-1)[1] + 1) {
    let last = first;
    while (last + 1 < heights.length && fits(first, last + 1)) last += 1;
    pages.push([first, last]);
  }
  const end = pages.at(-1);
  while (end[0] > leaders && fits(end[0] - 1, end[1])) end[0] -= 1;
  return pages;
}

// What the projector shows next: a page of the ranking, or a panel beside it. After the last page the
// panels come, and then the first page again. `panel` is null while the ranking is shown.
export function nextTurn({ page, panel }, pages, panels) {
  const next = ((panel === null ? page : pages + panel) + 1) % (pages + panels);
  return next < pages ? { page: next, panel: null } : { page: 0, panel: next - pages };
}

// The share of the table's width, in percent, that the longest name needs to stand in two lines. A
// letter of Chinese, Japanese or Korean is as wide as two others.
export function nameShare(entries) {
  const widths = entries.map(({ team }) => [...team].reduce((sum, letter) => sum + (letter >= "\u2e80" ? 2 : 1), 0));
  return Math.min(44, Math.max(34, 17 + 0.65 * Math.max(0, ...widths)));
}

// Places gained by the newest result: an arrow with how many, and the words for it.
export function moveOf({ moved, newest }) {
  const places = Math.abs(moved ?? 0) === 1 ? "place" : "places";
  if (moved > 0) return { text: `▲${moved}`, kind: "up", words: `${moved} ${places} up` };
  if (moved < 0) return { text: `▼${-moved}`, kind: "down", words: `${-moved} ${places} down` };
  return newest ? { text: "new", kind: "new", words: "the newest result" } : { text: "", kind: "", words: "" };
}

// A champion who was so much better than this year's best would push all bars to the side.
const CHAMPION_MOST = 1.5;

// The scores at the two sides of the bars. They begin at 0, unless all of them would stand on the right.
export function scaleOf({ entries, champions }) {
  const ends = entries.flatMap(({ score, score_low: low, score_high: high }) => [score, low, high])
    .filter((end) => end !== null && end !== undefined);
  const own = Math.max(0, ...ends);
  const near = champions.map(({ score }) => score).filter((score) => !ends.length || score <= CHAMPION_MOST * own);
  const to = Math.max(own, ...near) || 1;
  const least = Math.min(to, ...ends);
  return { from: ends.length && least > to / 2 ? least - 0.1 * (to - least) : 0, to };
}

// The place of a score on its bar in percent of the width, or null beyond the scale.
export function placeOn(score, { from, to }) {
  const share = (score - from) / (to - from || 1);
  return share < 0 || share > 1 ? null : 96 * share + 2;
}

// A row's bar in percent of its width: the score, and the interval's ends if it has them.
export function barOf({ score, score_low: low, score_high: high }, scale) {
  if (score === null) return null;
  const wide = low !== null && low !== undefined && high !== null && high !== undefined;
  return { at: placeOn(score, scale), from: wide ? placeOn(low, scale) : null, to: wide ? placeOn(high, scale) : null };
}
