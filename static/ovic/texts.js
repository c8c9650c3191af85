// SPDX-License-Identifier: Apache-2.0
// What the leaderboard of OVIC says.

import { figure, lostText, momentText } from "../shared/format.js";
import { isolated } from "../shared/page.js";

export const SILENT_MS = 8000;

export const isSilent = (silentMs) => silentMs > SILENT_MS;

export const heardText = (silentMs) => (
  isSilent(silentMs) ? lostText(silentMs / 1000) : "live"
);

// What the queue does now, and until when models are taken.
export function lineText({ line: { now, received, waiting }, closes_utc: closes, final }) {
  if (final) return "FINAL: entries can no longer be added or changed.";
  const running = now ? `Entry ${now.entry} of ${isolated(now.team)} is ${now.state}.` : "No model is running.";
  const until = closes ? ` Models are accepted until ${momentText(closes)}.` : "";
  return `${running} ${received} to validate, ${waiting} to measure.${until}`;
}

// The cells of a row of the ranking.
export function cellsOf(row) {
  const metric = row.metric === null ? "too slow" : signed(row.metric);
  return [
    row.rank ?? "–", row.team, metric, figure(row.accuracy, 2), figure(row.latency_ms, 3),
    row.entry, row.entries,
  ].map(String);
}

const signed = (value) => `${value < 0 ? "−" : "+"}${figure(Math.abs(value), 3)}`;

// Where an entry is, or what it has reached.
export function saidOf(entry) {
  if (entry.place !== null && !entry.builds.length) {
    return [`place ${entry.place} in the line.`, entry.tries ? entry.text : ""].join(" ");
  }
  if (entry.builds.length) {
    const metric = entry.valid ? `metric ${signed(entry.metric)}` : "too slow to be valid";
    const said = `${metric}, ${figure(entry.accuracy, 2)} %, ${figure(entry.latency_ms, 3)} ms`;
    return entry.builds.length > 1 ? `${said}, best of ${entry.builds.length} measurements` : said;
  }
  return entry.text;
}
