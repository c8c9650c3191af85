// SPDX-License-Identifier: Apache-2.0
// The power of one session as a line, from 0:00 to its end. The page fetches it piece by piece.

import { area, emptyText, minuteMarks, niceTop, node, path, wattLines } from "../shared/curve.js";
import { figure } from "../shared/format.js";
import { $, show } from "../shared/page.js";

const READINGS = 3000; // of more the desk tells one of each time
const FETCH_MS = 1000;

export class Chart {
  // `at` gives the ids of the lane's elements.
  constructor(at) {
    this.at = at;
    this.fetching = false;
    this.forget(null);
  }

  forget(sessionId) {
    this.sessionId = sessionId;
    this.samples = []; // by time: [number of the reading, second of the session, watts or null]
    this.newestId = 0; // the highest of those numbers, which need not rise with the time
    this.topW = 0; // the axis only grows while one session is shown
    this.fetchedAt = -Infinity;
    this.fetchedIn = null; // the session's state at the last fetch; a new state needs another fetch
  }

  // Draw a session and fetch what is new; call this at each news of the session.
  async follow(session, lengthS, gapS) {
    if ((session?.id ?? null) !== this.sessionId) this.forget(session?.id ?? null);
    this.draw(session, lengthS, gapS);
    const done = this.fetchedIn === session?.state && !["RUNNING", "ENDED"].includes(this.fetchedIn);
    if (!session || done || this.fetching || performance.now() - this.fetchedAt < FETCH_MS) return;
    this.fetching = true;
    try {
      const response = await fetch(`sessions/${session.id}/power?after=${this.newestId}`);
      if (!response.ok) return;
      const news = (await response.json()).samples;
      if (session.id !== this.sessionId) return;
      [this.fetchedAt, this.fetchedIn] = [performance.now(), session.state];
      this.newestId = Math.max(this.newestId, ...news.map(([id]) => id));
      this.samples = [...this.samples, ...news].sort((a, b) => a[1] - b[1]);
      this.draw(session, lengthS, gapS);
    } catch {
      // The desk does not answer. The page says so elsewhere, and the next call asks again.
    } finally {
      this.fetching = false;
    }
  }

  draw(session, length, gapS) {
    const to = endOf(session, length);
    const samples = this.samples.filter(([, second]) => second <= to);
    const svg = $(this.at("chart"));
    const watts = samples.map((sample) => sample[2]).filter((value) => value !== null);
    this.topW = Math.max(this.topW, niceTop(Math.max(0, ...watts)));
    const { topW } = this;
    const lowW = Math.min(0, ...watts);
    const on = area(svg, { from: 0, to, low: lowW, top: topW });
    const points = samples.map(([, second, value]) => [second, value]);
    const line = node("path", { class: "power", d: path(points, on.x, on.y, Math.max(gapS, 3 * length / READINGS)) });
    const empty = watts.length ? [] : [emptyText("no readings yet", on)];
    svg.replaceChildren(...wattLines(topW, on), ...minuteMarks(0, to, on), line, ...empty);
    show(this.at("chart-text"), watts.length
      ? `${figure(watts.at(-1), 3)} W now, ${figure(Math.min(...watts), 3)} to `
        + `${figure(Math.max(...watts), 3)} W in the time shown`
      : "no readings yet");
  }
}

// The second where the chart ends: the session's planned end while it may come, then the real one. The
// seconds of a session go on after its end, but no longer count.
export function endOf(session, length) {
  const over = session && !["READY", "ARMED", "RUNNING"].includes(session.state);
  return Math.max(1, over && session.ran_s !== null ? session.ran_s : length);
}
