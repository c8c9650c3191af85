// SPDX-License-Identifier: Apache-2.0
// What a page of the audience shows, from files that `referee publish` wrote. One small file, the pointer,
// names the others. They are scripts, because a page that was opened from a disk may read nothing else.

import { momentText, timeText } from "../shared/format.js";
import { $, show } from "../shared/page.js";

// A site that nobody renews may be published again all the same.
const SELDOM_S = 60;
const ANSWER_MS = 15_000;
// A page that is so far behind while sessions run says that it is.
const LATE_STEPS = 6;
const OLDEST_MS = 600_000;

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
    script.onload = end(() => resolve(script.handed));
    script.src = address;
    document.head.append(script);
  });
}

export function published(pointer, team) {
  window.published = (content) => { document.currentScript.handed = content; };
  const held = { state: null, everyS: SELDOM_S, paths: {}, view: null, now: null, mine: null, behindMs: 0 };
  let handlers = {};
  let failed = 0;

  async function pointed() {
    const step = stepOf(Date.now(), held.everyS);
    if (onDisk()) return scriptOf(`${pointer}.js?n=${step}`);
    const response = await fetch(`${pointer}.json?n=${step}`,
      { cache: "no-cache", signal: AbortSignal.timeout(ANSWER_MS) });
    if (!response.ok) throw new Error(`${response.status}`);
    held.behindMs = behindOf(response.headers, Date.now());
    return response.json();
  }

  // A file that could not be had may be on its way: a cache that remembers the failure is asked by another
  // address.
  const file = (path) => scriptOf(inSite(pointer, path) + (failed ? `?n=${failed}` : ""));

  async function part(name, path, old) {
    return held.paths[name] === path ? old : { path, content: await file(path) };
  }

  // Take a state whole, or not at all.
  async function take(state) {
    const view = await part("view", state.files.view, held.view);
    const now = await part("now", state.files.now, held.now);
    const place = view.content.teams[team]?.data;
    const mine = place ? await part("mine", place, held.mine) : null;
    const old = { view: held.view, now: held.now, mine: held.mine };
    Object.assign(held, { state, view, now, mine, everyS: state.every_s ?? SELDOM_S });
    held.paths = { view: view.path, now: now.path, mine: mine?.path };
    if (view !== old.view || mine !== old.mine) handlers.view?.(view.content);
    if (now === old.now) return;
    handlers.live?.(now.content.live);
    handlers.race?.(now.content.race);
  }

  const ageMs = () => (held.state ? ageOf(held.state.utc, Date.now() + held.behindMs) : 0);

  function tell() {
    if (held.state === null) {
      show("connection", failed ? "the results cannot be had at the moment; this page goes on trying" : "connecting…");
      $("connection").className = failed ? "lost" : "";
      return;
    }
    const moment = new Date(held.state.utc);
    const isOld = Date.now() + held.behindMs - moment > 43_200_000;
    const isRunning = held.now.content.live.sessions.length > 0;
    const isLate = failed > 0 || (isRunning && Date.now() + held.behindMs - moment > LATE_STEPS * 1000 * held.everyS);
    show("connection", `${failed ? "no newer state can be had: " : ""}as of ${isOld ? momentText(moment) : timeText(moment)}`);
    $("connection").className = isLate ? "lost" : "";
  }

  let waiting = 0;

  async function look() {
    clearTimeout(waiting);
    waiting = 0;
    try {
      const state = await pointed();
      if (state.key !== held.state?.key) await take(state);
      failed = 0;
    } catch {
      failed += 1;
    }
    tell();
    // A page that nobody sees asks for nothing.
    if (!document.hidden) waiting = setTimeout(look, 1000 * held.everyS);
  }

  return {
    team,
    follow: (given) => {
      handlers = given;
      document.addEventListener("visibilitychange", () => { if (!document.hidden && !waiting) look(); });
      look();
    },
    chart: (name) => pairOf(pointer, held.view.content.charts[name]),
    teamPage: (name) => inSite(pointer, held.view.content.teams[name]?.page ?? ""),
    session: () => ({
      picture: (what) => pairOf(pointer, held.mine?.content.pictures[what]),
      link: (name) => linkOf(pointer, held.mine?.content.links[name]),
      misses: async () => held.mine?.content.misses.map(({ caption, picture }) =>
        ({ caption, picture: inSite(pointer, picture) })) ?? null,
    }),
    ageMs,
    clockBehindMs: async () => held.behindMs,
  };
}

const linkOf = (pointer, path) => (path ? inSite(pointer, path) : null);

const pairOf = (pointer, pair) =>
  (pair ? { wide: inSite(pointer, pair.wide), narrow: inSite(pointer, pair.narrow) } : null);
