// SPDX-License-Identifier: Apache-2.0
// The ceremony: one key leads from scene to scene. The page holds what the hall may see, and no
// more: a scene that is not shown is in no element.

import { cutInMiddle } from "../shared/middle.js";
import { moveFrom, placesIn } from "../shared/motion.js";
import { $, make, show } from "../shared/page.js";
import { logInAgain } from "../shared/person.js";
import { nextText, podiumOf, stepAfter, stepOf, waitingOf } from "./steps.js";

const PROVISIONAL = "The results are PROVISIONAL. Make them final on the page Results, then load "
  + "this page again. A rehearsal on generated results: ceremony?rehearsal";

const rehearsal = new URLSearchParams(location.search).has("rehearsal");
let told = { heads: [], scenes: [] };
let step = 0;

function tagged(tag, name, ...content) {
  const element = make(tag, ...content);
  element.className = name;
  return element;
}

// The team of a line, with the marks of its score: they go wherever its figures go.
function teamOf({ team, organisation, marks }) {
  const name = tagged("span", "team", team);
  name.dir = "auto";
  const said = [name];
  if (organisation) said.push(tagged("small", "", organisation));
  if (marks.length) said.push(tagged("small", "marks", marks.join(" · ")));
  return said;
}

function figuresOf(figures) {
  return figures.length < told.heads.length ? [tagged("span", "why", ...figures)]
    : figures.map((text, n) => tagged("span", "number", text, " ", tagged("small", "", told.heads[n])));
}

function rowOf(line) {
  const row = tagged("li", line.state, tagged("span", "place", line.place),
    tagged("span", "who", ...teamOf(line)), tagged("span", "figures", ...figuresOf(line.figures)));
  row.dataset.team = line.team;
  return row;
}

function nameOf(team) {
  const name = make("li", team);
  name.dir = "auto";
  name.dataset.team = team;
  return name;
}

function waitingName(team) {
  const name = nameOf(team);
  name.className = "name line";
  name.title = team;
  cutInMiddle(name);
  return name;
}

const BODIES = {
  title: () => [],
  ranking: ({ lines, hidden }) => {
    const list = tagged("ol", "ranking", ...lines.map(rowOf));
    Object.assign(list, { tabIndex: 0, ariaLabel: "Ranking, scrolls" });
    if (!hidden.length) return [list];
    const waiting = tagged("section", "waiting", make("h2", "Still to come"), make("ul", ...waitingOf(hidden).map(waitingName)));
    return [list, waiting];
  },
  card: ({ lines: [line], picture }) => {
    const words = tagged("div", "words", ...teamOf(line), tagged("p", "figures", ...figuresOf(line.figures)));
    return picture === null ? [words] : [words, pictureOf(picture)];
  },
  podium: ({ lines }) => podiumOf(lines).map(columnOf),
  prize: ({ winners }) => [tagged("ul", "winners", ...winners.map(nameOf))],
  guest: ({ head, rows }) => (rows.length ? [tableOf(head, rows)] : []),
};
BODIES.end = BODIES.ranking;

const addressOf = (picture) => `ceremony/picture/${picture}${rehearsal ? "?rehearsal" : ""}`;

function pictureOf(picture) {
  const image = make("img");
  image.src = addressOf(picture);
  image.alt = "The winner’s best detection";
  // Without the picture the card stands alone: nothing broken is shown to a hall.
  image.addEventListener("error", () => image.remove());
  return image;
}

function columnOf({ place, lines }) {
  const teams = lines.map((line) => tagged("div", "who", ...teamOf(line), tagged("p", "figures", ...figuresOf(line.figures))));
  const column = tagged("section", `column place-${place}`, ...teams, tagged("p", "step", place));
  return column;
}

function tableOf(head, rows) {
  const heads = head.map((text) => make("th", text));
  const cells = rows.map((row) => make("tr", ...row.map((text) => make("td", text))));
  return make("table", make("thead", make("tr", ...heads)), make("tbody", ...cells));
}

function draw() {
  const scene = told.scenes[step];
  const before = placesIn(document);
  const parts = [make("h1", scene.title)];
  if (scene.text) parts.push(tagged("p", "text", scene.text));
  const body = tagged("div", "body", ...BODIES[scene.kind](scene));
  $("scene").className = scene.kind;
  $("scene").replaceChildren(...parts, body);
  show("keys", nextText(told.scenes, step));
  show("place", `${step + 1} of ${told.scenes.length}`);
  history.replaceState(null, "", `#${step}`);
  const fresh = document.querySelector(".fresh");
  (fresh ?? document.querySelector(".ranking > .settled"))?.scrollIntoView({ block: "center" });
  moveFrom(before, document);
}

function pressed(event) {
  const next = stepAfter(step, event, told.scenes.length);
  if (next === step) return;
  event.preventDefault();
  step = next;
  draw();
}

async function begin() {
  const response = await fetch(`ceremony/scenes${rehearsal ? "?rehearsal" : ""}`, { cache: "no-store" });
  if (response.status === 401) {
    await logInAgain();
    return begin();
  }
  const found = await response.json();
  if (!response.ok) throw new Error(found.text);
  told = found;
  show("contest", told.contest);
  document.title = `${told.contest}: ceremony`;
  $("rehearsal").hidden = !told.rehearsal;
  if (!told.scenes.length) {
    $("scene").replaceChildren(make("h1", told.contest), tagged("p", "text", PROVISIONAL));
    return;
  }
  // The desk draws a picture when it is first asked, which may take seconds: no hall waits for it.
  for (const { picture } of told.scenes) if (picture !== null) fetch(addressOf(picture)).catch(() => {});
  step = stepOf(location.hash, told.scenes.length);
  addEventListener("keydown", pressed);
  draw();
}

begin().catch((error) => {
  $("scene").replaceChildren(make("p", `The desk does not answer (${error.message}). Load the page again.`));
});
