// SPDX-License-Identifier: Apache-2.0
// Small changes of a page. They touch only what differs: nothing flickers, and the focus, a
// selection and the scroll position survive.

import { cutInMiddle } from "./middle.js";

export const $ = (id) => document.getElementById(id);

const [ISOLATE, END] = ["\u2068", "\u2069"];
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
// A name in isolates, or what people wrote in quotes. An apostrophe inside a word ends none.
const NAMES = /\u2068(.*?)\u2069|(?<![\p{L}\p{N}])(['‘])(.+?)(['’])(?![\p{L}\p{N}])/gu;

// A name for a sentence: in Arabic or Hebrew it turns no sign or number beside it to its own side.
// `show`, `make` and what is built on them put it into a `bdi`; a `title` keeps the isolates.
export const isolated = (name) => (RIGHT_TO_LEFT.test(name) ? `${ISOLATE}${name}${END}` : name);

const plain = (text) => text.replaceAll(ISOLATE, "").replaceAll(END, "");

// The parts of a sentence, with each name from right to left in a `bdi`.
function partsOf(sentence) {
  if (!RIGHT_TO_LEFT.test(sentence)) return [plain(sentence)];
  const parts = [];
  let end = 0;
  for (const { 0: whole, 1: marked, 2: before = "", 3: quoted, 4: after = "", index } of sentence.matchAll(NAMES)) {
    const name = document.createElement("bdi");
    name.textContent = plain(marked ?? quoted);
    parts.push(plain(sentence.slice(end, index)) + before, name, after);
    end = index + whole.length;
  }
  return [...parts, plain(sentence.slice(end))].filter((part) => part !== "");
}

// Let an element have this sentence, if it has another one.
export function put(element, text) {
  if (element.textContent !== plain(String(text))) element.replaceChildren(...partsOf(String(text)));
}

export function show(id, text) {
  put($(id), text);
}

// A text that its place may cut: the whole of it is the title. A name is cut in its middle.
export function showCut(id, text) {
  if ($(id).title === text && $(id).textContent === plain(text)) return;
  show(id, text);
  $(id).title = text;
  if ($(id).classList.contains("name")) cutInMiddle($(id));
}

export function showState(id, name, text = name) {
  show(id, text);
  $(id).className = `state ${name}`;
}

export function make(tag, ...content) {
  const element = document.createElement(tag);
  element.append(...content.flatMap((one) => (one instanceof Node ? [one] : partsOf(String(one)))));
  return element;
}

const shown = new Map();

// Rebuild a list if its items have changed; return whether it did.
export function fill(id, items, build) {
  const key = JSON.stringify(items);
  if (shown.get(id) === key) return false;
  shown.set(id, key);
  $(id).replaceChildren(...items.map(build));
  return true;
}
