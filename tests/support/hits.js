// SPDX-License-Identifier: Apache-2.0
// Which points of what can be pressed are not its own: the body of a function that returns it in words.
// Each button, link and field of the open page is scrolled to, and asked at a grid of points.

const PRESSED = "button, select, input:not([type=hidden]), textarea, summary, a[href], [role=button]";
const EDGE_PX = 2; // A browser gives a pixel that two boxes share to either of them.
const LARGE = 1.5; // Letters are large beside those of the page's text.
const short = (text) => text.trim().replace(/\s+/g, " ").slice(0, 40);
const nameOf = (element) => element.id || element.getAttribute("class") || element.localName;
const root = document.querySelector("dialog[open]") ?? document.body;
const isSeen = (element) => element.checkVisibility({ checkVisibilityCSS: true }) && !element.closest(".unseen, .skip");

const scrolls = (style) => /auto|scroll/.test(style);
const canScroll = (element) => {
  const { overflowX, overflowY } = getComputedStyle(element);
  return scrolls(overflowX) || scrolls(overflowY);
};
const places = [document.scrollingElement, ...document.querySelectorAll("*")].filter((one) => one === document.scrollingElement || canScroll(one))
  .map((one) => [one, one.scrollLeft, one.scrollTop]);

// What a person does to reach a thing: scroll the places that have bars, from the inside out.
function scrollTo(element, line) {
  let { left, top } = line;
  for (let at = element.parentElement; at; at = at.parentElement) {
    const whole = at === document.documentElement;
    if (!whole && !canScroll(at)) continue;
    const box = whole ? { left: 0, top: 0 } : at.getBoundingClientRect();
    const before = [at.scrollLeft, at.scrollTop];
    const style = getComputedStyle(at);
    const moves = (overflow) => whole ? !/hidden|clip/.test(overflow) : scrolls(overflow);
    if (moves(style.overflowY)) at.scrollTop += top - box.top - (at.clientHeight - line.height) / 2;
    if (moves(style.overflowX) && (left < box.left || left + line.width > box.left + at.clientWidth)) at.scrollLeft += left - box.left;
    [left, top] = [left - at.scrollLeft + before[0], top - at.scrollTop + before[1]];
  }
}

// Beyond the rounded corners is what lies below.
function* pointsOf(box, radius) {
  const [across, down] = [Math.max(3, box.width / 5), Math.max(3, box.height / 10)];
  for (let y = box.top + EDGE_PX; y < box.bottom - EDGE_PX; y += down) {
    const corner = Math.min(y - box.top, box.bottom - y) < radius ? radius : EDGE_PX;
    for (let x = box.left + corner; x < box.right - corner; x += across) yield [x, y];
  }
}

// Whether something lies over a thing as long as a person wants it to: the menu that is open.
const isOver = (at, element) => at?.closest("details.menu[open] > div")?.contains(element) === false;

function takersOf(element) {
  const radius = Math.min(Number.parseFloat(getComputedStyle(element).borderTopLeftRadius) || 0, 99);
  const takers = new Map();
  let all = 0;
  for (let n = 0; n < element.getClientRects().length; n += 1) {
    scrollTo(element, element.getClientRects()[n]);
    const line = element.getClientRects()[n];
    for (const [x, y] of pointsOf(line, Math.min(radius, line.height / 2))) {
      const at = document.elementFromPoint(x, y);
      all += 1;
      if (!element.contains(at) && !isOver(at, element)) takers.set(at, (takers.get(at) ?? 0) + 1);
    }
  }
  return { all, takers };
}

const faults = [];
for (const element of root.querySelectorAll(PRESSED)) {
  if (!isSeen(element)) continue;
  const { all, takers } = takersOf(element);
  const name = short(element.textContent) || element.getAttribute("aria-label") || element.name || nameOf(element);
  if (!all) faults.push(`too small: ${name}`);
  for (const [taker, points] of takers) {
    faults.push(`taken: ${Math.ceil(100 * points / all)} % of ${name} by ${taker ? nameOf(taker) : "the window's edge"}`);
  }
}

// Large letters stick out of a line that is lower than they are, as far as their font wants. They take no
// pointer, whatever may come to stand beside them. Those of a name are cut off at its box.
const textPx = LARGE * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
for (const element of root.querySelectorAll("*")) {
  const node = [...element.childNodes].find(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim());
  if (!node || !isSeen(element) || element.closest(`${PRESSED}, svg`)) continue;
  const style = getComputedStyle(element);
  const range = document.createRange();
  range.selectNodeContents(node);
  const [line] = range.getClientRects();
  if (!line || Number.parseFloat(style.fontSize) < textPx || line.height <= Number.parseFloat(style.lineHeight) + 1) continue;
  if (style.pointerEvents !== "none" && style.overflowY === "visible") {
    faults.push(`large text takes a pointer: ${short(node.data)} in ${nameOf(element)}`);
  }
}

for (const [place, left, top] of places) place.scrollTo({ left, top, behavior: "instant" });
return [...new Set(faults)];
