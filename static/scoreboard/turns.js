// SPDX-License-Identifier: Apache-2.0
// What does not fit on the screen: nobody scrolls a projector, so the page shows one part of the
// ranking after the other, and then the boards and the charts. Somebody who scrolls by hand is left
// alone for a while.

import { $, show } from "../shared/page.js";
import { nextTurn } from "./places.js";

const PART_MS = 10_000;
const HAND_MS = 60_000;

// A window that is wide enough shows one panel at a time; on a phone all stand below each other.
const inTurn = matchMedia("(min-width: 60.01rem)");
const ranking = document.querySelector(".ranking");

let handMs = -Infinity;
let turnedMs = performance.now();

const panels = () => [$("boards"), $("charts")].filter((one) => !one.hidden);

// The places of the rows that are whole below the table's head, from and to; null without rows.
function seen(rows) {
  if (rows.length === 0) return null;
  const top = $("ranking").querySelector("th").getBoundingClientRect().bottom - 1;
  const bottom = $("ranking").getBoundingClientRect().bottom + 1;
  const whole = rows.flatMap((row, place) => {
    const box = row.getBoundingClientRect();
    return box.top >= top && box.bottom <= bottom ? [place] : [];
  });
  return whole.length ? [whole[0], whole.at(-1)] : null;
}

const rowsOf = () => [...$("entries").rows];

function bringToTop(row) {
  const head = $("ranking").querySelector("th").offsetHeight;
  $("ranking").scrollTop += row.getBoundingClientRect().top - $("ranking").getBoundingClientRect().top - head;
}

function reveal(panel) {
  for (const one of $("stage").children) one.classList.toggle("shown", one === panel);
  turnedMs = performance.now();
}

// Say which part is shown; after a change of the table the part stays.
export function showParts() {
  const rows = rowsOf();
  const long = $("ranking").scrollHeight > $("ranking").clientHeight + 1;
  const part = long ? seen(rows) : null;
  rows.forEach((row, place) => row.classList.toggle("cut", part !== null && (place < part[0] || place > part[1])));
  show("part", part ? `rows ${part[0] + 1} to ${part[1] + 1} of ${rows.length}` : "");
  if (panels().every((one) => !one.classList.contains("shown"))) ranking.classList.add("shown");
}

// Bring a team's row to the hall, for as long as any part is shown.
export function showTeam(team) {
  const row = rowsOf().find((one) => one.dataset.team === team);
  if (!row || performance.now() - handMs < HAND_MS || !inTurn.matches) return;
  reveal(ranking);
  const part = seen(rowsOf());
  if (part === null || row.rowIndex - 1 < part[0] || row.rowIndex - 1 > part[1]) bringToTop(row);
  showParts();
}

function turn() {
  const now = performance.now();
  if (now - handMs < HAND_MS || now - turnedMs < PART_MS || !inTurn.matches) return;
  const rows = rowsOf();
  const others = panels();
  const panel = others.findIndex((one) => one.classList.contains("shown"));
  const next = nextTurn({ part: seen(rows), panel: panel < 0 ? null : panel }, rows.length, others.length);
  reveal(next < rows.length || others.length === 0 ? ranking : others[next - rows.length]);
  if (next < rows.length) bringToTop(rows[next]);
  showParts();
}

for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  $("ranking").addEventListener(kind, () => { handMs = performance.now(); }, { passive: true });
}
$("ranking").addEventListener("scroll", showParts, { passive: true });
new ResizeObserver(showParts).observe($("ranking"));
setInterval(turn, 500);
