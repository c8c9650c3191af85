// SPDX-License-Identifier: Apache-2.0
// The power of one session as a line: the last five minutes. The page fetches it piece by piece.

import { figure, secondText } from "../shared/format.js";
import { $, show } from "../shared/page.js";

const SVG = "http://www.w3.org/2000/svg";
const WINDOW_S = 300;
const HEIGHT = 170;
const MARGIN = { left: 46, right: 18, top: 8, bottom: 24 };
const FETCH_MS = 1000;

let samples = []; // in order: [number of the reading, second of the session, watts or null]
let sessionId = null;
let topW = 0; // the axis only grows while one session is shown
let fetching = false;
let fetchedAt = -Infinity;
let fetchedIn = null; // the session's state at the last fetch; a new state needs another fetch

// Draw a session and fetch what is new; call this at each news of the session.
export async function follow(session, lengthS, gapS) {
  if (session?.id !== sessionId) {
    [samples, sessionId, topW] = [[], session?.id ?? null, 0];
    [fetchedAt, fetchedIn] = [-Infinity, null];
  }
  draw(session, lengthS, gapS);
  const done = fetchedIn === session?.state && !["RUNNING", "ENDED"].includes(fetchedIn);
  if (!session || done || fetching || performance.now() - fetchedAt < FETCH_MS) return;
  fetching = true;
  try {
    const after = samples.length ? samples.at(-1)[0] : 0;
    const response = await fetch(`sessions/${session.id}/power?after=${after}`);
    if (!response.ok) return;
    const news = (await response.json()).samples;
    if (session.id !== sessionId) return;
    [fetchedAt, fetchedIn] = [performance.now(), session.state];
    samples.push(...news);
    const newest = samples.length ? samples.at(-1)[1] : 0;
    samples = samples.filter(([, second]) => second >= newest - WINDOW_S);
    draw(session, lengthS, gapS);
  } catch {
    // The desk does not answer. The page says so elsewhere, and the next call asks again.
  } finally {
    fetching = false;
  }
}

function draw(session, length, gapS) {
  const svg = $("chart");
  const width = svg.clientWidth || 600;
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  const watts = samples.map((sample) => sample[2]).filter((value) => value !== null);
  topW = Math.max(topW, niceTop(Math.max(0, ...watts)));
  const lowW = Math.min(0, ...watts);
  const now = Math.min(session?.elapsed_s ?? 0, length + 5, endOf(session));
  const from = Math.max(0, now - WINDOW_S);
  const to = Math.min(from + WINDOW_S, Math.max(length, now));
  const x = (second) => MARGIN.left
    + (second - from) / (to - from) * (width - MARGIN.left - MARGIN.right);
  const y = (value) => HEIGHT - MARGIN.bottom
    - (value - lowW) / (topW - lowW) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const line = node("path", { class: "power", d: path(samples, x, y, gapS) });
  const empty = watts.length ? [] : [label("drawn while a session runs", {
    "class": "empty", "x": (MARGIN.left + width) / 2, "y": HEIGHT / 2 - 24, "text-anchor": "middle",
  })];
  svg.replaceChildren(...wattLines(topW, width, y), ...minuteMarks(from, to, x), line, ...empty);
  show("chart-text", watts.length
    ? `${figure(watts.at(-1), 3)} W now, ${figure(Math.min(...watts), 3)} to `
      + `${figure(Math.max(...watts), 3)} W in the time shown`
    : "no readings yet");
}

// The seconds of a session go on after its end; the line stops at its newest reading.
function endOf(session) {
  if (!session || session.state === "RUNNING") return Infinity;
  return samples.length ? samples.at(-1)[1] : 0;
}

// A reading without a number breaks the line. So does a time without readings.
function path(points, x, y, gapS) {
  let text = "";
  let before = -Infinity;
  for (const [, second, value] of points) {
    if (value === null || second < 0) {
      before = -Infinity;
      continue;
    }
    const joined = second - before <= gapS;
    text += `${joined ? "L" : "M"}${x(second).toFixed(1)} ${y(value).toFixed(1)}`;
    if (!joined) text += "h0.1";
    before = second;
  }
  return text;
}

function wattLines(top, width, y) {
  return [0, top / 2, top].flatMap((value) => [
    node("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
    label(String(Number(value.toPrecision(3))), {
      "x": MARGIN.left - 8, "y": y(value) + 4, "text-anchor": "end",
    }),
  ]);
}

function minuteMarks(from, to, x) {
  const step = [5, 10, 30, 60].find((seconds) => (to - from) / seconds <= 6) ?? 60;
  const marks = [];
  for (let second = Math.ceil(from / step) * step; second <= to; second += step) {
    marks.push(label(secondText(second), { "x": x(second), "y": HEIGHT - 6, "text-anchor": "middle" }));
  }
  return marks;
}

function niceTop(value) {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10, 20].map((n) => n * unit).find((top) => top >= 1.1 * value);
}

function label(text, attributes) {
  const element = node("text", attributes);
  element.textContent = text;
  return element;
}

function node(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
