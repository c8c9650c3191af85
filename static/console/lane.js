// SPDX-License-Identifier: Apache-2.0
// One lane on the page: its card, its meter, its display, its last result and its buttons.

import { act, askAndAct } from "../shared/acting.js";
import { ageText, clockText, figure } from "../shared/format.js";
import { $, isolated, make, show, showCut, showState } from "../shared/page.js";
import { nameOf, showAbout } from "../shared/parts.js";
import { say } from "../shared/saying.js";
import { enable } from "../shared/person.js";
import { Chart } from "./chart.js";
import { sensibleActs } from "./allowed.js";
import { leftOf } from "./clock.js";
import { stepOf, toArm, toSee } from "./next.js";
import { showSession, showTime } from "./panel.js";
import { QUESTIONS } from "./questions.js";
import { rowParts } from "./wording.js";

const MOVES = ["stop", "void", "rerun", "extra", "note"];
const STEPS = { arm: "arm", seen: "seen", begin: "new", choose: "choose" };

// What the button of that part asks of the desk.
function actionOf(part, session) {
  if (part === "aside") return session?.rehearsal ? "counts" : "rehearsal";
  return { card: "test card" }[part] ?? part;
}

// A line about a result, in which the team's name alone may be cut: the verdict and the score are read.
function showResultLine(id, before, name, rest) {
  const line = $(id);
  const whole = before + name + rest;
  if (line.textContent === whole) return;
  const who = nameOf(name);
  who.classList.add("line", "who");
  line.replaceChildren(before, who, rest);
  line.title = whole;
}

export class Lane {
  // `begin` makes the next session of the lane, `choose` leads to its choice, `chosen` is called when the
  // card changes, and `done` when the desk has done something, or refused it.
  constructor(number, { begin, choose, chosen, done }) {
    this.number = number;
    this.chosen = chosen;
    this.done = done;
    this.selected = null; // the number of the session that was clicked on; null: the desk's choice
    this.other = null; // that session with its details
    this.otherKey = ""; // the row of the board for which it was fetched
    this.at = (part) => (number === 1 ? part : `${part}-${number}`);
    this.build();
    this.chart = new Chart(this.at);
    for (const name of MOVES) this.on(name, () => this.move(this.session, name));
    this.on("aside", () => this.move(this.session, actionOf("aside", this.session)));
    this.on("seen", () => this.move(toSee(this.news), "seen"));
    this.on("begin", () => begin(this.number));
    this.on("choose", () => choose(this.number));
    this.on("show-last", () => this.select(this.toSee.id));
    this.on("show-live", () => this.select(null));
    // The second click of a double click is for the button that was there before.
    this.on("arm", ({ detail }) => {
      if (detail > 1) return;
      const session = this.toArm;
      if (session.id !== this.session?.id) this.select(null);
      this.move(session, "arm");
    });
    this.on("card", () => act("display/card", { lane: number, on: !this.news.display.card }, this.done));
  }

  // Ask the desk to do something with a session as it is seen; a question comes first, if there is one.
  move(session, action) {
    const path = `sessions/${session.id}/${action}`;
    const seen = { seen_state: session.state, seen_length_s: session.length_s };
    const question = QUESTIONS[action]?.(session, this.board.scored_with);
    if (question) askAndAct(question, (filled) => [path, { ...seen, ...filled }], this.done);
    else act(path, seen, this.done);
  }

  build() {
    const panel = $("lane-panel").content.cloneNode(true);
    for (const element of panel.querySelectorAll("[data-id]")) element.id = this.at(element.dataset.id);
    for (const element of panel.querySelectorAll("[data-labelled]")) {
      const ids = element.dataset.labelled.split(" ").map(this.at);
      element.setAttribute("aria-labelledby", ids.join(" "));
    }
    $("lanes").append(panel);
  }

  on(part, act) {
    $(this.at(part)).addEventListener("click", act);
  }

  get isOther() {
    return this.selected !== null && this.selected !== this.news.current?.id;
  }

  // The session on the card; null while the details of a selected one are on the way.
  get session() {
    return this.isOther ? this.other : this.news.current;
  }

  // The result beside the card: the oldest that nobody has seen, else the last one.
  get toSee() {
    return this.news.unseen[0] ?? this.news.last;
  }

  get toArm() {
    return toArm(this.news, this.session);
  }

  showBoard(board, news) {
    [this.board, this.news] = [board, news];
    if (!this.isOther) this.selected = null;
    this.showMeter();
    this.showDisplay();
    this.showBeside();
    this.showPanel();
  }

  showPanel() {
    const { at, board, news, isOther, session } = this;
    if (isOther) this.fetchOther();
    if (session || !isOther) {
      showSession(at, session, news, board);
      this.chart.follow(session, session?.length_s ?? board.settings.seconds, 3 * news.meter.update_interval_s);
    }
  }

  // Show a session; null is the one that the desk chose.
  select(id) {
    this.selected = id === this.news.current?.id ? null : id;
    if (this.other?.id !== this.selected) this.other = null;
    say("");
    this.showPanel();
    this.chosen();
  }

