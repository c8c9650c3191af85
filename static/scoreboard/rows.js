// SPDX-License-Identifier: Apache-2.0
// The ranking as a table: places, names, bars of the scores, and the server's columns.

import { node } from "../shared/curve.js";
import { make } from "../shared/page.js";
import { nameOf, pillOf } from "../shared/parts.js";
import { headOf } from "../shared/ranking.js";
import { barOf, moveOf, scaleOf } from "./places.js";

const MOVED = { field: "moved", head: "", words: "places gained or lost by the newest result", left: true };
const BAR = { field: "spread", head: "95 % interval", words: "score, with the 95 % interval around it", left: true };

// The columns of the page: the server's, with the moves behind the places, and the bars before the
// score. What is most important stands first.
export function columnsOf(columns) {
  const found = new Map(columns.map((column) => [column.field, column]));
  const first = ["rank", "team", "score"];
  const rest = columns.filter(({ field }) => !first.includes(field));
  const [rank, team, score] = first.map((field) => found.get(field));
  return [rank, MOVED, team, BAR, score, ...rest];
}

export const headsOf = (columns) => columnsOf(columns).map(headOf);

// A function that makes the row of an entry or a champion.
export function rowMaker(view) {
  const columns = columnsOf(view.columns);
  const scale = scaleOf(view);
  const best = view.champions.length ? Math.max(...view.champions.map(({ score }) => score)) : null;
  return (row) => {
    const cells = {
      moved: () => movedCell(row),
      team: () => teamCell(row, view),
      spread: () => (row.score === null ? [""] : [bar(row, scale, best)]),
      verdict: () => verdictCell(row),
    };
    const made = make("tr", ...columns.map(({ field, left, wide }) => {
      const cell = make("td", ...(cells[field]?.() ?? [row.short[field] ?? row.printed[field]]));
      cell.className = [field, left ? "" : "number", wide ? "wide" : ""].filter(Boolean).join(" ");
      if (row.short[field] !== undefined) cell.title = row.printed[field];
      return cell;
    }));
    if (row.year) made.className = "champion";
    else if (row.word === "on now") made.className = "on-now";
    else if (row.newest) made.className = "newest";
    if (row.team) made.dataset.team = row.team;
    return made;
  };
}

function movedCell(row) {
  const { text, kind, words } = row.year ? { text: "" } : moveOf(row);
  if (!text) return [""];
  const made = make("span", text);
  made.className = `move ${kind}`;
  made.title = words;
  return [made];
}

// On a joint board a team has its page at its station.
function teamCell(row, view) {
  if (row.year) return [nameOf(row.printed.team)];
  const name = nameOf(row.team, view.stations ? "span" : "a");
  if (!view.stations) name.href = `team/${encodeURIComponent(row.team)}`;
  const told = [row.station, row.organisation, row.word].filter(Boolean).join(" · ");
  return told ? [name, Object.assign(make("small", told), { title: told, className: "name line" })] : [name];
}

function verdictCell({ verdict, emulated }) {
  const shown = verdict ? [pillOf(verdict)] : [""];
  return emulated ? [...shown, make("small", "EMULATED")] : shown;
}

function bar(row, scale, best) {
  const svg = node("svg", { "class": "interval", "role": "img", "aria-label": labelOf(row) });
  if (best !== null) {
    const x = `${barOf({ score: best }, scale).at}%`;
    svg.append(node("line", { "class": "best", "x1": x, "x2": x, "y1": "0", "y2": "100%" }));
  }
  const found = barOf(row, scale);
  if (found.from !== null) {
    const width = `${Math.max(0.4, found.to - found.from)}%`;
    svg.append(node("rect", { x: `${found.from}%`, y: "30%", height: "40%", width }));
  }
  svg.append(node("circle", { cx: `${found.at}%`, cy: "50%" }));
  return svg;
}

function labelOf({ printed }) {
  return printed.interval && printed.interval !== "–" ? `interval ${printed.interval}` : "no interval";
}
