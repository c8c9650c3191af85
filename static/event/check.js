// SPDX-License-Identifier: Apache-2.0
// The checks before an event: what needs a look first, then what is in order.

import { act } from "../shared/acting.js";
import { progressOf, readyState } from "../shared/arming.js";
import { zonedText } from "../shared/format.js";
import { $, fill, make, show, showCut, showState } from "../shared/page.js";
import "../shared/pages.js";
import { barOf, buttonOf } from "../shared/parts.js";
import { enable } from "../shared/person.js";
import { ask } from "./ask.js";
import { sorted, verdictText } from "./findings.js";
import { followDocument } from "./following.js";

const SIGNS = { OK: "✓ OK", WARN: "△ WARN", FAIL: "✕ FAIL", PASSED: "△ PASSED", KNOWN: "✓ KNOWN" };

const look = followDocument("check/now", (list) => {
  const { urgent, known, good } = sorted(list.findings);
  showCut("contest", `${list.contest} – check`);
  const state = readyState(list, list);
  showState("state", state.kind, state.text);
  show("verdict", verdictText(list, urgent));
  showProgress(list.progress);
  $("again").hidden = list.mode === "practice";
  enable($("again"), !list.running, "slow checks");
  show("again", list.running ? "Slow checks are running…" : "Run the slow checks");
  const key = document.activeElement?.dataset?.key;
  const changed = [fill("urgent", urgent, rowOf), fill("known", known, rowOf)];
  if (changed.some(Boolean) && key) document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  $("known-box").hidden = known.length === 0;
  show("known-count", `${known.length} acknowledged`);
  fill("good", good, goodOf);
  show("good-count", `${good.length} in order`);
});

function showProgress(progress) {
  $("progress").hidden = progress === null;
  if (progress === null) return $("progress").replaceChildren();
  const { share, text } = progressOf(progress);
  $("progress").replaceChildren(barOf(share, "Slow checks"), make("span", text));
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
    const at = zonedText(new Date(utc));
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
  const element = buttonOf(label);
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

function override({ group, item, text, level }) {
  const fails = level === "FAIL";
  const question = fails ? "Allow sessions to be armed although this check fails?"
    : "Acknowledge this warning?";
  ask({
    text: `${question} ${group}, ${item}: ${text}`,
    yes: fails ? "Override it" : "Acknowledge it",
    fields: [{ name: "reason", label: "Reason (it stays on record)" }],
    destroys: fails,
  }, (answer) => ["check/override", { ...answer, group, item, level, text }], look);
}

function takeBack({ group, item, override: { number } }, what) {
  const then = what === "override" ? " After that no session can be armed." : "";
  ask({
    text: `Take back the ${what} of ${group}, ${item}?${then}`,
    yes: "Take it back",
    fields: [{ name: "reason", label: "Reason" }],
  }, (answer) => [`check/overrides/${number}/end`, answer], look);
}

$("again").addEventListener("click", () => act("check/again", {}, look));
