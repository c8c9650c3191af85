// SPDX-License-Identifier: Apache-2.0
// Requests to the desk: a change carries the page's key, and a login that has ended is begun again.

let formKey = "";

async function keyOf() {
  if (!formKey) {
    const response = await fetch("form-key");
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    formKey = (await response.json()).key;
  }
  return formKey;
}

async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Form-Key": await keyOf() },
    body: JSON.stringify(body),
  });
  return { ok: response.ok, answer: await response.json() };
}

// Post a change; resolve to { ok, answer }.
export async function postOnce(path, body) {
  const done = await post(path, body);
  if (done.answer.code !== "form_key_wrong") return done;
  // Since this page was opened, somebody made the contest's folder anew.
  formKey = "";
  return post(path, body);
}
