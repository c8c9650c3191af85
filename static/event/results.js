// SPDX-License-Identifier: Apache-2.0
// The ranking, what is open before it is final, and proposals of new scores.

import { act } from "../shared/acting.js";
import { momentText } from "../shared/format.js";
import { $, fill, make, show, showCut, showState } from "../shared/page.js";
import "../shared/pages.js";
import { buttonOf, nameOf } from "../shared/parts.js";
import { enable } from "../shared/person.js";
import { headOf, rowOfCells, showVerdict } from "../shared/ranking.js";
import { ask } from "./ask.js";
import { followDocument } from "./following.js";
import { freezing, pausing, publishing } from "./freezing.js";
import { actsOf, groupsOf } from "./open.js";
import { proposalOf } from "./proposals.js";
import { putOff } from "./putting_off.js";

const FIRST_HIDDEN = ["mean_ap", "energy_wh", "interval", "normalized_accuracy"]; // besides the wide columns, in a narrow window

const IMAGES_MS = 30_000;

let sessions = []; // those that a proposal may score again
let isFinal = false;
let board = null; // what the desk says of the scoreboard

const look = followDocument("results/now", ({ results, proposals, scoreboard, judged }) => {
  isFinal = results.final;
  board = scoreboard;
  showState("state", results.final ? "FINAL" : "PROVISIONAL");
  showCut("contest", `${results.contest} – results`);
  show("state-text", results.final
    ? `Approved by ${results.approved_by.join(", ")} at ${momentText(results.approved_utc)}.`
    : `${results.session_rule} ${results.tie_rule}`);
  fill("heads", results.columns, headOf);
  fill("entries", results.entries.map((entry) => ({ entry, columns: results.columns, final: results.final })), rowOf);
  for (const part of ["open-box", "open-link"]) $(part).hidden = results.open.length === 0;
  show("open-link", results.open.length === 1 ? "1 point is open" : `${results.open.length} points are open`);
  fill("open", [...groupsOf(results.points), ...results.points], openPoint);
  $("prizes-box").hidden = results.prizes.length + results.champions.length === 0;
  fill("prizes", results.prizes, (line) => make("li", line));
  fill("champions", results.champions, (line) => make("li", line));
  $("finalize").hidden = results.final;
  enable($("finalize"), results.open.length === 0 && results.mode !== "practice", "finalize");
  $("reopen").hidden = !results.final;
  enable($("reopen"), true, "reopen");
  showFreeze(scoreboard, results.final);
  enable($("all-bundles"), judged.length > 0, "export");
  fill("bundles", judged, bundleButton);
  sessions = judged;
  enable($("propose"), judged.length > 0 && !results.final && proposals.every(({ end }) => end), "make proposal");
  fill("proposals", proposals, (proposal) => proposalOf(proposal, decide));
});

// A team, where it comes from, and its notes; sentences stand behind “more”.
function rowOf({ entry, columns, final }) {
  const row = rowOfCells(columns, entry.printed);
  const place = row.cell("team");
  const line = make("div", nameOf(entry.team, "div"));
  line.className = "one";
  if (entry.organisation) {
    const whose = nameOf(entry.organisation, "small");
    whose.classList.add("line");
    line.append(whose);
  }
  // Why a session is void, who has reviewed one: read whole.
  line.append(...entry.notes.map((note) => Object.assign(make("small", note), { className: "note" })));
  const hidden = columns.filter(({ wide, field }) => wide || FIRST_HIDDEN.includes(field)).map(({ field, head }) => `${head} ${entry.printed[field]}`);
  const sentences = [...entry.doubts, ...entry.intervals, hidden.join(" · ")].filter(Boolean);
  const more = make("details", make("summary", "more"), ...sentences.map((text) => make("small", text)));
  more.className = "fold";
  more.lastElementChild.classList.toggle("narrow", hidden.length > 0);
  line.append(more);
  place.replaceChildren(line);
  doubt(row.cell("verdict"), entry, final);
  return row.element;
}

