// SPDX-License-Identifier: Apache-2.0
// Numbers and times as people read them.

export function figure(value, digits) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

// A figure with so many digits that count, whatever its size. Scores are printed by the server.
export function points(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value <= 0) return value.toFixed(1);
  const rounded = Number(value.toPrecision(digits));
  return rounded.toFixed(Math.min(6, Math.max(0, digits - 1 - Math.floor(Math.log10(rounded)))));
}

const PREFIXES = { "-12": "p", "-9": "n", "-6": "µ", "-3": "m", "0": "", "3": "k", "6": "M", "9": "G" };

// The power of ten and the prefix of a unit in which a value needs no exponent. From `least` to `most`
// there is none.
export function prefixOf(value, least = 1e-3, most = 1e4) {
  const size = Math.abs(value);
  if (!(size > 0 && size < Infinity) || (size >= least && size < most)) return [1, ""];
  const power = Math.min(9, Math.max(-12, 3 * Math.floor(Math.log10(size) / 3 + 1e-9)));
  return [10 ** power, PREFIXES[power]];
}

export function clockText(seconds) {
  return minutes(Math.ceil(seconds));
}

// A second of the session. It counts up, so it is rounded down.
export function secondText(seconds) {
  return minutes(Math.floor(seconds));
}

function minutes(whole) {
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

// Without hourCycle some browsers write 24:00:00 for midnight.
const TIME = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
});

// The offset of the browser's time zone at a moment, such as +02:00. Names of zones mean several zones.
export function offsetText(moment) {
  const minutesEast = -moment.getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutesEast) / 60), Math.abs(minutesEast) % 60];
  return `${minutesEast < 0 ? "-" : "+"}${[hours, rest].map((part) => String(part).padStart(2, "0")).join(":")}`;
}

export function zonedText(moment) {
  return `${timeText(moment)} ${offsetText(moment)}`;
}

const NOW_S = 2;
const MINUTES_FROM_S = 120;

// How long ago something was.
export function ageText(seconds) {
  if (seconds < NOW_S) return "just now";
  return seconds < MINUTES_FROM_S ? `${Math.floor(seconds)} s ago` : `${Math.floor(seconds / 60)} min ago`;
}

// What a page says that has heard nothing for so long.
export const lostText = (seconds) => `connection lost ${ageText(seconds)}`;

// Date and time of a moment, in the browser's time zone.
export function momentText(utc) {
  const moment = new Date(utc);
  const parts = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()];
  return `${parts.map((part) => String(part).padStart(2, "0")).join("-")} ${zonedText(moment)}`;
}

export function timeText(moment) {
  return TIME.format(moment);
}
