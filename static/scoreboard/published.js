// SPDX-License-Identifier: Apache-2.0
// What a page of the audience shows, from files that `referee publish` wrote. One small file, the pointer,
// names the others. They are scripts, because a page that was opened from a disk may read nothing else.

import { momentText, timeText } from "../shared/format.js";
import { $, show } from "../shared/page.js";

// What is final or old may change all the same, and nobody waits for it.
const SELDOM_S = 60;
const OLD_MS = 3_600_000;
// So often a page looks that has no state yet.
const BEGIN_S = 10;
const ANSWER_MS = 15_000;
// A page that is so far behind while sessions run says that it is.
const LATE_STEPS = 6;
const OLDEST_MS = 600_000;
const DAY_S = 86_400;

const onDisk = () => location.protocol === "file:";

// The address of a file of the site from a page of it; `pointer` is that of the pointer without its end.
const inSite = (pointer, path) => pointer.slice(0, pointer.lastIndexOf("/") + 1) + path;

// By how much this machine's clock is behind that of whoever sent an answer. A cache says how old it is.
export function behindOf(headers, nowMs) {
  const told = Date.parse(headers.get("Date") ?? "");
  return Number.isNaN(told) ? 0 : told + 1000 * Number(headers.get("Age") ?? 0) - nowMs;
}

// How old a state is; one that seems to come from the future, or from long ago, tells of a wrong clock.
export function ageOf(utc, nowMs) {
  const age = nowMs - Date.parse(utc);
  return age > 0 && age < OLDEST_MS ? age : 0;
}

// All viewers ask for the same address during one step, and for another in the next: a cache between them
// and the site then holds a state for a step at most, whatever it was told.
export const stepOf = (nowMs, everyS) => Math.floor(nowMs / 1000 / everyS);

// The seconds until a page that holds a state looks for the next one. A site that is renewed says how often.
export function restS(state, nowMs) {
  const isOld = state.state === "FINAL" || nowMs - Date.parse(state.utc) > OLD_MS;
  return isOld ? Math.max(SELDOM_S, state.every_s ?? 0) : state.every_s ?? SELDOM_S;
}

// Run a script and return what it hands to `published`.
function scriptOf(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const end = (settle) => (event) => {
      clearTimeout(timer);
      script.remove();
      settle(event);
    };
    const timer = setTimeout(end(() => reject(new Error(`${address} does not come`))), ANSWER_MS);
    script.onerror = end(() => reject(new Error(`${address} cannot be had`)));
    // Some hosts answer for a file that they do not have with a page, which hands over nothing.
    script.onload = end(() => {
      if (script.handed) resolve(script.handed);
      else reject(new Error(`${address} is something else`));
    });
    script.src = address;
    document.head.append(script);
  });
}

// What a page holds of a site: a state with the contents that it names.
class Site {
  state = null;
  view = null;
  now = null;
  mine = null;
  behindMs = 0;
  failed = 0; // so many looks in a row

  constructor(pointer, team) {
    this.pointer = pointer;
    this.team = team;
  }

  nowMs = () => Date.now() + this.behindMs;
  everyS = () => (this.state ? restS(this.state, this.nowMs()) : BEGIN_S);
  address = (path) => inSite(this.pointer, path);

  async pointed() {
    const step = stepOf(Date.now(), this.everyS());
    if (onDisk()) return scriptOf(`${this.pointer}.js?n=${step}`);
    const asked = { cache: "no-cache", signal: AbortSignal.timeout(ANSWER_MS) };
    const response = await fetch(`${this.pointer}.json?n=${step}`, asked);
    if (!response.ok) throw new Error(`${response.status}`);
    this.behindMs = behindOf(response.headers, Date.now());
    return response.json();
  }

  // A content of the site, which never changes. One that could not be had may be on its way: a cache that
  // remembers the failure is asked by another address.
  async part(path, old) {
    if (old?.path === path) return old;
    return { path, content: await scriptOf(this.address(path) + (this.failed ? `?n=${this.failed}` : "")) };
  }

  // Take a state whole, or not at all; return what of it is new.
  async take(state) {
    const shown = await this.part(state.files.view, this.view);
    const now = await this.part(state.files.now, this.now);
    const own = shown.content.teams[this.team]?.data;
    const mine = own ? await this.part(own, this.mine) : null;
    const news = { view: shown !== this.view || mine !== this.mine, now: now !== this.now };
    Object.assign(this, { state, view: shown, now, mine });
    return news;
  }

  async look(handlers) {
    try {
      const state = await this.pointed();
      const news = state.key === this.state?.key ? {} : await this.take(state);
      this.failed = 0;
      if (news.view) handlers.view?.(this.view.content);
      if (!news.now) return;
      handlers.live?.(this.now.content.live);
      handlers.race?.(this.now.content.race);
    } catch {
      this.failed += 1;
    }
  }

  tell() {
    const [text, kind] = this.state ? this.told() : ["connecting…", ""];
    const isLost = this.state === null && this.failed > 0;
    show("connection", isLost ? "the results cannot be had now; this page goes on trying" : text);
    $("connection").className = isLost ? "lost" : kind;
  }

  told() {
    const moment = new Date(this.state.utc);
    const ageS = (this.nowMs() - moment) / 1000;
    const isRunning = this.now.content.live.sessions.length > 0;
    const isLate = this.failed > 0 || (isRunning && ageS > LATE_STEPS * this.everyS());
    const when = ageS > DAY_S / 2 ? momentText(moment) : timeText(moment);
    return [`${this.failed ? "no newer state can be had: " : ""}as of ${when}`, isLate ? "lost" : ""];
  }

  // Look again and again. A page that nobody sees asks for nothing.
  follow(handlers) {
    let waiting = 0;
    const step = async () => {
      waiting = null;
      await this.look(handlers);
      this.tell();
      waiting = document.hidden ? 0 : setTimeout(step, 1000 * this.everyS());
    };
    document.addEventListener("visibilitychange", () => { if (!document.hidden && waiting === 0) step(); });
    step();
  }
}

export function published(pointer, team) {
  window.published = (content) => { document.currentScript.handed = content; };
  const site = new Site(pointer, team);
  const linkOf = (path) => (path ? site.address(path) : null);
  const pairOf = (pair) => (pair ? { wide: site.address(pair.wide), narrow: site.address(pair.narrow) } : null);
  const missOf = ({ caption, picture }) => ({ caption, picture: site.address(picture) });
  return {
    team,
    follow: (handlers) => site.follow(handlers),
    chart: (name) => pairOf(site.view.content.charts[name]),
    teamPage: (name) => site.address(site.view.content.teams[name].page),
    session: () => ({
      picture: (what) => pairOf(site.mine?.content.pictures[what]),
      link: (part) => linkOf(site.mine?.content.links[part]),
      misses: async () => site.mine?.content.misses.map(missOf) ?? null,
    }),
    ageMs: () => ageOf(site.state.utc, site.nowMs()),
    clockBehindMs: async () => site.behindMs,
  };
}