function doubt(cell, entry, final) {
  showVerdict(cell, entry);
  const open = (!entry.review && entry.review_open) || entry.differs_open.length > 0;
  if (open && !final && !entry.withdrawn) {
    const review = buttonOf("Review…");
    review.dataset.key = `review ${entry.session}`;
    enable(review, true, "review");
    const doubted = entry.review ? "" : entry.review_open;
    review.addEventListener("click", () => reviewSessions({ doubt: doubted, reason: entry.printed.differs, sessions: [entry.session], teams: [entry.team] }));
    const place = make("div", review);
    place.className = "row";
    cell.append(place);
  }
}

// A point with the acts that settle it, or several points with one act.
function openPoint(point) {
  const acts = point.act ? [point] : actsOf(point);
  const buttons = acts.map((one) => {
    const button = buttonOf(one.words);
    enable(button, true, one.action);
    button.setAttribute("aria-label", `${one.words.replace("…", "")}: ${point.text}`);
    button.addEventListener("click", () => settle(one, { teams: [point.team], ...point }));
    return button;
  });
  if (point.page) {
    const look = make("a", "Look");
    look.href = point.page;
    look.setAttribute("aria-label", `Look: ${point.text}`);
    buttons.unshift(look);
  }
  const row = make("div", ...buttons);
  row.className = "row";
  const line = make("li", make("span", point.text), row);
  line.classList.toggle("several", Boolean(point.act));
  return line;
}

function settle({ act: what, session }, point) {
  if (what === "review") return reviewSessions(point);
  if (what === "void") return voidSession(session, point);
  if (what === "withdraw") return withdrawTeams(point);
  if (what === "defer") return putOff(point.team, look);
  if (what === "propose") return propose();
  return decide(point, what);
}

function reviewSessions({ doubt, reason, sessions: numbers, teams }) {
  const one = numbers.length === 1;
  const who = one ? `session ${numbers[0]} of '${teams[0]}'` : `sessions ${numbers.join(", ")}`;
  const what = doubt
    ? `Let the ${doubt} ${one ? "energy" : "energies"} of ${who} stand?`
    : `Let ${who} stand, which ${one ? "was" : "were"} not run as the others were (${reason})?`;
  const counts = one ? "It then counts as it is." : "They then count as they are.";
  ask({
    text: `${what} ${doubt === "INVALID" ? `${one ? "It still gives" : "They still give"} no score.` : counts}`,
    yes: one ? "Let it stand" : "Let them stand",
    fields: [{ name: "reason", label: "Reason" }],
  }, (answer) => ["sessions/review", { ...answer, sessions: numbers }], look);
}

function voidSession(session, { team }) {
  ask({
    text: `Void session ${session} of '${team}'? It will have no score, and that cannot be undone.`,
    yes: "Void it",
    fields: [{ name: "reason", label: "Reason (the evidence keeps it)" }],
    destroys: true,
  }, (answer) => [`sessions/${session}/void`, answer], look);
}

function withdrawTeams({ teams }) {
  const who = teams.map((team) => `'${team}'`).join(", ");
  const one = teams.length === 1;
  ask({
    text: `Take ${who} out of the event? ${one ? "Its" : "Their"} sessions stay on record, without a rank.`,
    yes: one ? "Withdraw it" : "Withdraw them",
    fields: [{ name: "reason", label: "Reason" }],
    destroys: true,
  }, (answer) => ["teams/withdraw", { ...answer, teams }], look);
}

// A second click while the desk looks opens no second dialog.
const isAsking = () => document.querySelector("dialog[open]") !== null;

// Where no image is published, the dialog opens at once.
const noImages = () => ({ audience: board.address !== null, published: 0, of: 0 });

// The desk looks for the mistakes of every team, which takes a moment. Without its answer nobody is
// told that nothing is published.
async function imagesText() {
  try {
    const response = await fetch("results/images", { cache: "no-store", signal: AbortSignal.timeout(IMAGES_MS) });
    if (response.ok) return publishing(await response.json());
  } catch { /* The sentence below is the answer. */ }
  return "How many of the event’s images the scoreboard then shows is not known: the desk does not say.";
}

