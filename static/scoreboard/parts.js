// SPDX-License-Identifier: Apache-2.0
// A ranking that is longer than the screen: nobody scrolls a projector, so the page shows one part
// after the other. Somebody who scrolls by hand is left alone for a while.

import { $, show } from "../shared/page.js";
import { nextTop } from "./places.js";

const PART_MS = 10_000;
const HAND_MS = 60_000;

let handMs = -Infinity;

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

// Say which part is shown; after a change of the table the part stays.
export function showParts() {
  const rows = rowsOf();
  const long = $("ranking").scrollHeight > $("ranking").clientHeight + 1;
  const part = long ? seen(rows) : null;
  show("part", part ? `rows ${part[0] + 1} to ${part[1] + 1} of ${rows.length}` : "");
}

function turn() {
  if (performance.now() - handMs < HAND_MS) return;
  const rows = rowsOf();
  if (rows.length) bringToTop(rows[nextTop(seen(rows), rows.length)]);
  showParts();
}

for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  $("ranking").addEventListener(kind, () => { handMs = performance.now(); }, { passive: true });
}
$("ranking").addEventListener("scroll", showParts, { passive: true });
addEventListener("resize", showParts);
setInterval(turn, PART_MS);
