// SPDX-License-Identifier: Apache-2.0
// What does not fit on the screen: nobody scrolls a projector, so the page shows one page of the
// ranking after the other below the leaders, and then the boards and the charts. Somebody who scrolls by
// hand gets all rows, and is left alone for a while.

import { $, show } from "../shared/page.js";
import { nextTurn, pagesOf } from "./places.js";

const PART_MS = 10_000;
const HAND_MS = 60_000;

// A window that is wide enough shows one panel at a time; on a phone all stand below each other.
const inTurn = matchMedia("(min-width: 60.01rem)");
const ranking = document.querySelector(".ranking");

let handMs = -Infinity;
let turnedMs = performance.now();
let byHand = false; // all rows are shown, and scroll
let page = 0;
let cut = { leaders: 0, pages: [[0, -1]] };

// A panel whose pictures have not come yet would be an empty card.
const panels = () => [$("boards"), $("charts")].filter((one) => !one.hidden && !one.querySelector(".loading"));

const rowsOf = () => [...$("entries").rows];
const isHeld = () => performance.now() - handMs < HAND_MS;

function reveal(panel) {
  for (const one of $("stage").children) one.classList.toggle("shown", one === panel);
  turnedMs = performance.now();
}

function showPage(rows) {
  const { leaders, pages } = cut;
  page = Math.min(page, pages.length - 1);
  const [first, last] = pages[page];
  rows.forEach((row, place) => {
    row.classList.toggle("away", place >= leaders && (place < first || place > last));
    row.classList.toggle("last-leader", place === leaders - 1);
  });
  const which = first === last ? `row ${first + 1}` : `rows ${first + 1} to ${last + 1}`;
  show("part", pages.length > 1 ? `${which} of ${rows.length}` : "");
}

// Cut the rows into pages; after a change of the table the same page is shown.
export function showParts() {
  if (document.body.classList.contains("waiting")) return;
  const rows = rowsOf();
  for (const row of rows) row.classList.remove("away");
  const room = $("ranking").clientHeight - $("ranking").querySelector("thead").offsetHeight;
  const isCut = inTurn.matches && !byHand && room > 0 && rows.length > 0;
  cut = isCut ? pagesOf(rows.map((row) => row.getBoundingClientRect().height), room)
    : { leaders: 0, pages: [[0, rows.length - 1]] };
  if (isCut) $("ranking").scrollTop = 0;
  showPage(rows);
  if (panels().every((one) => !one.classList.contains("shown"))) ranking.classList.add("shown");
}

// Bring a team's row to the hall, for as long as any part is shown.
export function showTeam(team) {
  const rows = rowsOf();
  const place = rows.findIndex((one) => one.dataset.team === team);
  if (place < 0 || isHeld() || !inTurn.matches) return;
  reveal(ranking);
  if (place >= cut.leaders) page = cut.pages.findIndex(([first, last]) => place >= first && place <= last);
  showPage(rows);
}

function turn() {
  if (isHeld() || performance.now() - turnedMs < PART_MS || !inTurn.matches) return;
  if (byHand) {
    byHand = false;
    showParts();
  }
  const others = panels();
  const shown = others.findIndex((one) => one.classList.contains("shown"));
  const next = nextTurn({ page, panel: shown < 0 ? null : shown }, cut.pages.length, others.length);
  page = next.page;
  reveal(next.panel === null ? ranking : others[next.panel]);
  showPage(rowsOf());
}

// A press only holds the page: its rows must not move under the finger.
function hold() {
  handMs = performance.now();
}

function scrollByHand() {
  hold();
  if (byHand || cut.pages.length === 1) return;
  byHand = true;
  showParts();
}

$("ranking").addEventListener("pointerdown", hold, { passive: true });
for (const kind of ["wheel", "touchmove", "keydown"]) {
  $("ranking").addEventListener(kind, scrollByHand, { passive: true });
}
// Who comes with the keys gets all rows: one that is away cannot have the focus.
$("ranking").addEventListener("focusin", ({ target }) => { if (target.matches(":focus-visible")) scrollByHand(); });
inTurn.addEventListener("change", showParts);
new ResizeObserver(showParts).observe($("ranking"));
setInterval(turn, 500);