async function finalize() {
  const images = board.publishes_images ? await imagesText() : publishing(noImages());
  if (isAsking()) return;
  ask({
    text: `Make the results final? After that no session and no team can change. ${images}`,
    yes: "Make it final",
    fields: [{ name: "approvers", label: "Who approves and signs each diploma: names, separated by commas" }],
  }, ({ approvers, ...others }) => {
    const names = approvers.split(",").map((name) => name.trim()).filter(Boolean);
    return ["results/finalize", { ...others, names }];
  }, look);
}

function reopen() {
  ask({
    text: "Reopen the results? They become provisional again. This stays on record.",
    yes: "Reopen",
    fields: [{ name: "reason", label: "Reason" }],
    destroys: true,
  }, (answer) => ["results/reopen", answer], look);
}

function showFreeze(scoreboard, final) {
  const switched = freezing(scoreboard, final);
  show("freeze-text", switched.text);
  for (const what of ["freeze", "unfreeze"]) {
    $(what).hidden = !switched[what];
    enable($(what), true, `${what} scoreboard`);
  }
  const pause = pausing(scoreboard);
  show("break-text", pause.text);
  for (const what of ["begin", "end"]) {
    $(what).hidden = !pause[what];
    enable($(what), true, `${what} break`);
  }
}

function beginOrEnd(what) {
  ask(what === "begin" ? {
    text: "Announce a break? The scoreboard shows your text and a countdown, even while it is frozen.",
    yes: "Start the break",
    fields: [{ name: "text", label: "Text for the audience, for example: Lunch. We continue at 13:00." },
      { name: "minutes", label: "Minutes", type: "number", value: 15 }],
  } : { text: "End the break? The scoreboard then shows what is next.", yes: "End the break" }, (answer) => [`break/${what}`, answer], look);
}

async function freezeOrUnfreeze(what) {
  const images = what === "unfreeze" && isFinal && board.publishes_images ? ` ${await imagesText()}` : "";
  if (isAsking()) return;
  ask({
    text: what === "freeze"
      ? `Freeze the scoreboard? The public sees nothing new until you unfreeze it. ${board.freezing}`
      : `Unfreeze the scoreboard? The public sees everything that has happened since the freeze.${images}`,
    yes: what === "freeze" ? "Freeze it" : "Unfreeze it",
  }, (answer) => [`scoreboard/${what}`, answer], look);
}

function bundleButton(session) {
  const element = buttonOf(`session ${session}`);
  enable(element, true, "export");
  element.addEventListener("click", () => takeBundle(session));
  return element;
}

// Number 0 stands for all sessions. The desk makes the file; then the browser saves it.
async function takeBundle(session) {
  await act("bundles", { session }, (done) => {
    if (done) location.assign(done.file);
  });
}

// Session 0 stands for all sessions. A file is one beside contest.toml, by its name.
function propose() {
  ask({
    text: "Score sessions again? The proposal shows what would change. No score changes until you apply it.",
    yes: "Score again",
    fields: [
      { name: "reason", label: "Reason" },
      { name: "session", label: "Sessions", value: "0",
        choices: [["0", "all sessions"], ...sessions.map((it) => [String(it), `session ${it}`])] },
      { name: "blacklist", label: "New blacklist (a file beside contest.toml)", optional: true },
      { name: "truth", label: "New ground truth (a file beside contest.toml)", optional: true },
    ],
  }, (answer) => ["proposals", { ...answer, session: Number(answer.session) }], look);
}

function decide({ proposal }, what) {
  const applies = what === "apply";
  ask({
    text: applies
      ? `Apply proposal ${proposal}? All of its scores count at once.`
      : `Cancel proposal ${proposal}? None of its scores will count.`,
    yes: applies ? "Apply it" : "Cancel the proposal",
    no: applies ? "Cancel" : "Keep it",
    fields: [{ name: "reason", label: "Reason" }],
    destroys: applies,
  }, (answer) => [`proposals/${proposal}/${what}`, answer], look);
}

for (const what of ["freeze", "unfreeze"]) $(what).addEventListener("click", () => freezeOrUnfreeze(what));
for (const what of ["begin", "end"]) $(what).addEventListener("click", () => beginOrEnd(what));
$("all-bundles").addEventListener("click", () => takeBundle(0));
$("propose").addEventListener("click", propose);
$("finalize").addEventListener("click", finalize);
$("reopen").addEventListener("click", reopen);
