// SPDX-License-Identifier: Apache-2.0
// A name that its place cannot hold loses its middle: the beginning and the end tell most names apart.
// The whole of it stays in the page for those who hear it, is its title for the pointer, and is shown
// beside the name that has the focus.

const HEAD = 0.6; // the share of the letters that are left which stands before the gap
const LEAST = 2; // so many letters are left in any case
const PRESSED = "a, button, summary"; // what the keys stop at by itself
const segments = Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: "grapheme" }) : null;
const lettersOf = (text) => (segments ? Array.from(segments.segment(text), ({ segment }) => segment) : [...text]);

// The beginning, the middle that is hidden, and the end of a name of which so many letters are shown.
export function partsOf(letters, count) {
  const whole = letters.join("");
  const before = Math.round(HEAD * count);
  const head = letters.slice(0, before).join("").trimEnd();
  const tail = letters.slice(letters.length - count + before).join("").trimStart();
  return [head, whole.slice(head.length, whole.length - tail.length), tail];
}

const inners = new WeakMap(); // which part of a text is the name: the rest of it is always read
const cut = new WeakMap(); // what a name that is cut had in it
const waiting = new Set();

function showPart(inner, letters, count) {
  const [head, middle, tail] = partsOf(letters, count);
  const [unseen, end] = [document.createElement("span"), document.createElement("span")];
  unseen.className = "unseen";
  unseen.textContent = middle;
  end.className = "end";
  end.textContent = tail;
  inner.replaceChildren(head, unseen, end);
}

const fits = (element) => element.scrollWidth <= element.clientWidth + 1 && element.scrollHeight <= element.clientHeight + 1;

function restore(element) {
  if (cut.has(element)) inners.get(element).replaceChildren(...cut.get(element));
  forget(element);
}

function forget(element) {
  cut.delete(element);
  if (element.dataset.stop) element.removeAttribute("tabindex");
  delete element.dataset.stop;
}

// The keys reach a name that is cut, and nothing of its kind otherwise.
function stopAt(element) {
  if (element.closest(PRESSED)) return;
  element.dataset.stop = "whole";
  element.tabIndex = 0;
}

// All names at once: to write and to measure in turn would lay the page out for each of them.
function cutAll() {
  const names = [...waiting].filter((one) => one.isConnected && one.clientWidth > 0);
  waiting.clear();
  names.forEach(restore);
  const tried = names.filter((one) => !fits(one)).map((element) => {
    const inner = inners.get(element);
    const letters = lettersOf(inner.textContent);
    return { element, inner, letters, low: Math.min(LEAST, letters.length), high: letters.length - 1 };
  });
  for (const { element, inner } of tried) cut.set(element, [...inner.childNodes]);
  for (let open = tried; open.length; open = open.filter(({ low, high }) => low < high)) {
    for (const one of open) {
      one.count = Math.ceil((one.low + one.high) / 2);
      showPart(one.inner, one.letters, one.count);
    }
    for (const one of open) {
      if (fits(one.element)) one.low = one.count;
      else one.high = one.count - 1;
    }
  }
  for (const { element, inner, letters, low } of tried) {
    showPart(inner, letters, low);
    stopAt(element);
  }
}

function later(elements) {
  if (waiting.size === 0) requestAnimationFrame(cutAll);
  for (const one of elements) waiting.add(one);
}

const watched = new ResizeObserver((changes) => later(changes.map(({ target }) => target)));

// Cut a text in the middle of the name in it, now and whenever its place or the text changes: after a new
// text call it again.
export function cutInMiddle(element, name = element) {
  if (!name.querySelector(":scope > .end")) forget(element);
  inners.set(element, name);
  watched.observe(element);
  if (element.isConnected) later([element]);
}

// The whole name, beside the one that has the focus.
let tip = null;

function hideWhole() {
  tip?.remove();
  tip = null;
}

function showWhole({ target }) {
  hideWhole();
  const inside = target.matches(PRESSED) ? target.querySelectorAll(".name") : [];
  const name = [target, target.closest(".name"), ...inside].find((one) => one && cut.has(one));
  if (!name) return;
  tip = document.createElement("div");
  tip.className = "whole";
  tip.setAttribute("aria-hidden", "true");
  tip.textContent = name.title || name.textContent;
  (name.closest("dialog") ?? document.body).append(tip);
  const box = name.getBoundingClientRect();
  tip.style.left = `${Math.max(0, Math.min(box.left, innerWidth - tip.offsetWidth))}px`;
  const below = box.bottom + tip.offsetHeight <= innerHeight;
  tip.style.top = `${below ? box.bottom : Math.max(0, box.top - tip.offsetHeight)}px`;
}

document.addEventListener("focusin", showWhole);
document.addEventListener("focusout", hideWhole);
document.addEventListener("keydown", ({ key }) => { if (key === "Escape") hideWhole(); });
document.addEventListener("scroll", hideWhole, { capture: true, passive: true });
