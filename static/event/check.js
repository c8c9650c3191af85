// SPDX-License-Identifier: Apache-2.0
// The checks before an event: what needs a look first, then what is in order.

import { act } from "../shared/acting.js";
import { $, fill, make, show, showState } from "../shared/page.js";
import "../shared/pages.js";
import { enable } from "../shared/person.js";
import { ask, button } from "./ask.js";
import { followDocument } from "./following.js";

const SIGNS = { OK: "✓ OK", WARN: "△ WARN", FAIL: "✕ FAIL", PASSED: "△ PASSED", KNOWN: "✓ KNOWN" };
const ORDER = ["FAIL", "PASSED", "WARN", "KNOWN"];
const MINUTE_S = 60;
const HOURS_FROM_MIN = 120;

const look = followDocument("check/now", (list) => {
  const rows = list.findings.map((row) => ({
    ...row, age_s: undefined, age: ageText(row.age_s), shown: shownAs(row) }));
  const urgent = ORDER.flatMap((level) => rows.filter((row) => row.shown === level));
  const good = rows.filter((row) => row.shown === "OK");
  const count = (level) => rows.filter((row) => row.shown === level).length;
  show("contest", `${list.contest} – check`);
  showState("state", list.ready ? "READY" : "NOT-READY", list.ready ? "✓ READY" : "✕ NOT READY");
  show("verdict", list.running
    ? "No session can be armed while the slow checks run." : verdictText(list.ready, count));
  $("again").hidden = list.mode === "practice";
  enable($("again"), !list.running, "slow checks");
  show("again", list.running ? "Slow checks are running…" : "Run the slow checks");
  const key = document.activeElement?.dataset?.key;
  if (fill("urgent", urgent, rowOf) && key) {
    $("urgent").querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }
  fill("good", good.map((row, n) => ({ ...row, first: good[n - 1]?.group !== row.group })), goodOf);
});

// A FAIL that somebody overrides still fails; a WARN that somebody acknowledges is known.
function shownAs({ level, override }) {
  if (!override) return level;
  return level === "FAIL" ? "PASSED" : "KNOWN";
}

function verdictText(ready, count) {
  const warns = count("WARN");
  const passed = count("PASSED");
  const also = [passed && `${passed} overridden`, warns && `${warns} to look at`].filter(Boolean);
  const rest = also.length ? ` ${also.join(", ")}.` : "";
  if (ready) return `Sessions can be armed.${rest}`;
  const fails = count("FAIL");
  return `No session can be armed: ${fails} ${fails === 1 ? "check fails" : "checks fail"}.${rest}`;
}

function rowOf(row) {
  const level = make("span", SIGNS[row.shown]);
  level.className = `level ${row.shown}`;
  const item = make("span", `${row.group}, ${row.item}`);
  item.className = "item";
  const told = make("div", make("p", item, `: ${row.text} `, ageOf(row)));
  if (row.remedy) told.append(quiet("remedy", row.remedy));
  if (row.override) {
    const { operator, reason, utc } = row.override;
    const at = new Date(utc).toLocaleTimeString("en-GB", { timeZoneName: "short" });
    const done = row.shown === "PASSED" ? "Overridden" : "Acknowledged";
    told.append(quiet(row.shown, `${done} by ${operator} at ${at}: ${reason}`));
  }
  return make("li", level, told, actionOf(row));
}

function quiet(kind, text) {
  const line = make("p", text);
  line.className = kind;
  return line;
}

function ageOf(row) {
  const age = make("span", row.age);
  age.className = "age";
  return age;
}

function actionOf(row) {
  const name = `${row.group}, ${row.item}`;
  if (row.override) {
    const what = row.shown === "PASSED" ? "override" : "acknowledgement";
    return keyed("take back override", "Take back…", `Take back the ${what} of ${name}`, () => takeBack(row, what));
  }
  const label = row.level === "FAIL" ? "Override" : "Acknowledge";
  return keyed("override check", `${label}…`, `${label} ${name}`, () => override(row));
}

function keyed(action, label, spoken, press) {
  const element = button(label);
  enable(element, true, action);
  element.dataset.key = spoken;
  element.setAttribute("aria-label", spoken);
  element.addEventListener("click", press);
  return element;
}

function goodOf(row) {
  const level = make("span", SIGNS.OK);
  level.className = "level OK";
  const group = make("span", row.first ? row.group : "");
  group.className = "group";
  const told = make("div", make("span", level, ` ${row.item}: ${row.text} `, ageOf(row)));
  if (row.remedy) told.append(quiet("remedy", row.remedy));
  return make("li", group, told);
}

function ageText(seconds) {
  if (seconds === null) return "";
  const minutes = Math.floor(seconds / MINUTE_S);
  if (minutes < 1) return "(just now)";
  return minutes < HOURS_FROM_MIN ? `(${minutes} min ago)` : `(${Math.floor(minutes / MINUTE_S)} h ago)`;
}

async function override({ group, item, text, level }) {
  const fails = level === "FAIL";
  const question = fails ? "Let sessions be armed although this check fails?"
    : "Is this known, and may it stand?";
  const answer = await ask({
    text: `${question} ${group}, ${item}: ${text}`,
    yes: fails ? "Override it" : "Acknowledge it",
    fields: [{ name: "reason", label: "Reason (it stays on record)" }],
    destroys: fails,
  });
  if (answer) await act("check/override", { ...answer, group, item, level, text }, look);
}

async function takeBack({ group, item, override: { number } }, what) {
  const then = what === "override" ? " No session can be armed then." : "";
  const answer = await ask({
    text: `Take back the ${what} of ${group}, ${item}?${then}`,
    yes: "Take it back",
    fields: [{ name: "reason", label: "Reason" }],
  });
  if (answer) await act(`check/overrides/${number}/end`, answer, look);
}

$("again").addEventListener("click", () => act("check/again", {}, look));
