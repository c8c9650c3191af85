// SPDX-License-Identifier: Apache-2.0
// A proposal of new scores as a table: old and new side by side, and what is skipped.

import { momentText } from "../shared/format.js";
import { isolated, make } from "../shared/page.js";
import { buttonOf } from "../shared/parts.js";
import { enable } from "../shared/person.js";

// `decide` is called with the proposal and "apply" or "cancel".
export function proposalOf(proposal, decide) {
  const head = make("h3", `Proposal ${proposal.proposal}, ${proposal.state}: ${proposal.reason}`);
  const who = make("p", `made by ${proposal.operator} at ${momentText(proposal.utc)}`);
  who.className = "quiet";
  const box = make("div", head, who);
  box.className = "proposal";
  if (proposal.end) {
    const { kind, operator, reason, utc } = proposal.end;
    box.append(make("p", `${kind} by ${operator} at ${momentText(utc)}: ${reason}`));
  }
  if (proposal.scores.length) box.append(tableOf(proposal));
  if (proposal.skipped.length) box.append(skipsOf(proposal.skipped));
  if (!proposal.end) box.append(actionsOf(proposal, decide));
  return box;
}

const kindOf = (column) => (column.left ? "" : "number");

function tableOf({ proposal, columns, scores }) {
  const heads = columns.flatMap((column) => (
    ["old", "new"].map((side) => headOf(`${side} ${column.head}`, kindOf(column)))));
  const head = make("tr", headOf("session", "number"), headOf("team"), ...heads);
  const table = make("table", make("thead", head), make("tbody", ...scores.map((row) => rowOf(columns, row))));
  const frame = make("div", table);
  frame.className = "scrolls";
  // It scrolls sideways in a small window, by keys too.
  Object.assign(frame, { tabIndex: 0, role: "region", ariaLabel: `Scores of proposal ${proposal}` });
  return frame;
}

function headOf(text, kind = "") {
  const cell = make("th", text);
  cell.className = kind;
  cell.scope = "col";
  return cell;
}

function rowOf(columns, row) {
  const cells = columns.flatMap((column) => {
    const [old, next] = [row.old, row.new].map((side) => (
      cellOf(side?.printed[column.field] ?? "–", kindOf(column))));
    next.classList.toggle("changed", old.textContent !== next.textContent);
    return [old, next];
  });
  return make("tr", cellOf(row.session, "number"), cellOf(row.team, "team"), ...cells);
}

function cellOf(text, kind) {
  const cell = make("td", String(text));
  cell.className = kind;
  return cell;
}

function skipsOf(skipped) {
  const lines = skipped.map(({ session, team, reason }) => (
    make("li", `skipped: session ${session} of ${isolated(team)}: ${reason}`)));
  return make("ul", ...lines);
}

function actionsOf(proposal, decide) {
  const cancel = buttonOf("Cancel…");
  enable(cancel, true, "cancel proposal");
  cancel.addEventListener("click", () => decide(proposal, "cancel"));
  const apply = buttonOf("Apply…");
  enable(apply, true, "apply proposal");
  apply.className = "ends";
  apply.addEventListener("click", () => decide(proposal, "apply"));
  const actions = make("p", cancel, apply);
  actions.className = "actions";
  return actions;
}
