// SPDX-License-Identifier: Apache-2.0
// How the list of checks is shown: what needs a look comes first.

import { hinderedText } from "../shared/arming.js";

const MINUTE_S = 60;
const HOURS_FROM_MIN = 120;
const URGENT = ["FAIL", "PASSED", "WARN"];

// A FAIL that somebody overrides still fails; a WARN that somebody acknowledges is known.
function shownAs({ level, override }) {
  if (!override) return level;
  return level === "FAIL" ? "PASSED" : "KNOWN";
}

// The findings with what is shown of each: those that need a look in their order, those that are known
// and stay, then the good ones, of which the first of each group is marked.
export function sorted(findings) {
  const rows = findings.map((row) => ({
    ...row, age_s: undefined, age: ageText(row.age_s), shown: shownAs(row) }));
  const urgent = URGENT.flatMap((level) => rows.filter((row) => row.shown === level));
  const good = rows.filter((row) => row.shown === "OK");
  const known = rows.filter((row) => row.shown === "KNOWN");
  return { urgent, known, good: good.map((row, n) => ({ ...row, first: good[n - 1]?.group !== row.group })) };
}

// What the list comes to. It says no other thing than the page Session: the sentence is the same.
export function verdictText(list, urgent) {
  const count = (level) => urgent.filter((row) => row.shown === level).length;
  const [warns, passed] = ["WARN", "PASSED"].map(count);
  const also = [passed && `${passed} overridden`, warns && `${warns} to look at`].filter(Boolean);
  const rest = also.length ? ` ${also.join(", ")}.` : "";
  return `${hinderedText(list, list) || armableText(list)}${rest}`;
}

// Nothing forbids a session; what is under way must be over first.
function armableText({ mode, lanes }) {
  if (mode === "practice") return "Each login starts a session.";
  const waiting = lanes.filter(({ waits }) => waits);
  if (!waiting.length) return "Sessions can be armed.";
  const said = waiting.map(({ name, waits }) => (name ? `Lane ${name}: ${waits[0].toLowerCase()}${waits.slice(1)}` : waits));
  return `The checks are in order. ${said.join(". ")}; the next session can be armed after that.`;
}

function ageText(seconds) {
  if (seconds === null) return "";
  const minutes = Math.floor(seconds / MINUTE_S);
  if (minutes < 1) return "(just now)";
  return minutes < HOURS_FROM_MIN ? `(${minutes} min ago)` : `(${Math.floor(minutes / MINUTE_S)} h ago)`;
}