  // The board has the details of one session of a lane. Those of another are fetched when its row changes.
  async fetchOther() {
    const id = this.selected;
    const key = JSON.stringify(this.board.sessions.find((row) => row.id === id));
    if (this.other?.id === id && this.otherKey === key) return;
    try {
      const response = await fetch(`sessions/${id}`);
      if (!response.ok) throw new Error((await response.json()).text);
      const session = await response.json();
      if (id !== this.selected) return;
      [this.other, this.otherKey] = [session, key];
      this.showPanel();
      this.chosen();
    } catch (error) {
      say(`Session ${id} cannot be shown (${error.message}). The page will try again.`);
    }
  }

  forgetOther() {
    this.otherKey = "";
  }

  showMeter() {
    const { at, news: { meter, name, urls, alarm } } = this;
    const { reading } = meter;
    $(at("session")).classList.toggle("alarmed", Boolean(alarm));
    $(at("lane-name")).hidden = !name;
    $(at("address")).hidden = this.board.lanes.length === 1;
    showCut(at("lane-name"), `Lane ${name}`);
    show(at("address"), urls.map((url) => url.replace("http://", "")).join(" or ") || "no network");
    showState(at("link"), meter.word);
    show(at("meter-model"), meter.link === "none" ? "Sessions are run without energy." : meter.model ?? "");
    show(at("meter-reading"), reading
      ? `${figure(reading.voltage_v, 2)}\u{A0}V, ${figure(reading.current_a, 4)}\u{A0}A, `
        + `integrator ${reading.state} at ${figure(reading.integration_s, 0)}\u{A0}s`
      : "");
    $(at("meter-reading")).classList.toggle("old", meter.old);
    show(at("meter-flags"), meter.flags_text);
  }

  showDisplay() {
    const { at, news: { display } } = this;
    $(at("display")).hidden = !display;
    if (!display) return;
    $(at("display-page")).href = display.page.slice(1);
    showState(at("display-state"), display.fault ? "lost" : "ok", display.fault ? "not ready" : "ready");
    show(at("display-text"), display.text);
    $(at("card")).setAttribute("aria-pressed", display.card);
  }

  // What stands below the card: the last result, and the session that is next in line.
  showBeside() {
    const { at, news, toSee, board } = this;
    $(at("last")).hidden = !toSee;
    if (toSee) {
      const more = news.unseen.length > 1 ? ` ${news.unseen.length - 1} more to see.` : "";
      const [before, name, rest] = rowParts(toSee, board.figures);
      showResultLine(at("last-text"), `${toSee.unseen ? "Look at" : "Last:"} ${before}`, name, `${rest}.${more}`);
      $(at("last")).classList.toggle("unseen-result", toSee.unseen);
    }
    const { next, current } = news;
    $(at("in-line")).hidden = !next || next.id === current?.id;
    if ($(at("in-line")).hidden) return;
    showAbout($(at("in-line-text")), [`Next in line: session ${next.id} of `, next.team, "."]);
  }

  // Show everything that changes between two boards; `ageS` is the age of the last one. `checks` is the
  // list of the page Check, `choice` what is chosen as next.
  tick(ageS, checks, choice) {
    const { at, board, news, session } = this;
    const { meter } = news;
    const age = meter.reading ? meter.reading.age_s + ageS : null;
    const none = meter.link === "none" ? "" : "no reading yet";
    show(at("meter-age"), age === null ? none : `last reading ${ageText(age)}`);
    if (session || !this.isOther) showTime(at, session, board, ageS);
    this.showElsewhere(ageS);
    $(at("show-last")).hidden = this.toSee?.id === session?.id;
    $(at("emulated")).hidden = !(session?.emulated ?? meter.emulated);
    this.allow(session);
    this.showStep(stepOf(board, news, checks, session, choice));
  }

  allow(session) {
    const { at, board } = this;
    for (const [part, sense] of Object.entries(sensibleActs(session))) {
      enable($(at(part)), sense, actionOf(part, session));
    }
    for (const part of ["rerun", "extra", "aside"]) $(at(part)).hidden = board.settings.mode === "practice";
    show(at("aside"), session?.rehearsal ? "Let it count…" : "Mark as rehearsal…");
  }

  // The one act that has a sense now is large. Another session may be armed all the same: quietly.
  showStep({ act, text, link }) {
    const { at } = this;
    const armed = this.toArm;
    const there = { arm: armed !== null && this.board.settings.mode !== "practice", seen: act === "seen", begin: act === "new", choose: act === "choose" };
    for (const [part, ofAct] of Object.entries(STEPS)) {
      const button = $(at(part));
      button.hidden = !there[part] || (part === "arm" && act === null);
      button.classList.toggle("step-act", act === ofAct);
      enable(button, !button.hidden, { begin: "new session", choose: "new session" }[part] ?? part);
    }
    if (armed) show(at("arm"), armed.id === this.session?.id ? "Arm" : `Arm session ${armed.id}`);
    showCut(at("step-text"), text);
    $(at("step-link")).hidden = !link;
    if (link) {
      show(at("step-link"), link.words);
      $(at("step-link")).href = link.href;
    }
  }

  showElsewhere(ageS) {
    const { at, board, news: { current } } = this;
    $(at("elsewhere")).hidden = !this.isOther || !current;
    if ($(at("elsewhere")).hidden) return;
    const left = current.state === "RUNNING" ? `, ${clockText(leftOf(current, board, ageS))} to go` : "";
    show(at("elsewhere-text"), `Session ${current.id} of ${isolated(current.team)} is ${current.state}${left}.`);
  }
}
