// SPDX-License-Identifier: Apache-2.0
// What a person who has only keys cannot reach or cannot see on the open page: the body of a function that
// returns it in words.

const TABBED = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
const LEAST_PX = 2; // An outline that is thinner is not seen from a chair.
const LEAST_CONTRAST = 3; // WCAG 2.2, 1.4.11
const root = document.querySelector("dialog[open]") ?? document.body;
const nameOf = (element) => element.id || element.ariaLabel || element.textContent.trim().slice(0, 30) || element.localName;
const isSeen = (element) => element.checkVisibility({ checkVisibilityCSS: true });
const isTabbed = (element) => element.matches(TABBED) && element.tabIndex >= 0 && !element.disabled && isSeen(element);

// The red, green, blue and opacity of a colour in any notation.
const pencil = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
function partsOf(colour) {
  pencil.clearRect(0, 0, 1, 1);
  pencil.fillStyle = colour;
  pencil.fillRect(0, 0, 1, 1);
  return [...pencil.getImageData(0, 0, 1, 1).data];
}

function luminance(parts) {
  const [red, green, blue] = parts.slice(0, 3).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [darker, lighter] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

// The ground of a page that names none.
const probe = document.body.appendChild(document.createElement("i"));
probe.style.backgroundColor = "Canvas";
const canvas = getComputedStyle(probe).backgroundColor;
probe.remove();

// What an outline lies on: the first ground around the element that lets nothing through.
function groundOf(element) {
  for (let at = element.parentElement; at; at = at.parentElement) {
    const ground = partsOf(getComputedStyle(at).backgroundColor);
    if (ground[3] === 255) return ground;
  }
  return partsOf(canvas);
}

// How many sides of the outline no place cuts off.
function sidesOf(element, reach) {
  const box = element.getBoundingClientRect();
  const sides = [box.left - reach, box.top - reach, -box.right - reach, -box.bottom - reach];
  const free = sides.map(() => true);
  for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) {
    const style = getComputedStyle(at);
    const place = at.getBoundingClientRect();
    const edges = [place.left, place.top, -place.right, -place.bottom];
    const cuts = [style.overflowX, style.overflowY, style.overflowX, style.overflowY];
    edges.forEach((edge, n) => { if (cuts[n] !== "visible" && sides[n] < edge - 0.5) free[n] = false; });
  }
  return free.filter(Boolean).length;
}

const faults = [];
const before = document.activeElement;
for (const element of root.querySelectorAll("*")) {
  const scrolls = [["overflowY", "scrollHeight", "clientHeight"], ["overflowX", "scrollWidth", "clientWidth"]]
    .some(([way, all, shown]) => /auto|scroll/.test(getComputedStyle(element)[way]) && element[all] > element[shown] + 1 && element[shown] > 0);
  if (scrolls && isSeen(element) && ![...element.querySelectorAll("*"), element].some(isTabbed)) {
    faults.push(`no key scrolls: ${nameOf(element)}`);
  }
  if (!isTabbed(element)) continue;
  // A name that is cut takes the focus to show the whole: its text says what it is.
  if (element.matches(":not(a, button, input, select, textarea, summary, .name)")) {
    const isNamed = element.ariaLabel || element.getAttribute("aria-labelledby");
    const hasRole = element.role || element.matches("section, ol, ul, table, svg, h1, h2, h3");
    if (!isNamed || !hasRole) faults.push(`no role or no name: ${nameOf(element)}`);
  }
  element.focus({ focusVisible: true });
  if (document.activeElement !== element) {
    faults.push(`takes no focus: ${nameOf(element)}`);
    continue;
  }
  const { outlineStyle, outlineWidth, outlineColor, outlineOffset } = getComputedStyle(element);
  const [width, offset] = [outlineWidth, outlineOffset].map(Number.parseFloat);
  // The browser's own outline, "auto", is two-coloured, and as thick as its system wants it.
  if (outlineStyle === "auto") continue;
  if (outlineStyle === "none" || width < LEAST_PX) faults.push(`no outline: ${nameOf(element)}`);
  else if (contrast(partsOf(outlineColor), groundOf(element)) < LEAST_CONTRAST) faults.push(`a weak outline: ${nameOf(element)}`);
  else if (sidesOf(element, width + offset) < 2) faults.push(`a cut outline: ${nameOf(element)}`);
}
before?.focus();
return [...new Set(faults)];
