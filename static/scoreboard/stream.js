// SPDX-License-Identifier: Apache-2.0
// The stream of events to an open page. It opens itself again, also when the network died silently.

import { $, show } from "../shared/page.js";

const SILENT_MS = 12000;
const REOPEN_MS = 2000;

// Call the handler of each event with the event's data; `handlers` has them by the event's name.
export function follow(url, handlers) {
  let events = null;
  let watchdog = 0;

  function heard() {
    clearTimeout(watchdog);
    watchdog = setTimeout(reopen, SILENT_MS);
  }

  function reopen() {
    events.close();
    tell("no news: connecting again…", "lost");
    setTimeout(open, REOPEN_MS);
  }

  function open() {
    events = new EventSource(url);
    heard();
    for (const [name, handle] of Object.entries(handlers)) {
      events.addEventListener(name, (event) => {
        heard();
        tell("live", "");
        handle(JSON.parse(event.data));
      });
    }
    events.addEventListener("alive", () => { heard(); tell("live", ""); });
    events.addEventListener("trouble", () => {
      heard();
      tell("the referee cannot read its records now", "lost");
    });
    events.addEventListener("error", () => {
      tell("no news: connecting again…", "lost");
      // A browser gives up after a refusal, and after nothing else.
      if (events.readyState === EventSource.CLOSED) setTimeout(reopen, REOPEN_MS);
    });
  }

  open();
}

function tell(text, kind) {
  show("connection", text);
  $("connection").className = kind;
}
