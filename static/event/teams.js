// SPDX-License-Identifier: Apache-2.0
// The teams in their running order: who ran, who is on, who is next.

import { $, make, show, showCut } from "../shared/page.js";
import "../shared/pages.js";
import { buttonOf, closeMenusByThemselves, menuOf, nameOf } from "../shared/parts.js";
import { enable } from "../shared/person.js";
import { ask } from "./ask.js";
import { followDocument } from "./following.js";
import { dragged, moved } from "./order.js";
import { putOff } from "./putting_off.js";

const LIGHTS = [["logged_in", "logged in"], ["fetched", "fetched"], ["answered", "answered"],
  ["scored", "scored"]];

let roster = null;
let draft = null; // names in an order that is not saved; null: the saved one is shown

const look = followDocument("teams/now", (next) => {
  roster = next;
  if (draft && !sameTeams(draft, runnerNames())) draft = null;
  render();
});

const runs = (team) => !team.withdrawn && team.runs_sessions;
const present = () => roster.teams.filter((team) => !team.withdrawn).map((team) => team.team);
const runnerNames = () => roster.teams.filter(runs).map((team) => team.team);
const sameTeams = (a, b) => JSON.stringify([...a].sort()) === JSON.stringify([...b].sort());

function render() {
  showCut("contest", `${roster.contest} – teams`);
  show("order-text", roster.order_text);
  show("rule", `The lottery: ${roster.lottery_rule}`);
  enable($("lottery"), runnerNames().length > 0, "lottery team");
  enable($("save"), true, "order team");
  enable($("add"), roster.mode !== "practice", "add team");
  enable($("slips"), roster.mode !== "practice" && present().length > 0, "slips");
  $("draft").hidden = draft === null;
  $("none").hidden = roster.teams.length > 0;
  show("none", roster.mode === "practice"
    ? "In a rehearsal anybody may log in, under any user name." : "No team is registered yet.");
  const focused = document.activeElement?.dataset?.key;
  const open = document.querySelector("#teams details[open] > summary")?.dataset.key;
  const byName = new Map(roster.teams.map((team) => [team.team, team]));
  const order = draft
    ? [...draft.map((name) => byName.get(name)), ...roster.teams.filter((team) => !runs(team))]
    : roster.teams;
  $("teams").replaceChildren(...order.map(rowOf));
  const again = (key) => $("teams").querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (open && again(open)) again(open).parentElement.open = true;
  if (focused) again(focused)?.focus();
}

function rowOf(team, n) {
  const place = make("td", String(n + 1));
  place.className = "number";
  const name = make("td", nameOf(team.team, "div"));
  name.className = "team";
  if (team.login && team.login !== team.team) name.append(make("small", `logs in as ${team.login}`));
  if (team.organisation) name.append(nameOf(team.organisation, "small"));
  const lane = roster.lanes.find(({ next }) => next === team.team);
  const isNext = lane !== undefined;
  const turn = make("td", isNext ? `NEXT${lane.name ? ` in lane ${lane.name}` : ""}` : team.turn);
  turn.className = isNext ? "next" : team.turn;
  const remarks = [team.withdrawn && team.reason, team.lane && `runs only in lane ${team.lane}`, !team.has_password && "no password yet",
    !team.prizes && "declines prizes"].filter(Boolean);
  if (remarks.length) turn.append(make("small", remarks.join(", ")));
  const row = make("tr", place, name, turn, rehearsalOf(team), attemptsOf(team), actionsOf(team));
  row.classList.toggle("next-team", isNext);
  return row;
}

// Four lights: a filled circle is on. The words are for those who point at it or cannot see it.
function rehearsalOf({ rehearsal }) {
  const cell = make("td");
  cell.className = "lights";
  for (const [name, word] of LIGHTS) {
    const light = make("span", rehearsal[name] ? "●" : "○");
    light.title = rehearsal[name] ? word : `not ${word}`;
    light.setAttribute("role", "img");
    light.setAttribute("aria-label", light.title);
    light.classList.toggle("ok", rehearsal[name]);
    cell.append(light);
  }
  return cell;
}

function attemptsOf(team) {
  const cell = make("td", team.attempts ? String(team.attempts) : "–");
  cell.className = "attempts";
  for (const { session, state, reason } of team.sessions) {
    cell.append(make("small", `session ${session}: ${state}${reason ? `, ${reason}` : ""}`));
  }
  return cell;
}

function actionsOf(team) {
  const row = make("div");
  row.className = "row";
  const acts = [];
  if (team.withdrawn) {
    acts.push(keyed(team, "return", "Return…", () => bringBack(team)));
  } else {
    if (team.runs_sessions) {
      row.append(
        handleOf(team),
        mover(team, "↑", -1, `Move ${team.team} up`),
        mover(team, "↓", 1, `Move ${team.team} down`),
      );
      acts.push(keyed(team, "defer", "To the end…", () => putOff(team.team, lookAtSaved), `Put ${team.team} off, to the end`));
    }
    acts.push(
      keyed(team, "slips", "Slip…", () => slips([team.team]), `Slip of ${team.team}`),
      keyed(team, "rename", "Rename…", () => rename(team)),
      keyed(team, "withdraw", "Withdraw…", () => withdraw(team)),
    );
  }
  const menu = menuOf("More", `More for ${team.team}`, ...acts);
  menu.firstElementChild.dataset.key = `More ${team.team}`;
  row.append(menu);
  const cell = make("td", row);
  cell.className = "acts";
  return cell;
}

