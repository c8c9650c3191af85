// SPDX-License-Identifier: Apache-2.0
// The stream of events that the desk sends to an open page.

const REOPEN_MS = 2000;

// Call the handler of an event's name with the event's data. A browser gives up a stream that was
// refused; this opens it again.
export function listen(url, handlers) {
  const events = new EventSource(url);
  for (const [name, handle] of Object.entries(handlers)) {
    events.addEventListener(name, (event) => handle(JSON.parse(event.data)));
  }
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, REOPEN_MS, url, handlers);
  });
}
