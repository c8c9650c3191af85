// SPDX-License-Identifier: Apache-2.0
// The links between the console's pages, in the head of each.

import { make } from "./page.js";

const PAGES = [
  [".", "Session"],
  ["check", "Check"],
  ["teams", "Teams"],
  ["results", "Results"],
  ["audit", "Audit"],
];

const here = location.pathname.split("/").pop() || ".";

function linkTo([address, name]) {
  const link = make("a", name);
  link.href = address;
  if (address === here) link.ariaCurrent = "page";
  return link;
}

document.querySelector("nav").append(...PAGES.map(linkTo));