function mover(team, label, step, spoken) {
  const button = keyed(team, "order", label, () => move(team, step), spoken);
  button.title = "Home: to the front. End: to the end.";
  button.addEventListener("keydown", (event) => moveByKey(event, team));
  return button;
}

function handleOf(team) {
  const handle = make("span", "⠿");
  handle.className = "handle";
  handle.title = "Drag to another place";
  handle.setAttribute("aria-hidden", "true"); // The buttons beside it do the same for all.
  handle.addEventListener("pointerdown", (event) => drag(event, team));
  return handle;
}

function keyed(team, what, label, press, spoken = `${label.replace("…", "")} ${team.team}`) {
  const element = buttonOf(label);
  enable(element, true, what === "slips" ? what : `${what} team`);
  element.dataset.key = `${label} ${team.team}`;
  element.setAttribute("aria-label", spoken);
  element.addEventListener("click", press);
  return element;
}

// Show a team at another place, as a draft: `to` is a place, or "first" or "last".
function place(team, to) {
  const names = draft ?? runnerNames();
  const next = moved(names, team, to);
  if (next === names) return;
  draft = next;
  render();
}

const move = ({ team }, step) => place(team, (draft ?? runnerNames()).indexOf(team) + step);

// Home and End on one of a team's buttons that move it: to the front, and to the end.
function moveByKey(event, { team }) {
  const to = { Home: "first", End: "last" }[event.key];
  if (!to) return;
  event.preventDefault();
  place(team, to);
}

// A row follows the pointer by its handle; the order is a draft until it is saved.
function drag(event, { team }) {
  if (event.button !== 0) return;
  event.preventDefault();
  dragged(event.pointerId, $("teams"), (to) => place(team, Math.min(to, runnerNames().length - 1)));
}

// A later order needs a reason; the first one does not.
const reasonField = () => ({
  name: "reason", label: roster.order ? "Reason for the new order" : "Reason (optional)",
  optional: !roster.order,
});

function save() {
  const teams = draft;
  ask({ text: "Save this running order?", yes: "Save it", fields: [reasonField()] },
    (answer) => ["teams/order", { ...answer, teams }], lookAtSaved);
}

function lookAtSaved() {
  draft = null;
  return look();
}

function lottery() {
  ask({
    text: "Draw the running order by lottery? The seed decides the order. Let the audience choose the seed.",
    yes: "Draw",
    fields: [{ name: "seed", label: "Seed" }, reasonField()],
  }, (answer) => ["teams/lottery", answer], lookAtSaved);
}

function rename({ team, login }) {
  ask({
    text: `Rename '${team}'? Its login ${login}, password, place and sessions stay. Its old name still logs in.`,
    yes: "Rename",
    fields: [{ name: "new_name", label: "New name", value: team }],
  }, (answer) => ["teams/rename", { ...answer, team }], look);
}

function withdraw({ team }) {
  ask({
    text: `Withdraw '${team}' from the event? Its sessions stay on record, without a rank.`,
    yes: "Withdraw it",
    fields: [{ name: "reason", label: "Reason" }],
    destroys: true,
  }, (answer) => ["teams/withdraw", { ...answer, team }], look);
}

function bringBack({ team }) {
  ask({
    text: `Let '${team}' take part again?`,
    yes: "Bring it back",
    fields: [{ name: "reason", label: "Reason" }],
  }, (answer) => ["teams/return", { ...answer, team }], look);
}

function add() {
  const lanes = roster.lanes.filter(({ name }) => name);
  ask({
    text: "Register a team? One registration is one solution.",
    yes: "Register it",
    fields: [
      { name: "team", label: "Name" },
      { name: "login", label: "Login (empty: made from the name)", optional: true },
      { name: "organisation", label: "Organisation (optional)", optional: true },
      { name: "prizes", label: "Prizes", choices: [["yes", "takes prizes"], ["no", "declines prizes"]] },
      { name: "sessions", label: "What it does",
        choices: [["yes", "runs sessions"], ["no", "submits models only"]] },
      ...(lanes.length ? [{ name: "lane", label: "Lane", optional: true,
        choices: [["", "any"], ...lanes.map(({ name }) => [name, name])] }] : []),
    ],
  }, (answer) => {
    const yes = { prizes: answer.prizes === "yes", sessions: answer.sessions === "yes" };
    return ["teams/add", { ...answer, ...yes }];
  }, look);
}

// A dialog has a name, so that the same one answered twice makes one set of passwords.
function byChance() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function slips(teams) {
  const once = byChance();
  const who = teams.length === 1 ? `'${teams[0]}'` : `all ${teams.length} teams`;
  ask({
    text: `Make NEW passwords for ${who}, and slips to print? Earlier passwords stop working.`,
    yes: "Make slips",
    fields: [
      { name: "wifi_name", label: "Wi-Fi name (leave empty for a cable)", optional: true },
      { name: "wifi_password", label: "Wi-Fi password", optional: true },
    ],
    destroys: true,
  }, (answer) => ["teams/slips", { ...answer, teams, once }], (done) => {
    showSlips(done);
    return look();
  });
}

function showSlips({ page, made }) {
  const link = make("a", "Open and print them");
  link.href = page;
  link.target = "_blank";
  const count = made === 1 ? "1 slip has a new password." : `${made} slips have new passwords.`;
  $("slips-text").replaceChildren(`${count} `, link, ". The link works for ten minutes.");
  $("slips-text").hidden = false;
}

closeMenusByThemselves();
$("add").addEventListener("click", add);
$("slips").addEventListener("click", () => slips(present()));
$("lottery").addEventListener("click", lottery);
$("save").addEventListener("click", save);
$("discard").addEventListener("click", () => {
  draft = null;
  render();
});
