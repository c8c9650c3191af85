// SPDX-License-Identifier: Apache-2.0
// Numbers and times as people read them.

export function figure(value, digits) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

// Four digits that count, whatever the size: scores lie between 0.01 and some hundreds.
export function points(value) {
  if (value === null || value === undefined) return "–";
  const digits = value > 0 ? Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(value)))) : 1;
  return value.toFixed(digits);
}

export function clockText(seconds) {
  return minutes(Math.ceil(seconds));
}

// A second of the session: it counts up, so it is not rounded up.
export function secondText(seconds) {
  return minutes(Math.floor(seconds));
}

function minutes(whole) {
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

// hourCycle, since some browsers write 24:00:00 for midnight without it.
const TIME = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
});

export function timeText(moment) {
  return TIME.format(moment);
}
