// SPDX-License-Identifier: Apache-2.0
// Each part in each of its states.

import { area, emptyText, minuteMarks, node, path, wattLines } from "/static/shared/curve.js";
import { openDialog } from "/static/shared/dialog.js";
import { make } from "/static/shared/page.js";
import { barOf, cardOf, closeMenusByThemselves, emptyOf, figureOf, menuOf, nameOf, pillOf } from "/static/shared/parts.js";

const NAMES = [
  "Ants",
  "The Embedded Vision Laboratory of the University of Technology of a Town with a Long Name",
  "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung",
  "東京工業大学コンピュータビジョン研究室低消費電力画像認識チーム",
  "فريق الرؤية الحاسوبية في جامعة العلوم والتكنولوجيا بالقاهرة",
];
const STATES = ["READY", "ARMED", "RUNNING", "ENDED", "SCORED", "SEALED", "VOID", "VALID", "SUSPECT",
  "INVALID", "PROVISIONAL", "FINAL"];

const row = (...content) => Object.assign(make("div", ...content), { className: "row" });

function button(words, kind = "", disabled = false) {
  return Object.assign(make("button", words), { type: "button", className: kind, disabled });
}

function table() {
  const head = make("tr", ...["team", "mAP", "verdict"].map((word) => make("th", word)));
  const rows = NAMES.slice(0, 4).map((name) => {
    const number = Object.assign(make("td", "0.8547"), { className: "number" });
    return make("tr", make("td", nameOf(name)), number, make("td", pillOf("VALID")));
  });
  head.children[1].className = "number";
  return make("table", make("thead", head), make("tbody", ...rows));
}

// A chart draws over its own size, so it is drawn when it stands on the page.
function drawChart(svg, watts) {
  const on = area(svg, { from: 0, to: 60, low: 0, top: 10 });
  const line = node("path", { class: "power", d: path(watts.map((value, second) => [second, value]), on.x, on.y, 3) });
  const empty = watts.length ? [] : [emptyText("drawn while a session runs", on)];
  svg.replaceChildren(...wattLines(10, on), ...minuteMarks(0, 60, on), line, ...empty);
}

const charts = [Array.from({ length: 60 }, (_, n) => 6 + 2 * Math.sin(n / 6)), []].map((watts) => {
  const svg = node("svg", { class: "chart", height: 140 });
  return { svg, watts };
});

const open = button("Show the dialog");
open.addEventListener("click", () => openDialog({
  text: "Void session 3 of Ants? That cannot be undone.",
  yes: "Void it",
  fields: [{ name: "reason", label: "Reason (the evidence keeps it)" }],
  destroys: true,
}));

document.getElementById("parts").append(
  cardOf("Pill", row(...STATES.map((state) => pillOf(state)))),
  cardOf("Name", ...NAMES.map((name) => nameOf(name, "p"))),
  cardOf("Name in one line", ...NAMES.map((name) => {
    const name_ = nameOf(name, "p");
    name_.classList.add("line");
    return name_;
  })),
  cardOf("Figure", row(
    figureOf({ label: "energy", value: "0.012345", unit: "Wh", note: "± 0.000522" }),
    figureOf({ label: "power", value: "6.021", unit: "W", note: "at 09:32:15 CET", kind: "old" }),
    figureOf({ label: "score", value: "10.32", unit: "mAP/Wh", note: "void", kind: "void" }),
    figureOf({ label: "mAP", value: "–" }),
  )),
  cardOf("Bar", ...[0, 0.37, 1].map((share) => barOf(share, `${100 * share} %`))),
  cardOf("Table", table()),
  cardOf("Chart", ...charts.map(({ svg }) => svg)),
  cardOf("Empty", emptyOf("Nobody has run yet."), emptyOf("No team is registered.", "#", "Register the first one")),
  cardOf("Button", row(button("Arm", "ends"), button("Note…"), button("Void…", "void"), button("Void it", "destroys"),
    button("Arm", "ends", true))),
  cardOf("Menu", menuOf("More", "More about Ants", button("Rename…"), button("Withdraw…"))),
  cardOf("Dialog", open),
);
for (const { svg, watts } of charts) drawChart(svg, watts);
closeMenusByThemselves();
