// SPDX-License-Identifier: Apache-2.0
// Small changes of a page. They touch only what differs: nothing flickers, and the focus, a
// selection and the scroll position survive.

export const $ = (id) => document.getElementById(id);

export function show(id, text) {
  const element = $(id);
  if (element.textContent !== String(text)) element.textContent = text;
}

// A text that its place may cut: the whole of it is the title.
export function showCut(id, text) {
  show(id, text);
  $(id).title = text;
}

export function showState(id, name, text = name) {
  show(id, text);
  $(id).className = `state ${name}`;
}

export function make(tag, ...content) {
  const element = document.createElement(tag);
  element.append(...content);
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
