// SPDX-License-Identifier: Apache-2.0
// What a page of the audience shows, from the scoreboard's server.

import { behindMs } from "./pause.js";
import { followParts } from "./stream.js";

// A picture has an address for each width of the window.
const pair = (address) => ({ wide: address, narrow: `${address}${address.includes("?") ? "&" : "?"}narrow` });

// The page of a team lies below the server's root, and the scoreboard in it.
export function served() {
  const isTeam = document.body.classList.contains("team-page");
  const root = isTeam ? "/" : "";
  return {
    team: isTeam ? decodeURIComponent(location.pathname.split("/team/")[1] ?? "") : "",
    follow: (handlers) => followParts(`${root}events`, handlers),
    chart: (name, key) => pair(`${root}charts/${name}.svg?v=${key}`),
    teamPage: (name) => `${root}team/${encodeURIComponent(name)}`,
    session: (number) => ({
      picture: (what) => pair(`${root}sessions/${number}/${what}.svg`),
      link: (part) => `${root}sessions/${number}/${part}`,
      misses: () => missesOf(`${root}sessions/${number}/misses`),
    }),
    ageMs: () => 0,
    clockBehindMs: async () => {
      const response = await fetch(`${root}live`, { cache: "no-store" });
      return behindMs(response.headers.get("Date"), Date.now());
    },
  };
}

async function missesOf(address) {
  const response = await fetch(address);
  if (!response.ok) return null;
  const { captions } = await response.json();
  return captions.map((caption, place) => ({ caption, picture: `${address}/${place}.png` }));
}
