// SPDX-License-Identifier: Apache-2.0
// The ranking, what is open before it is final, and proposals of new scores.

import { act } from "../shared/acting.js";
import { figure, momentText, points } from "../shared/format.js";
import { $, fill, make, show, showState } from "../shared/page.js";
import "../shared/pages.js";
import { enable, personName } from "../shared/person.js";
import { ask, button } from "./ask.js";
import { followDocument } from "./following.js";
import { proposalOf } from "./proposals.js";

const DECIMALS_LEAST = 5;
const DECIMALS_MOST = 12;

const look = followDocument("results/now", ({ results, proposals, scoreboard }) => {
  showState("state", results.final ? "FINAL" : "PROVISIONAL");
  show("contest", `${results.contest} – results`);
  show("accuracy-head", results.figures.accuracy.label);
  show("score-head", results.figures.score.unit || results.figures.score.label);
  show("state-text", results.final
    ? `Approved by ${results.approved_by.join(", ")} at ${momentText(results.approved_utc)}.`
    : `${results.session_rule} ${results.tie_rule}`);
  const decimals = decimalsApart(results.entries.map((entry) => entry.score));
  fill("entries", results.entries.map((entry) => ({ entry, decimals, final: results.final })), rowOf);
  for (const part of ["open-box", "open-link"]) $(part).hidden = results.open.length === 0;
  show("open-link", results.open.length === 1 ? "1 point is open" : `${results.open.length} points are open`);
  fill("open", results.open, (point) => make("li", point));
  $("prizes-box").hidden = results.prizes.length + results.champions.length === 0;
  fill("prizes", results.prizes, (prize) => make("li", prizeText(prize)));
  fill("champions", results.champions, (champion) => make("li", championText(champion)));
  $("finalize").hidden = results.final;
  enable($("finalize"), results.open.length === 0 && results.mode !== "practice", "finalize");
  $("reopen").hidden = !results.final;
  enable($("reopen"), true, "reopen");
  showFreeze(scoreboard, results.final);
  fill("proposals", proposals, (proposal) => proposalOf(proposal, decide));
});

// So many decimals that different scores look different, five at least.
function decimalsApart(scores) {
  const different = [...new Set(scores.filter((score) => score !== null))];
  for (let decimals = DECIMALS_LEAST; decimals < DECIMALS_MOST; decimals += 1) {
    const texts = new Set(different.map((score) => score.toFixed(decimals)));
    if (texts.size === different.length) return decimals;
  }
  return DECIMALS_MOST;
}

function rowOf({ entry, decimals, final }) {
  const name = make("td", entry.team);
  for (const text of [entry.organisation, noteOf(entry), (entry.intervals ?? []).join(" · ")]) {
    if (text) name.append(make("small", text));
  }
  const low = entry.score_low;
  const ends = low === null ? "–" : `${points(low, 3)} to ${points(entry.score_high, 3)}`;
  const row = make("tr",
    number(entry.rank === null ? "–" : String(entry.rank)), name,
    number(figure(entry.mean_ap, 5)), number(figure(entry.energy_wh, 4)),
    number(figure(entry.score, decimals)), number(ends),
    number(entry.images === null ? "–" : String(entry.images)),
    number(percent(entry.normalized_accuracy)), number(String(entry.attempts)),
    verdictOf(entry, final));
  return row;
}

const percent = (share) => (share === null ? "–" : `${(100 * share).toFixed(2)} %`);

function number(text) {
  const cell = make("td", text);
  cell.className = "number";
  return cell;
}

function verdictOf(entry, final) {
  const cell = make("td", entry.verdict ?? "–");
  if (entry.verdict) cell.className = entry.verdict;
  if (entry.emulated) cell.append(make("small", "EMULATED"));
  for (const reason of entry.verdict === "VALID" ? [] : entry.reasons) {
    cell.append(make("small", reason));
  }
  if (entry.review) {
    cell.append(make("small", `reviewed by ${entry.review.operator}: ${entry.review.reason}`));
  } else if (!final && !entry.withdrawn && entry.review_open) {
    const review = button("Review…");
    enable(review, true, "review");
    review.addEventListener("click", () => reviewSession(entry));
    const place = make("div", review);
    place.className = "row";
    cell.append(place);
  }
  return cell;
}

