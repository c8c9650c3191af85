// SPDX-License-Identifier: Apache-2.0
// Where a ceremony stands among its scenes, and what a scene's parts are.

const ON = new Set([" ", "ArrowRight", "PageDown"]);
const BACK = new Set(["ArrowLeft", "PageUp"]);
const WAITING_MOST = 12;

// The step to which a key leads; the step itself for any other key. A presenter's remote control
// sends PageDown and PageUp. A key that is held down repeats, and must reveal nothing more.
export function stepAfter(step, { key, repeat = false, ctrlKey = false, altKey = false, metaKey = false }, count) {
  if (repeat || ctrlKey || altKey || metaKey) return step;
  if (ON.has(key)) return Math.max(0, Math.min(count - 1, step + 1));
  return BACK.has(key) ? Math.max(0, step - 1) : step;
}

// The step that the address names, so that a page that is loaded again goes on where it was.
export function stepOf(hash, count) {
  const number = /^#\d{1,6}$/.test(hash) ? Number(hash.slice(1)) : 0;
  return Math.max(0, Math.min(count - 1, number));
}

// What the next key does, without a name that it reveals.
export function nextText(scenes, step) {
  const here = scenes[step];
  const next = scenes[step + 1];
  if (!next) return "This is the end. Press ← to go back.";
  const who = next.title === here.title && next.kind !== "title";
  return `Space or →: ${who ? `who it is: ${next.title}` : next.title}`;
}

// The columns of the podium from left to right, as people stand on it: second, first, third. Teams
// that share a place share its column.
export function podiumOf(lines) {
  const columns = [];
  for (const line of lines) {
    const last = columns.at(-1);
    if (last?.place === line.place) last.lines.push(line);
    else columns.push({ place: line.place, lines: [line] });
  }
  const [first, second, ...others] = columns;
  return second ? [second, first, ...others] : columns;
}

// The names beside the ranking: as many as fit, and then how many more there are.
export function waitingOf(teams) {
  if (teams.length <= WAITING_MOST) return teams;
  return [...teams.slice(0, WAITING_MOST - 1), `and ${teams.length - WAITING_MOST + 1} more`];
}
