// SPDX-License-Identifier: Apache-2.0
// The card of a session that is on: team, clock, place, figures, and its race line.

import { node } from "../shared/curve.js";
import { figure, points } from "../shared/format.js";
import { make, put as putText } from "../shared/page.js";
import { figureOf, nameOf, showAbout } from "../shared/parts.js";
import { raceOf, topOf } from "./race.js";
import { clockOf, placeOf, words } from "./running.js";

const FIGURES = ["accuracy", "power", "energy", "score", "images"];

const named = (tag, name, ...content) => {
  const made = make(tag, ...content);
  made.className = name;
  made.dataset.figure = name;
  return made;
};

export function cardOf(session, figures) {
  const labels = [figures.accuracy.label, "watts", "Wh", figures.score.label, "images"];
  const values = FIGURES.map((name, place) => {
    const made = figureOf({ label: labels[place], value: "–" });
    made.querySelector(".value").dataset.figure = name;
    return made;
  });
  const clock = named("div", "clock", "");
  clock.setAttribute("role", "timer");
  const team = nameOf(session.team, "div");
  team.classList.add("team");
  const gap = make("div", named("span", "when", ""), named("p", "gap"));
  const place = make("div", named("span", "place", ""), gap);
  place.className = "standing-now";
  const made = make("article", named("div", "word", ""), team, clock, place, raceBox(), Object.assign(make("div", ...values), { className: "figures" }));
  made.className = "run";
  made.dataset.session = session.session;
  return made;
}

function raceBox() {
  const lines = node("svg", { "viewBox": "0 0 100 100", "preserveAspectRatio": "none" });
  for (const name of ["other", "own"]) lines.append(node("path", { "class": name }));
  const dots = node("svg", { "class": "dots" });
  dots.append(node("circle", { "data-figure": "dot" }));
  const plot = make("div", lines, dots, named("span", "top", ""));
  plot.className = "plot";
  const made = make("div", plot, named("p", "pace", ""));
  made.className = "race";
  made.setAttribute("role", "img");
  return made;
}

// A figure of 0 is a figure; what is missing is a dash.
export function showCard(card, session, { view, live, race }) {
  const find = (name) => card.querySelector(`[data-figure=${name}]`);
  const put = (name, text) => {
    const found = find(name);
    putText(found, text);
  };
  const course = race.courses.find((one) => one.session === session.session)?.points ?? [];
  const place = placeOf(session, view.entries, live.sessions);
  put("word", words(session));
  put("place", place ? place.text : "");
  put("when", place ? "if it ended now" : waitingText(session));
  showAbout(find("gap"), place?.distance ? [`${place.distance} `, place.other, ""] : null);
  put("accuracy", figure(session.mean_ap, 3));
  put("power", points(session.power_w, 3));
  put("energy", points(session.energy_wh, 3));
  put("score", session.score_text);
  put("images", `${session.images_fetched}/${session.images}`);
  card.classList.toggle("first", place?.place === 1);
  showRace(card, put, raceOf(session, course, race.leader, topOf(live.sessions, race)));
}

const waitingText = ({ state }) => (state === "ARMED" ? "the next one to run" : "");

function showRace(card, put, found) {
  card.querySelector("path.own").setAttribute("d", found.own);
  card.querySelector("path.other").setAttribute("d", found.other);
  const dot = card.querySelector("circle");
  dot.setAttribute("visibility", found.at ? "visible" : "hidden");
  dot.setAttribute("cx", `${found.at?.x ?? 0}%`);
  dot.setAttribute("cy", `${found.at?.y ?? 0}%`);
  put("top", found.own || found.other ? found.top : "");
  const said = found.pace ? [`${found.pace.text} on `, found.pace.team, " at this second"] : null;
  const text = said ? said.join("") : "";
  showAbout(card.querySelector(".pace"), said);
  card.querySelector(".pace").classList.toggle("ahead", found.pace?.ahead ?? false);
  card.querySelector(".race").setAttribute("aria-label", `race line of the score${text ? `: ${text}` : ""}`);
  card.querySelector(".race").classList.toggle("empty", !found.own && !found.other);
}

// Between two events the page itself counts down.
export function tickCard(card, session, passedS) {
  const { text, last } = clockOf(session, passedS);
  const clock = card.querySelector(".clock");
  if (clock.textContent !== text) clock.textContent = text;
  card.classList.toggle("last", last);
}
