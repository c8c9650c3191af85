// SPDX-License-Identifier: Apache-2.0
// What operators do. Each action happens once, the page asks back before one that hurts, and a
// refusal is told in words.

import { $, show } from "../shared/page.js";

let formKey = "";
let busy = false;

export const isBusy = () => busy;

async function keyOf() {
  if (!formKey) {
    const response = await fetch("form-key");
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    formKey = (await response.json()).key;
  }
  return formKey;
}

async function post(path, body) {
  return fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Form-Key": await keyOf() },
    body: JSON.stringify(body),
  });
}

export function say(text, kind = "") {
  show("refusal", text);
  $("refusal").className = kind;
}

// Ask the desk to do something, then call `after` with its answer, or with null where there is none.
// Until then further clicks do nothing.
export async function act(path, body, after) {
  if (busy) return;
  busy = true;
  say("Asking the desk…", "asking");
  let answer = null;
  try {
    let response = await post(path, body);
    answer = await response.json();
    if (answer.code === "form_key_wrong") {
      // Since this page was opened, somebody made the contest's folder anew.
      formKey = "";
      response = await post(path, body);
      answer = await response.json();
    }
    if (!response.ok) {
      say(answer.text);
      answer = null;
    } else {
      say("");
    }
  } catch (error) {
    say(`The desk does not answer (${error.message}). Look whether it was done before you try again.`);
  }
  try {
    await after(answer);
  } finally {
    busy = false;
  }
}

// Ask back in a dialog; resolve to the reason ("" where none is asked for), or to null when it is
// left alone.
export function confirmed({ text, yes, no, withReason }) {
  const dialog = $("confirm");
  show("confirm-text", text);
  show("confirm-yes", yes);
  show("confirm-no", no);
  $("confirm-yes").className = withReason ? "destroys" : "ends";
  $("reason-label").hidden = !withReason;
  $("reason").required = withReason;
  $("reason").value = "";
  showReasonMissing(false);
  dialog.returnValue = "";
  dialog.showModal();
  $(withReason ? "reason" : "confirm-no").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      resolve(dialog.returnValue === "yes" ? $("reason").value.trim() : null);
    }, { once: true });
  });
}

// The dialog says by itself what is missing: a browser's own bubble would lie over its buttons.
function showReasonMissing(missing) {
  show("reason-missing", missing ? "Please give a reason first." : "");
  $("reason").setAttribute("aria-invalid", String(missing));
}

$("confirm").querySelector("form").addEventListener("submit", (event) => {
  const missing = $("reason").required && !$("reason").value.trim();
  showReasonMissing(missing);
  if (!missing) return;
  event.preventDefault();
  $("reason").focus();
});
$("reason").addEventListener("input", () => showReasonMissing(false));
$("confirm-no").addEventListener("click", () => $("confirm").close(""));
// A double click on the button that opens the dialog must not answer it too.
$("confirm-yes").addEventListener("click", (event) => {
  if (event.detail > 1) event.preventDefault();
});
