// SPDX-License-Identifier: Apache-2.0
// A page's world in the hands of a test: a clock that moves when it is told to, and streams of events
// on which the test speaks for the desk.

export function world() {
  const later = globalThis.setTimeout.bind(globalThis);
  const timers = new Map();
  const streams = [];
  let now = 0;
  let made = 0;

  const begin = (everyMs, act, ms = 0, ...rest) => {
    made += 1;
    timers.set(made, { at: now + ms, ms: everyMs ? ms : null, act: () => act(...rest) });
    return made;
  };
  const end = (number) => timers.delete(number);
  globalThis.setTimeout = begin.bind(null, false);
  globalThis.setInterval = begin.bind(null, true);
  globalThis.clearTimeout = globalThis.clearInterval = end;
  Object.defineProperty(performance, "now", { value: () => now });

  globalThis.EventSource = class extends EventTarget {
    static CLOSED = 2;

    constructor(url) {
      super();
      this.url = url;
      this.readyState = 1;
      streams.push(this);
    }

    close() {
      this.readyState = 2;
    }

    say(name, data = {}) {
      this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
    }
  };

  // Everything that waits for no clock happens first.
  const settle = () => new Promise((done) => { later(done, 0); });

  async function pass(ms) {
    const until = now + ms;
    await settle();
    for (;;) {
      const due = [...timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at)[0];
      if (!due) break;
      const [number, timer] = due;
      now = timer.at;
      if (timer.ms === null) timers.delete(number);
      else timer.at += timer.ms;
      timer.act();
      await settle();
    }
    now = until;
  }

  return { pass, streams };
}
