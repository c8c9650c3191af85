// SPDX-License-Identifier: Apache-2.0
// The figures of a recording as texts.

import { prefixOf, secondText } from "../shared/format.js";

const LATE_UPDATES = 2.5; // So many updates of the meter without a reading are a gap.

export const value = (number, unit, digits = 4) => (
  quantity(number, unit, (inUnit) => Number(inUnit.toPrecision(digits)))
);

// A figure that changes all the time keeps its zeros, so that nothing beside it moves.
export const moving = (number, unit, digits = 4) => (
  quantity(number, unit, (inUnit) => inUnit.toPrecision(digits))
);

function quantity(number, unit, text) {
  if (number === null || number === undefined) return "–";
  const [size, prefix] = prefixOf(number);
  return `${text(number / size)} ${prefix}${unit}`;
}

// The time without readings from which on a curve is broken. Before the log there is no interval.
export const gapOf = ({ update_interval_s: interval }) => LATE_UPDATES * (interval ?? 1);

// The power, or for how long there has been none; a recording that has ended has its last one.
export function powerOf({ about, stage, age_s: age, power_w: power }) {
  const ended = stage === "ended" || stage === "lost";
  const old = !ended && age > gapOf(about) + 1;
  return { old, text: old ? `no reading for ${Math.floor(age)} s` : moving(power, "W") };
}

export function timeOf({ about, integration_s: seconds }) {
  const time = seconds === null ? "–" : secondText(seconds);
  return about.timer_s ? `${time} of ${secondText(about.timer_s)}` : time;
}

// What was noticed, a line each.
export function noticed({ gaps, messages, without_power: without, flags }) {
  const told = messages.map(([second, text]) => (
    second === null ? text : `after ${secondText(second)}: ${text}`
  ));
  if (gaps.count) {
    const [from, to] = gaps.newest.at(-1);
    told.unshift(`Times without readings: ${gaps.count}, ${gaps.total_s.toFixed(1)} s in all, `
      + `the newest from ${from.toFixed(1)} to ${to.toFixed(1)} s.`);
  }
  if (without) told.unshift(`Readings without a power: ${without}.`);
  if (flags.length) told.unshift(`The meter reports: ${flags.join(", ").replaceAll("_", " ")}.`);
  return told;
}

// Another recording has begun at this address if its log is another, or its readings are fewer.
// `begun` is what told the log that is shown, null before the first one.
export const isAnother = (begun, number, found) => (
  (begun !== null && begun !== JSON.stringify(found.about)) || found.number < number
);
