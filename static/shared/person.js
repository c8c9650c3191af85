// SPDX-License-Identifier: Apache-2.0
// Who uses this page: the name and a way out in the page's head, and a dialog when a login has
// ended. What somebody has typed stays where it is.

import { postOnce } from "./asking.js";
import { openDialog } from "./dialog.js";
import { make } from "./page.js";

const USED_MS = 60_000;

let me = null; // what the desk last said about this page's visitor
let waiting = null; // the promise of the open login dialog
let usedAt = -USED_MS;

// The name under which actions go on record, or "" while the console has no logins.
export const personName = () => me?.name ?? "";

const FORBIDDEN = "Only an operator may do this. Log in under another name.";

// Enable a button if it makes sense now and its action is one that the visitor may do. The desk's
// table of roles decides that; `action` is the action's name in the audit log.
export function enable(element, sensible, action) {
  element.dataset.action = action;
  element.dataset.sensible = sensible;
  weigh(element);
}

function weigh(element) {
  const allowed = me === null || me.may.includes(element.dataset.action);
  element.disabled = !allowed || element.dataset.sensible !== "true";
  if (!allowed) element.title = FORBIDDEN;
  else if (element.dataset.allowed === "false") element.title = "";
  element.dataset.allowed = allowed;
}

// Ask who this page's visitor is; without a login ask for one.
export async function look() {
  const response = await fetch("me");
  if (!response.ok) return;
  me = await response.json();
  showPerson();
  if (me.logins && !me.name) await logInAgain();
}

const place = make("p");
place.id = "person";

function showPerson() {
  document.body.dataset.role = me.role;
  document.querySelectorAll("[data-action]").forEach(weigh);
  place.className = me.logins ? "" : "open";
  if (!me.logins) {
    place.textContent = "no login needed";
    place.title = "No operator is registered, so anybody at this laptop may act. "
      + "To change that, run: referee operator add NAME --role operator";
    return;
  }
  const leave = make("button", "Log out");
  leave.type = "button";
  leave.addEventListener("click", logOut);
  place.title = me.role === "assistant" ? "An assistant may watch, write notes and acknowledge." : "";
  place.replaceChildren(make("strong", me.name), ` ${me.role} `, leave);
}

async function logOut() {
  await postOnce("logout", {});
  location.assign("login");
}

// Ask for name and password above the page as it is; resolve when somebody has logged in.
export function logInAgain() {
  waiting ??= askForLogin().finally(() => { waiting = null; });
  return waiting;
}

function askForLogin() {
  return openDialog({
    id: "login",
    text: "Your login has ended. Log in again to continue. The page stays as it is.",
    yes: "Log in",
    no: "", // without a login the desk answers nothing
    fields: [
      { name: "name", label: "Name", autocomplete: "username", maxLength: 100,
        value: me?.name || sessionStorage.getItem("person") || "" },
      { name: "password", label: "Password", type: "password", autocomplete: "current-password" },
    ],
    refused: begin,
  });
}

// Begin a login; return what is wrong, or "".
async function begin(login) {
  try {
    const { ok, answer } = await postOnce("login", login);
    if (!ok) return answer.text;
    me = await (await fetch("me")).json();
    sessionStorage.setItem("person", me.name);
    showPerson();
    return "";
  } catch (error) {
    return `The desk does not answer (${error.message}). Try again.`;
  }
}

// Somebody at the page keeps the login; a page that only shows things does not.
function used() {
  if (!me?.name || waiting || performance.now() - usedAt < USED_MS) return;
  usedAt = performance.now();
  look();
}

document.querySelector("header .top")?.append(place);
for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, used, { passive: true });
look();
