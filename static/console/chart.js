// SPDX-License-Identifier: Apache-2.0
// The power of one session as a line: the last five minutes. The page fetches it piece by piece.

import { figure, secondText } from "../shared/format.js";
import { $, show } from "../shared/page.js";

const SVG = "http://www.w3.org/2000/svg";
const WINDOW_S = 300;
const MARGIN = { left: 46, right: 18, top: 8, bottom: 22 };
const FETCH_MS = 1000;

export class Chart {
  // `at` gives the ids of the lane's elements.
  constructor(at) {
    this.at = at;
    this.fetching = false;
    this.forget(null);
  }

  forget(sessionId) {
    this.sessionId = sessionId;
    this.samples = []; // in order: [number of the reading, second of the session, watts or null]
    this.topW = 0; // the axis only grows while one session is shown
    this.fetchedAt = -Infinity;
    this.fetchedIn = null; // the session's state at the last fetch; a new state needs another fetch
  }

  // Draw a session and fetch what is new; call this at each news of the session.
  async follow(session, lengthS, gapS) {
    if ((session?.id ?? null) !== this.sessionId) this.forget(session?.id ?? null);
    this.draw(session, lengthS, gapS);
    const done = this.fetchedIn === session?.state && !["RUNNING", "ENDED"].includes(this.fetchedIn);
    if (!session || done || this.fetching || performance.now() - this.fetchedAt < FETCH_MS) return;
    this.fetching = true;
    try {
      const after = this.samples.length ? this.samples.at(-1)[0] : 0;
      const response = await fetch(`sessions/${session.id}/power?after=${after}`);
      if (!response.ok) return;
      const news = (await response.json()).samples;
      if (session.id !== this.sessionId) return;
      [this.fetchedAt, this.fetchedIn] = [performance.now(), session.state];
      this.samples.push(...news);
      const newest = this.samples.length ? this.samples.at(-1)[1] : 0;
      this.samples = this.samples.filter(([, second]) => second >= newest - WINDOW_S);
      this.draw(session, lengthS, gapS);
    } catch {
      // The desk does not answer. The page says so elsewhere, and the next call asks again.
    } finally {
      this.fetching = false;
    }
  }

  draw(session, length, gapS) {
    const { samples } = this;
    const svg = $(this.at("chart"));
    const [width, height] = [svg.clientWidth || 600, svg.clientHeight || 170];
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const watts = samples.map((sample) => sample[2]).filter((value) => value !== null);
    this.topW = Math.max(this.topW, niceTop(Math.max(0, ...watts)));
    const { topW } = this;
    const lowW = Math.min(0, ...watts);
    const now = Math.min(session?.elapsed_s ?? 0, length + 5, this.endOf(session));
    const from = Math.max(0, now - WINDOW_S);
    const to = Math.min(from + WINDOW_S, Math.max(length, now));
    const x = (second) => MARGIN.left
      + (second - from) / (to - from) * (width - MARGIN.left - MARGIN.right);
    const y = (value) => height - MARGIN.bottom
      - (value - lowW) / (topW - lowW) * (height - MARGIN.top - MARGIN.bottom);
    const line = node("path", { class: "power", d: path(samples, x, y, gapS) });
    const empty = watts.length ? [] : [label("drawn while a session runs", {
      "class": "empty", "x": (MARGIN.left + width) / 2, "y": height / 2 - 12, "text-anchor": "middle",
    })];
    svg.replaceChildren(...wattLines(topW, width, y), ...minuteMarks(from, to, x, height), line, ...empty);
    show(this.at("chart-text"), watts.length
      ? `${figure(watts.at(-1), 3)} W now, ${figure(Math.min(...watts), 3)} to `
        + `${figure(Math.max(...watts), 3)} W in the time shown`
      : "no readings yet");
  }

  // The seconds of a session go on after its end; the line stops at its newest reading.
  endOf(session) {
    if (!session || session.state === "RUNNING") return Infinity;
    return this.samples.length ? this.samples.at(-1)[1] : 0;
  }
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
    label(`${Number(value.toPrecision(3))}${value === top ? " W" : ""}`, {
      "x": MARGIN.left - 8, "y": y(value) + 4, "text-anchor": "end",
    }),
  ]);
}

function minuteMarks(from, to, x, height) {
  const step = [5, 10, 30, 60].find((seconds) => (to - from) / seconds <= 6) ?? 60;
  const marks = [];
  for (let second = Math.ceil(from / step) * step; second <= to; second += step) {
    marks.push(label(secondText(second), { "x": x(second), "y": height - 6, "text-anchor": "middle" }));
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
