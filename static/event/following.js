// SPDX-License-Identifier: Apache-2.0
// A page that follows a JSON document of the desk, and says when the connection is lost.

import { lostText } from "../shared/format.js";
import { $, show } from "../shared/page.js";
import { logInAgain } from "../shared/person.js";

const EVERY_MS = 800;
const WAIT_MS = 4000;

// Fetch the document now and again for ever; call `take` with each that differs from the last.
// A function in place of the address is asked for it each time.
// Returns a function that fetches at once.
export function followDocument(address, take) {
  const url = typeof address === "function" ? address : () => address;
  let last = "";
  let timer = 0;
  let number = 0;
  let heardMs = performance.now();

  async function look() {
    clearTimeout(timer);
    number += 1;
    const mine = number;
    try {
      const response = await fetch(url(), { signal: AbortSignal.timeout(WAIT_MS) });
      if (response.status === 401) {
        await logInAgain();
        return look();
      }
      const text = await response.text();
      if (!response.ok) throw new Error(JSON.parse(text).text);
      // A later look was faster: its document is the newer one.
      if (mine !== number) return;
      heardMs = performance.now();
      tell("live", "");
      if (text !== last) {
        last = text;
        take(JSON.parse(text));
      }
    } catch (error) {
      if (mine !== number) return;
      tell(`${lostText((performance.now() - heardMs) / 1000)} (${error.message})`, "lost");
    }
    timer = setTimeout(look, EVERY_MS);
  }

  look();
  return look;
}

function tell(text, kind) {
  show("connection", text);
  $("connection").className = kind;
  document.body.classList.toggle("silent", kind === "lost");
}
