// SPDX-License-Identifier: Apache-2.0
// The page of one team: its result, the course of its session, its curves, and later its mistakes.

import { $, fill, make, show } from "../shared/page.js";
import { follow } from "./stream.js";

const name = decodeURIComponent(location.pathname.split("/team/")[1] ?? "");
let shownSession = null;
let shownMisses = null;

function pair([label, text]) {
  const made = make("div", make("dd", text), make("dt", label));
  made.className = "pair";
  return made;
}

function showTeam({ view, key }) {
  const entry = view.entries.find((one) => one.team === name);
  document.title = `${name}: ${view.contest}`;
  show("team", name);
  show("state", view.state);
  $("state").className = `badge ${view.state}`;
  if (entry === undefined) {
    show("word", "No team has this name now. The scoreboard lists all of them.");
    fill("figures", [], pair);
    $("session").hidden = true;
    $("misses-box").hidden = true;
    return;
  }
  show("place", entry.organisation);
  show("word", entry.word);
  fill("figures", view.team_columns.map(({ field, head }) => [head, entry.printed[field]]), pair);
  const session = entry.verdict === null ? null : entry.session;
  $("session").hidden = session === null;
  if (session !== null && session !== shownSession) {
    for (const what of ["course", "curves"]) $(what).src = `/sessions/${session}/${what}.svg`;
  }
  shownSession = session;
  showMisses(view.state === "FINAL" ? session : null, key);
}

async function showMisses(session, key) {
  $("misses-box").hidden = session === null;
  if (session === null || shownMisses === key) return;
  shownMisses = key;
  const response = await fetch(`/sessions/${session}/misses`);
  if (!response.ok) {
    $("misses-box").hidden = true;
    shownMisses = null;
    return;
  }
  const { captions } = await response.json();
  $("misses-box").hidden = captions.length === 0;
  fill("misses", captions, (caption, place) => {
    const picture = make("img");
    picture.loading = "lazy";
    picture.alt = caption;
    picture.src = `/sessions/${session}/misses/${place}.png`;
    return picture;
  });
}

$("curves").addEventListener("error", () => { $("curves").parentElement.hidden = true; });
$("curves").addEventListener("load", () => { $("curves").parentElement.hidden = false; });
follow("/events", { view: showTeam });
