// SPDX-License-Identifier: Apache-2.0
// Asking the desk to act: each action happens once, and a refusal is told in words on the page.

import { $, show } from "./page.js";

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
