// SPDX-License-Identifier: Apache-2.0
// The page of a recording. It asks for what is new twice a second, so a connection that breaks costs
// nothing: the next answer brings what was missed.

import { area, emptyText, minuteMarks, niceTop, node, path, wattLines } from "../shared/curve.js";
import { $, fill, make, show, showState } from "../shared/page.js";
import { gapOf, isAnother, moving, noticed, powerOf, timeOf, value } from "./figures.js";

const ASK_MS = 500;
const ASK_AGAIN_MS = 3000; // after the end: another recording may begin at this address
const PATIENCE_MS = 5000;
const RECENT_S = 60;

const samples = []; // of the last minute: [number of the reading, second, watts or null]
const whole = { width_s: 0, bins: [] }; // of the whole run: [least, mean, greatest] or null
let top = { whole: 0, recent: 0 }; // an axis only grows while one run is shown
let begun = null; // what tells one recording from the next one at the same address
let news = null;

async function ask() {
  const after = samples.length ? samples.at(-1)[0] : 0;
  const query = `after=${after}&bins=${whole.bins.length}&width=${whole.width_s}`;
  const response = await fetch(`news?${query}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  return response.json();
}

// Forget everything of an earlier recording.
function forgetIfOther(found) {
  const other = isAnother(begun, news?.number ?? 0, found);
  if (found.about.log) begun = JSON.stringify(found.about);
  if (!other) return false;
  samples.length = whole.bins.length = whole.width_s = 0;
  top = { whole: 0, recent: 0 };
  news = null;
  return true;
}

function take(found) {
  samples.push(...found.samples);
  const oldest = found.elapsed_s - RECENT_S;
  while (samples.length && samples[0][1] < oldest) samples.shift();
  whole.width_s = found.whole.width_s;
  whole.bins.splice(found.whole.first, Infinity, ...found.whole.bins);
  news = found;
}

function showFigures() {
  const { about, stage } = news;
  showState("stage", stage, { lost: "ended without a result" }[stage] ?? stage);
  show("log", about.log ?? "Recording");
  show("meter", about.meter ?? "");
  document.title = about.log ? `${about.log}: ${moving(news.power_w, "W")}` : "Recording";
  const power = powerOf(news);
  show("power", power.text);
  $("power").className = power.old ? "old" : "";
  show("energy", moving(news.energy_wh, "Wh", 6));
  show("time", timeOf(news));
  show("voltage", moving(news.voltage_v, "V"));
  show("current", moving(news.current_a, "A"));
  const [volts, amperes] = [news.voltage_range_v, news.current_range_a];
  show("ranges", about.log ? `${value(volts, "V")}, ${value(amperes, "A")}`.replaceAll("–", "auto") : "–");
}

function showResult() {
  const { result } = news;
  $("result").hidden = result === null;
  if (result === null) return;
  const limit = result.uncertainty_wh === null ? "" : ` ± ${value(result.uncertainty_wh, "Wh", 2)}`;
  show("result-energy", result.energy_wh === null ? "no energy" : value(result.energy_wh, "Wh", 6) + limit);
  showState("verdict", result.verdict);
  fill("findings", result.findings, ({ severity, text }) => (
    make("li", `${severity === "VALID" ? "note" : severity}: ${text}`)
  ));
}

function showNoticed() {
  const told = noticed(news);
  fill("noticed", told, (text) => make("li", text));
  $("calm").hidden = told.length > 0;
}

// Draw points [second, watts or null], with a band around them where there is one.
function draw(name, from, to, points, band, gapS) {
  const watts = points.map(([, power]) => power).filter((power) => power !== null);
  const highest = Math.max(0, ...watts, ...band.map(([, , high]) => high));
  top[name] = Math.max(top[name], niceTop(highest));
  const low = Math.min(0, ...watts, ...band.map(([, least]) => least));
  const on = area($(name), { from, to, low, top: top[name] });
  const gaps = news.gaps.newest.filter(([, end]) => end > from).map(([begin, end]) => {
    const left = on.x(Math.max(begin, from));
    const box = { x: left, width: Math.max(1, on.x(end) - left) };
    return node("rect", { class: "gap", ...box, y: on.y(top[name]), height: on.y(low) - on.y(top[name]) });
  });
  const around = node("path", { class: "band", d: bandPath(band, on) });
  const line = node("path", { class: "power", d: path(points, on.x, on.y, gapS) });
  const empty = watts.length ? [] : [emptyText("no readings yet", on)];
  const marks = [...wattLines(top[name], on), ...minuteMarks(from, to, on, Math.max(2, on.width / 90))];
  $(name).replaceChildren(...gaps, ...marks, around, line, ...empty);
  show(`${name}-text`, watts.length
    ? `${value(Math.min(...watts), "W")} to ${value(Math.max(...watts), "W")}` : "no readings yet");
}

// A bar for each bin [second, least, greatest], as wide as the bin.
function bandPath(band, { x, y }) {
  const width = x(whole.width_s) - x(0);
  return band.map(([second, least, greatest]) => {
    const height = y(least) - y(greatest);
    return `M${x(second).toFixed(1)} ${y(greatest).toFixed(1)}h${width.toFixed(2)}v${height.toFixed(1)}`
      + `h${(-width).toFixed(2)}Z`;
  }).join("");
}

function drawCharts() {
  const gapS = gapOf(news.about);
  const width = whole.width_s;
  const bins = whole.bins.map((bin, place) => [place * width, bin]);
  const means = bins.flatMap(([second, bin]) => (bin ? [[second + width / 2, bin[1]]] : []));
  const band = bins.flatMap(([second, bin]) => (bin ? [[second, bin[0], bin[2]]] : []));
  const end = Math.max(news.elapsed_s, news.stage === "running" ? 10 : 1);
  draw("whole", 0, end, means, band, Math.max(gapS, 1.5 * width));
  const to = Math.max(news.elapsed_s, RECENT_S);
  const recent = samples.map(([, second, power]) => [second, power]);
  draw("recent", to - RECENT_S, to, recent, [], gapS);
}

function showAll() {
  showFigures();
  showResult();
  showNoticed();
  drawCharts();
}

async function follow() {
  try {
    let found = await ask();
    // What was asked for belonged to the earlier recording, so all of this one is asked for.
    if (forgetIfOther(found)) found = await ask();
    take(found);
    show("connection", "");
    showAll();
  } catch (error) {
    const done = news?.stage === "ended";
    show("connection", done ? "" : `The recording program does not answer (${error.message}).`);
  }
  setTimeout(follow, news?.stage === "ended" ? ASK_AGAIN_MS : ASK_MS);
}

addEventListener("resize", () => { if (news) drawCharts(); });
follow();
