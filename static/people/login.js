// SPDX-License-Identifier: Apache-2.0
// The login page: it leads back to the page that somebody wanted.

import { postOnce } from "../shared/asking.js";
import { $, show } from "../shared/page.js";

const form = $("login");
const { name, password } = form.elements;

// Only a path of this console: another site's address would start with two slashes or a scheme.
function wanted() {
  const next = new URLSearchParams(location.search).get("next") ?? "/";
  return /^\/(?![/\\])/.test(next) ? next : "/";
}

async function look() {
  const me = await (await fetch("me")).json();
  show("contest", me.contest);
  // Somebody who followed a link from elsewhere is logged in, although the first request was not.
  if (me.name || !me.logins) location.replace(wanted());
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const { ok, answer } = await postOnce("login", { name: name.value, password: password.value });
    if (ok) {
      location.replace(wanted());
      return;
    }
    show("refusal", answer.text);
  } catch (error) {
    show("refusal", `The desk does not answer (${error.message}). Try again.`);
  }
  password.select();
});

name.focus();
look();
