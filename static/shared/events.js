// SPDX-License-Identifier: Apache-2.0
// The stream of events that the desk sends to an open page.

import { look } from "./person.js";

const REOPEN_MS = 2000;

// Call the handler of each event with the event's data; `handlers` has them by the event's name.
// A browser gives up after a refusal; this opens the stream again.
export function listen(url, handlers) {
  const events = new EventSource(url);
  for (const [name, handle] of Object.entries(handlers)) {
    events.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  }
  events.addEventListener("error", () => {
    if (events.readyState !== EventSource.CLOSED) return;
    // The login may have ended. While the desk does not answer at all, nobody is asked.
    look().catch(() => {}).finally(() => setTimeout(listen, REOPEN_MS, url, handlers));
  });
}
