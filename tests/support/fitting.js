// SPDX-License-Identifier: Apache-2.0
// What does not fit on the page that is open: the body of a function that returns it in words.

const faults = [];
const short = (text) => text.trim().replace(/\s+/g, " ").slice(0, 40);

// The part of a line of letters that its places let be seen, and whether one of them cuts it for good:
// what is scrolled away can be scrolled to.
function seen({ left, top, right, bottom }, element) {
  let cut = false;
  const [width, height] = [right - left, bottom - top];
  for (let at = element; at; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (style.clipPath !== "none") return null;
    const box = at === document.body || at === document.documentElement
      ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : at.getBoundingClientRect();
    const [across, down] = [style.overflowX, style.overflowY];
    const before = [left, right, top, bottom];
    if (across !== "visible") [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
    if (down !== "visible") [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    const lost = [Math.max(left - before[0], before[1] - right), Math.max(top - before[2], before[3] - bottom)];
    if (/hidden|clip/.test(across) && lost[0] > 2 && width > 0) cut = true;
    if (/hidden|clip/.test(down) && lost[1] > 0.3 * height) cut = true;
  }
  return { cut, box: right - left > 1 && bottom - top > 1 ? { left, top, right, bottom } : null };
}

function hasWhole(element, text) {
  const whole = element.closest("[title]") ?? element.querySelector("[title]");
  return Boolean(whole?.title.replace(/\s+/g, " ").includes(text.trim().replace(/\s+/g, " ")));
}

// A word of letters and digits in two lines. Chinese and Japanese may break anywhere, and so may what
// no line of the page would hold.
const WORD = /[\p{L}\p{N}.,:±%]+/gu;
const ANYWHERE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
function brokenWords(node) {
  const range = document.createRange();
  return [...node.data.matchAll(WORD)].filter(({ 0: word, index }) => {
    const [before] = /\S*$/.exec(node.data.slice(0, index));
    const [whole] = /^\S*/.exec(node.data.slice(index));
    if (before.length + whole.length > 24 || ANYWHERE.test(word)) return false;
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
  }).map(({ 0: word }) => word);
}

const UNBROKEN = ".state, .number, .value, button, summary, time, dd output, .clock";
const root = document.querySelector("dialog[open]") ?? document.body;
const texts = [];
for (const element of root.querySelectorAll("*")) {
  if (!element.checkVisibility({ checkVisibilityCSS: true }) || element.closest("option, script, template")) continue;
  for (const node of element.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (element.closest(".unseen")) continue;
    const lines = [...range.getClientRects()].filter(({ width }) => width > 0);
    const broken = brokenWords(node);
    if (broken.length) faults.push(`broken: ${broken}`);
    if (element.closest(UNBROKEN) && new Set(lines.map(({ top }) => Math.round(top / 4))).size > 1) {
      faults.push(`two lines: ${short(node.data)}`);
    }
    let cut = false;
    for (const line of lines) {
      // A font keeps room above and below its letters, in which lines may touch.
      const room = 0.2 * line.height;
      const found = seen({ left: line.left, right: line.right, top: line.top + room, bottom: line.bottom - room }, element);
      if (!found) continue;
      cut ||= found.cut;
      // A sticky head lies over what is scrolled.
      if (found.box && !element.closest("th, summary + div")) texts.push({ ...found.box, element, text: short(node.data) });
    }
    if (cut && !hasWhole(element, node.data)) faults.push(`cut without its whole: ${short(node.data)}`);
  }
}
texts.forEach((one, n) => texts.slice(n + 1).forEach((other) => {
  if (one.element === other.element) return;
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  if (wide > 2 && high > 2) faults.push(`overlap: ${one.text} | ${other.text}`);
}));

// What can be pressed stands inside of its card.
for (const element of root.querySelectorAll("button, select, input, summary")) {
  const card = element.closest("section, .panel");
  if (!card || !element.checkVisibility({ checkVisibilityCSS: true }) || element.closest(".scrolls, .menu > div")) continue;
  const [inner, outer] = [element.getBoundingClientRect(), card.getBoundingClientRect()];
  const over = Math.max(outer.left - inner.left, inner.right - outer.right);
  if (over > 0.5) faults.push(`over the card's edge by ${over.toFixed(1)} px: ${short(element.textContent) || element.name || element.type}`);
}

// Sideways scrolling of the page, or of a place on it.
const page = document.documentElement;
if (page.scrollWidth > innerWidth + 1) faults.push(`sideways: the page by ${page.scrollWidth - innerWidth} px`);
for (const element of root.querySelectorAll("*")) {
  if (/auto|scroll/.test(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1
    && element.clientWidth > 0) faults.push(`sideways: ${element.id || element.className || element.localName}`);
}
return [...new Set(faults)];
