// SPDX-License-Identifier: Apache-2.0
// The stream of events to an open page. It opens itself again, also when the network died silently.

import { lostText } from "../shared/format.js";
import { Held } from "../shared/held.js";
import { $, show } from "../shared/page.js";

const SILENT_MS = 12000;
const REOPEN_MS = 2000;
const TELL_MS = 1000;

// Call the handler of each event with the event's data; `handlers` has them by the event's name. A
// function in place of the address is asked for it each time. A handler that returns false cannot use
// what came: the stream is opened again.
export function follow(url, handlers) {
  const address = typeof url === "function" ? url : () => url;
  let events = null;
  let watchdog = 0;
  let heardMs = performance.now();
  let isLost = false;

  function heard() {
    heardMs = performance.now();
    isLost = false;
    watch();
  }

  function watch() {
    clearTimeout(watchdog);
    watchdog = setTimeout(reopen, SILENT_MS);
  }

  // The time since then goes on until something is heard.
  function lose() {
    isLost = true;
    tellLost();
  }

  function tellLost() {
    if (isLost) tell(`${lostText((performance.now() - heardMs) / 1000)}, reconnecting…`, "lost");
  }

  function reopen() {
    clearTimeout(watchdog);
    events.close();
    lose();
    setTimeout(open, REOPEN_MS);
  }

  function open() {
    events = new EventSource(address());
    watch();
    const here = events;
    for (const name of new Set([...Object.keys(handlers), "alive"])) {
      here.addEventListener(name, (event) => {
        if (here.readyState === EventSource.CLOSED) return;
        heard();
        tell("live", "");
        if (handlers[name]?.(JSON.parse(event.data)) === false) reopen();
      });
    }
    here.addEventListener("trouble", () => {
      heard();
      tell("the referee cannot read its records at the moment", "lost");
    });
    here.addEventListener("error", () => {
      lose();
      // A browser gives up after a refusal, and after nothing else.
      if (here.readyState === EventSource.CLOSED) setTimeout(reopen, REOPEN_MS);
    });
  }

  open();
  setInterval(tellLost, TELL_MS);
}

// Follow the parts of the scoreboard's document; `handlers` has a function for each of them by its
// name, and is called with a part that has changed. The page holds the document, and gets differences.
export function followParts(url, handlers) {
  const held = new Held();

  function handOn(old) {
    for (const [name, handle] of Object.entries(handlers)) {
      if (held.document[name] !== old?.[name]) handle(held.document[name]);
    }
  }

  follow(() => `${url}?since=${held.number}`, {
    whole: (news) => {
      held.take(news);
      handOn(null);
    },
    change: (news) => {
      const old = held.document;
      if (!held.change(news)) return false;
      handOn(old);
      return true;
    },
    alive: ({ number }) => held.has(number),
  });
}

function tell(text, kind) {
  show("connection", text);
  $("connection").className = kind;
}
