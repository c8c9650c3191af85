// SPDX-License-Identifier: Apache-2.0
// The stream of events that the desk sends to an open page.

import { look } from "./person.js";

const REOPEN_MS = 2000;

// Call the handler of each event with the event's data; `handlers` has them by the event's name. A
// function in place of the address is asked for it each time. A browser gives up after a refusal; this
// opens the stream again. So it does if a handler returns false, because it cannot use what came.
export function listen(url, handlers) {
  const events = new EventSource(typeof url === "function" ? url() : url);
  const again = () => setTimeout(listen, REOPEN_MS, url, handlers);
  for (const [name, handle] of Object.entries(handlers)) {
    events.addEventListener(name, (event) => {
      if (events.readyState === EventSource.CLOSED) return;
      if (handle(JSON.parse(event.data)) !== false) return;
      events.close();
      again();
    });
  }
  events.addEventListener("error", () => {
    if (events.readyState !== EventSource.CLOSED) return;
    // The login may have ended. While the desk does not answer at all, nobody is asked.
    look().catch(() => {}).finally(again);
  });
}
