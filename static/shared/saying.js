// SPDX-License-Identifier: Apache-2.0
// The bar at the foot of a page: why an action was refused, in view whatever the page shows, and read
// aloud. It stays until the next action, or until somebody dismisses it.

import { $, make, show } from "./page.js";
import { buttonOf } from "./parts.js";

const SLOW_MS = 1000;

function bar() {
  const text = Object.assign(make("p"), { id: "refusal" });
  text.setAttribute("role", "alert");
  const done = Object.assign(buttonOf("Dismiss"), { id: "dismiss", hidden: true });
  const made = Object.assign(make("div", text, done), { id: "said" });
  made.addEventListener("click", () => say(""));
  return made;
}

const foot = document.querySelector("#calm");
if (foot) foot.before(bar());
else document.body.append(bar());

export function say(text, kind = "") {
  show("refusal", text);
  $("refusal").className = kind;
  $("dismiss").hidden = text === "" || kind !== "";
}

// Take the last refusal away, and say that the desk is asked if that lasts. Returns what ends it.
export function sayWhileAsking() {
  say("");
  const slow = setTimeout(say, SLOW_MS, "Asking the desk…", "asking");
  return () => clearTimeout(slow);
}