function noteOf(entry) {
  const notes = [];
  if (entry.withdrawn) notes.push("withdrawn");
  else if (entry.turn === "on") notes.push("its session is armed or runs");
  else if (entry.turn === "waiting") notes.push("has not run yet");
  else if (entry.turn === "models only") notes.push("hands in models only");
  if (entry.void_reasons.length) notes.push(`void: ${entry.void_reasons.join("; ")}`);
  if (!entry.prizes) notes.push("declines prizes");
  return notes.join(", ");
}

function prizeText({ prize, rule, limit, winners }) {
  const whom = winners.join(" and ") || "nobody";
  if (!rule) return `${prize}: ${whom}`;
  return `${prize}, ${rule} (${limit === null ? "needs two scores" : limit.toPrecision(6)}): ${whom}`;
}

function championText({ year, mean_ap: map, energy_wh: energy, score }) {
  return `champion of ${year}: score ${score.toFixed(5)} (mAP ${map.toFixed(5)}, ${energy.toFixed(4)} Wh)`;
}

async function reviewSession({ session, team, review_open: doubt }) {
  const answer = await ask({
    text: `Let the ${doubt} energy of session ${session} of '${team}' stand? `
      + (doubt === "INVALID" ? "It still gives no score." : "It then counts as it is."),
    yes: "Let it stand",
    fields: [{ name: "reason", label: "Reason" }],
  });
  if (answer) await act(`sessions/${session}/review`, answer, look);
}

async function finalize() {
  const answer = await ask({
    text: "Make the results final? No session or team changes afterwards.",
    yes: "Make it final",
    fields: [{ name: "others", label: "Others who approve, separated by commas", optional: true }],
  });
  if (!answer) return;
  const others = answer.others.split(",").map((name) => name.trim()).filter(Boolean);
  await act("results/finalize", { names: [personName() || answer.operator, ...others] }, look);
}

async function reopen() {
  const answer = await ask({
    text: "Make the results provisional again? That stays on record.",
    yes: "Open it again",
    fields: [{ name: "reason", label: "Reason" }],
    destroys: true,
  });
  if (answer) await act("results/reopen", answer, look);
}

function showFreeze({ address, freeze }, final) {
  const frozen = freeze !== null && freeze.kind === "frozen";
  show("freeze-text", frozen
    ? `The scoreboard is FROZEN for the public, by ${freeze.operator} at ${momentText(freeze.utc)}.` : "");
  $("freeze").hidden = address === null || frozen || final;
  $("thaw").hidden = !frozen;
  for (const what of ["freeze", "thaw"]) enable($(what), true, `${what} scoreboard`);
}

async function freezeOrThaw(what) {
  const answer = await ask({
    text: what === "freeze"
      ? "Freeze the scoreboard? The public sees nothing new until it is thawed."
      : "Thaw the scoreboard? The public sees everything that has happened since the freeze.",
    yes: what === "freeze" ? "Freeze it" : "Thaw it",
    fields: [],
  });
  if (answer) await act(`scoreboard/${what}`, answer, look);
}

async function decide({ proposal }, what) {
  const applies = what === "apply";
  const answer = await ask({
    text: applies
      ? `Apply proposal ${proposal}? All of its scores count at once.`
      : `Cancel proposal ${proposal}? None of its scores will count.`,
    yes: applies ? "Apply it" : "Cancel it",
    fields: [{ name: "reason", label: "Reason" }],
    destroys: applies,
  });
  if (answer) await act(`proposals/${proposal}/${what}`, answer, look);
}

for (const what of ["freeze", "thaw"]) $(what).addEventListener("click", () => freezeOrThaw(what));
$("finalize").addEventListener("click", finalize);
$("reopen").addEventListener("click", reopen);
