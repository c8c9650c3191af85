// SPDX-License-Identifier: Apache-2.0
// Curves of power over time as SVG: the parts that every chart of watts is made of.

import { prefixOf, secondText } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
// Around the curve, in letters of the chart's own size.
const MARGIN = { left: 2.9, right: 1.2, top: 0.5, bottom: 1.4 };

// The area of a chart: functions from seconds and watts to pixels, over the element's own size.
export function area(svg, { from, to, low, top }) {
  const [width, height] = [svg.clientWidth || 600, svg.clientHeight || 170];
  const letter = Number.parseFloat(getComputedStyle(svg).fontSize) || 16;
  const margin = Object.fromEntries(Object.entries(MARGIN).map(([side, letters]) => [side, letters * letter]));
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return {
    width,
    height,
    margin,
    letter,
    x: (second) => margin.left + (second - from) / (to - from) * (width - margin.left - margin.right),
    y: (value) => height - margin.bottom
      - (value - low) / (top - low) * (height - margin.top - margin.bottom),
  };
}

// A path through points [second, watts or null]. A reading without a number breaks the line. So does
// a time without readings.
export function path(points, x, y, gapS) {
  let text = "";
  let before = -Infinity;
  for (const [second, value] of points) {
    if (value === null || second < 0) {
      before = -Infinity;
      continue;
    }
    const joined = second - before <= gapS;
    text += `${joined ? "L" : "M"}${x(second).toFixed(1)} ${y(value).toFixed(1)}`;
    // A line of no length is a dot.
    if (!joined) text += "h0";
    before = second;
  }
  return text;
}

// The labels have room for three digits.
export function wattLines(top, { width, y, margin, letter }) {
  const [unit, prefix] = prefixOf(top, 0.1, 1000);
  return [0, top / 2, top].flatMap((value) => [
    node("line", { x1: margin.left, x2: width - margin.right, y1: y(value), y2: y(value) }),
    label(`${Number((value / unit).toPrecision(3))}${value === top ? ` ${prefix}W` : ""}`, {
      "x": margin.left - 0.5 * letter, "y": y(value) + 0.25 * letter, "text-anchor": "end",
    }),
  ]);
}

const STEPS_S = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14_400, 43_200];

export function minuteMarks(from, to, { x, width, height, letter }, most = Math.min(6, Math.floor(width / (4 * letter)))) {
  const fitting = STEPS_S.find((seconds) => (to - from) / seconds <= most) ?? 86_400;
  // An axis has two labels, whatever its width.
  const step = fitting <= to - from ? fitting : STEPS_S.findLast((seconds) => seconds <= to - from) ?? fitting;
  const marks = [];
  for (let second = Math.ceil(from / step) * step; second <= to; second += step) {
    marks.push(label(secondText(second), { "x": x(second), "y": height - 0.35 * letter, "text-anchor": "middle" }));
  }
  return marks;
}

// A sentence in a chart that has no points. A narrow chart needs its whole width, so the sentence stands
// where no label is.
export function emptyText(text, { width, height, margin }) {
  return label(text, {
    "class": "empty", "x": width / 2, "y": height - margin.bottom - 0.2 * (height - margin.bottom), "text-anchor": "middle",
  });
}

export function niceTop(value) {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10, 20].map((n) => n * unit).find((top) => top >= 1.1 * value);
}

function label(text, attributes) {
  const element = node("text", attributes);
  element.textContent = text;
  return element;
}

export function node(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
