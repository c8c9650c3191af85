// SPDX-License-Identifier: Apache-2.0
// The line to the desk: what to show comes as a stream of events, and reports go back.

const SILENT_MS = 3000; // The desk says something each second.
const LOOK_MS = 250;
const AGAIN_FIRST_MS = 250;
const AGAIN_MOST_MS = 4000;
const REPORT_MS = 10000; // A report whose answer does not come is made again.
const WAITS_MS = 2000; // A page that does not show lets the one that shows come back first.

// What the page calls itself at each connection, also after it was loaded again: so the desk knows it.
function ownName() {
  const place = `display ${location.pathname}`;
  const random = [...crypto.getRandomValues(new Uint32Array(4))].join("-");
  const name = sessionStorage.getItem(place) ?? random;
  sessionStorage.setItem(place, name);
  return name;
}

// Keep a stream open. `truth` is called with what the page must show now, and with null from the
// moment when the page cannot know it: the stream broke, or was silent, or the laptop slept.
// `hello` is called for each new connection; from then on reports are taken.
export class Link {
  constructor({ hello, truth }) {
    this.hello = hello;
    this.truth = truth;
    this.me = null;
    this.shows = true;
    this.name = ownName();
    this.open();
    setInterval(() => this.look(), LOOK_MS);
    addEventListener("pagehide", () => this.bye());
  }

  open() {
    this.heardAt = performance.now();
    this.events = new EventSource(`${location.pathname}/events?name=${this.name}`);
    this.on("hello", ({ lane, ...me }) => {
      this.me = me;
      this.pauseMs = AGAIN_FIRST_MS;
      this.hello(lane);
    });
    this.on("truth", (truth) => {
      this.shows = !["waiting", "other"].includes(truth.mode);
      this.truth(truth);
    });
    this.on("full", () => this.lose("Too many display pages are open: close one."));
    this.events.addEventListener("error", () => this.lose("The desk does not answer."));
  }

  on(name, handle) {
    const { events } = this;
    events.addEventListener(name, (event) => {
      if (events !== this.events) return;
      this.heardAt = performance.now();
      handle(JSON.parse(event.data));
    });
  }

  // Go black, and try again after a pause that doubles while nobody answers.
  lose(why) {
    if (this.events === null) return;
    this.events.close();
    this.events = null;
    this.me = null;
    this.truth(null, why);
    const pauseMs = this.pauseMs ?? AGAIN_FIRST_MS;
    this.pauseMs = Math.min(2 * pauseMs, AGAIN_MOST_MS);
    setTimeout(() => this.open(), pauseMs + (this.shows ? 0 : WAITS_MS));
  }

  look() {
    if (this.events !== null && performance.now() - this.heardAt > SILENT_MS) {
      this.lose("The desk is silent.");
    }
  }

  // Send a report; return what the desk says against it, and "" if it took the report.
  async report(what, content) {
    if (this.me === null) return "";
    const signal = AbortSignal.timeout(REPORT_MS);
    const response = await fetch(`${location.pathname}/${what}`, { ...this.posted(content), signal });
    return response.ok ? "" : (await response.json()).text;
  }

  // A page that closes says so, because the desk would notice only after seconds.
  bye() {
    if (this.me !== null) fetch(`${location.pathname}/bye`, { ...this.posted({}), keepalive: true });
    this.me = null;
    this.events?.close();
    this.events = null;
  }

  posted(content) {
    return {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...this.me, ...content }),
    };
  }
}
