// SPDX-License-Identifier: Apache-2.0
// The parts that pages are made of. base.css says how they look; `python -m tests.parts` shows them.

import { cutInMiddle } from "./middle.js";
import { isolated, make } from "./page.js";

const classed = (element, ...names) => {
  element.classList.add(...names.filter(Boolean));
  return element;
};

// A state or a verdict in one or two words; `kind` chooses its colour.
export const pillOf = (word, kind = word) => classed(make("span", word), "state", ...kind.split(" "));

// A name that may be cut in its middle: the whole of it is its title.
export function nameOf(text, tag = "bdi") {
  const name = classed(make(tag, text), "name");
  name.title = text;
  cutInMiddle(name);
  return name;
}

// Let an element say a sentence about a name: the name alone gives way, and what stands before it and behind
// it is always read.
export function sayAbout(element, [before, name, after]) {
  const title = before + isolated(name) + after;
  if (element.title === title && element.textContent === before + name + after) return;
  const who = make("bdi", name);
  element.replaceChildren(before, who, after);
  element.title = title;
  cutInMiddle(element, who);
}

// Such a sentence in a line of its own.
export function lineAbout(before, name, after) {
  const line = classed(make("span"), "name", "line");
  sayAbout(line, [before, name, after]);
  return line;
}

// Let a place say such a sentence; null is none.
export function showAbout(place, said) {
  if (place.textContent === (said ?? []).join("")) return;
  place.replaceChildren(...(said ? [lineAbout(...said)] : []));
}

// What it is, the number with its unit, and a note. `kind` is "old", "void" or nothing.
export function figureOf({ label, value, unit = "", note = "", kind = "" }) {
  const number = classed(make("span", value), "value");
  if (unit) number.append(classed(make("span", unit), "unit"));
  const parts = [classed(make("span", label), "label"), number];
  if (note) parts.push(classed(make("span", note), "note"));
  return classed(make("div", ...parts), "figure", kind);
}

// A card with a heading.
export const cardOf = (title, ...content) => classed(make("section", make("h2", title), ...content), "panel");

// A share of a whole, between 0 and 1; `label` is for those who hear the page.
export function barOf(share, label) {
  const full = make("div");
  full.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  const bar = classed(make("div", full), "bar");
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", label);
  return bar;
}

// What will stand in an empty place, and the way to it.
export function emptyOf(text, address = "", words = "") {
  const place = classed(make("p", text), "empty-state");
  if (!address) return place;
  const link = make("a", words);
  link.href = address;
  place.append(" ", link);
  return place;
}

export function buttonOf(label, type = "button") {
  return Object.assign(make("button", label), { type });
}

// The further acts on a thing, behind one button. `spoken` is its name for those who hear the page.
export function menuOf(label, spoken, ...entries) {
  const summary = make("summary", label);
  summary.setAttribute("aria-label", spoken);
  return classed(make("details", summary, make("div", ...entries)), "menu");
}

// An open menu closes when somebody clicks elsewhere or on one of its entries, or presses Escape.
export function closeMenusByThemselves() {
  const close = (but) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== but) menu.open = false;
  };
  document.addEventListener("click", ({ target }) => close(target.closest("summary")?.parentElement));
  document.addEventListener("keydown", ({ key }) => { if (key === "Escape") close(null); });
}
