// SPDX-License-Identifier: Apache-2.0
// A ranking as a table. The server says which columns there are, and prints every cell.

import { make } from "./page.js";

const kindOf = ({ field, left, wide }) =>
  [field, left ? "" : "number", wide ? "wide" : ""].filter(Boolean).join(" ");

export function headOf(column) {
  const head = make("th", column.head);
  head.scope = "col";
  head.className = kindOf(column);
  head.title = column.words;
  return head;
}

// A row of printed cells; `cell` returns the cell of a column.
export function rowOfCells(columns, printed) {
  const cells = new Map(columns.map((column) => {
    const cell = make("td", printed[column.field]);
    cell.className = kindOf(column);
    return [column.field, cell];
  }));
  return { element: make("tr", ...cells.values()), cell: (field) => cells.get(field) };
}

// The verdict alone in its colour, and EMULATED below it.
export function showVerdict(cell, { verdict, emulated }) {
  cell.textContent = verdict ?? "–";
  if (verdict) cell.classList.add(verdict);
  if (emulated) cell.append(make("small", "EMULATED"));
}
