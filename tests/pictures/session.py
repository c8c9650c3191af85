# SPDX-License-Identifier: Apache-2.0
"""The picture of a session in the design: who asks whom, step by step, and the file of each step.

It is drawn from the tables below, so it needs no browser. Equal tables give equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

DRAWN = "session.svg"
"""The name of the picture."""

LANES = {
    "contestant": 60,
    "contest server": 170,
    "database": 280,
    "control desk": 390,
    "meter": 490,
}
"""Who takes part, each with the place of its line from the left."""


@dataclass(frozen=True)
class Arrow:
    """One message: `at` is its height below the step's top; an answer's line is dashed."""

    at: int
    start: str
    end: str
    text: str
    answer: bool = False


@dataclass(frozen=True)
class Step:
    """One step of a session: its name, what happens in two lines, its files, and its messages."""

    name: str
    words: tuple[str, str]
    files: tuple[str, ...]
    arrows: tuple[Arrow, ...]


STEPS = (
    Step(
        "Login",
        ("Name and password become a token.", "Only the desk begins a session."),
        ("referee/service/entry/admission.py", "referee/service/desk/policy.py"),
        (
            Arrow(26, "contestant", "contest server", "POST /login"),
            Arrow(52, "contest server", "control desk", "begin"),
        ),
    ),
    Step(
        "Meter",
        ("The session starts when START was written.", "No token before the meter integrates."),
        ("referee/service/desk/lane.py", "power/wt310/integrator.py"),
        (
            Arrow(14, "control desk", "meter", "START"),
            Arrow(34, "meter", "control desk", "integrates", answer=True),
            Arrow(54, "control desk", "database", "started"),
            Arrow(74, "contest server", "contestant", "token", answer=True),
        ),
    ),
    Step(
        "Images",
        ("Each session has an order of its own.", "The greenlet reads the file itself."),
        ("referee/service/entry/images.py", "referee/core/order.py"),
        (
            Arrow(26, "contestant", "contest server", "GET /image/7"),
            Arrow(50, "contest server", "contestant", "photograph", answer=True),
        ),
    ),
    Step(
        "Answers",
        ("A post is taken whole, or refused whole.", "200 is sent after the commit."),
        ("referee/service/entry/answers.py", "referee/store/journal.py"),
        (
            Arrow(20, "contestant", "contest server", "POST /result"),
            Arrow(44, "contest server", "database", "commit"),
            Arrow(66, "contest server", "contestant", "200", answer=True),
        ),
    ),
    Step(
        "Deadline",
        (
            "An answer counts if its last byte came before.",
            "The meter's own timer ends there, too.",
        ),
        ("referee/core/states.py", "referee/service/desk/session_steps.py"),
        (
            Arrow(38, "control desk", "database", "ended"),
            Arrow(58, "control desk", "meter", "STOP"),
        ),
    ),
    Step(
        "Energy",
        ("Two equal readings of the integrator count.", "The judge says how far to trust it."),
        ("referee/service/desk/settling.py", "power/energy/verdict.py"),
        (
            Arrow(26, "meter", "control desk", "Wh", answer=True),
            Arrow(50, "control desk", "database", "Wh, verdict"),
        ),
    ),
    Step(
        "Score",
        ("mAP / Wh: the same code while answers", "come, and from all rows at the end."),
        ("referee/service/results/live_scorer.py", "referee/scoring/live.py"),
        (
            Arrow(26, "database", "contest server", "answers"),
            Arrow(50, "contest server", "database", "score"),
        ),
    ),
    Step(
        "Bundle",
        (
            "All facts of the session in one file, from which",
            "anybody computes energy and score again.",
        ),
        ("referee/service/evidence/bundle.py", "referee/service/evidence/verify.py"),
        (Arrow(40, "database", "contestant", "export"),),
    ),
)

WIDTH = 900
_ROW = 98
_TOP = 64  # of the first step
_TEXT = 552  # the left edge of the words
_WINDOW = (1, 4)  # the steps in which the window begins and ends
_BEGINS, _ENDS = 14, 18  # where in these steps
_HEIGHT = _TOP + _ROW * len(STEPS) + 8

# The colours are those of the pages (static/shared/base.css).
_STYLE = """
svg { --ground: #fff; --ink: #15202b; --quiet: #505b66; --line: #d5dbe1; --edge: #7b8794;
  --accent: #0b5fb0; --energy: #7d5100; --bar: #f0b73a; --bad: #b3261e; --window: #e6f0fa; }
@media (prefers-color-scheme: dark) {
  svg { --ground: #1a2129; --ink: #e8eef4; --quiet: #a3b0bd; --line: #2e3a46; --edge: #76838f;
    --accent: #62b0ff; --energy: #f0b73a; --bar: #b98a1e; --bad: #ff8a82; --window: #1e2f40; }
}
text { font: 13px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink); }
.name { font-size: 15px; font-weight: 700; }
.number { font-weight: 700; fill: var(--ground); text-anchor: middle; }
.file { font: 11.5px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  fill: var(--accent); }
.lane { font-size: 11.5px; font-weight: 600; text-anchor: middle; }
.said { font-size: 11.5px; text-anchor: middle; paint-order: stroke; stroke-width: 4px; }
.said, .said.out { stroke: var(--ground); }
.said.in { stroke: var(--window); }
.edge { font-size: 11.5px; font-weight: 700; }
.edge.window { fill: var(--accent); }
.edge.deadline { fill: var(--bad); }
.edge.energy { fill: var(--energy); text-anchor: middle; }
"""


def picture() -> str:
    """Return the picture as SVG."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    names = ", ".join(step.name.lower() for step in STEPS)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {_HEIGHT}" '
        f'width="{WIDTH}" height="{_HEIGHT}" role="img">'
    )
    yield "<!-- SPDX-License-Identifier: Apache-2.0 -->"
    yield f"<title>A session: {names}</title>"
    yield f"<style>{_STYLE}</style>"
    yield (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" '
        'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 .5 8 4 0 7.5z" style="fill: var(--ink)"/></marker></defs>'
    )
    yield f'<rect width="{WIDTH}" height="{_HEIGHT}" rx="10" style="fill: var(--ground)"/>'
    yield from _window()
    for place in range(1, len(STEPS)):
        yield _line(_TEXT, _top(place) - 2, WIDTH - 12, _top(place) - 2, "stroke: var(--line)")
    yield from _lanes()
    for place, step in enumerate(STEPS):
        yield from _step(place, step)
    yield "</svg>"


def _top(place: int) -> int:
    return _TOP + _ROW * place


def _line(x1: int, y1: int, x2: int, y2: int, style: str, more: str = "") -> str:
    return f'<path d="M{x1} {y1} {x2} {y2}" style="fill: none; {style}"{more}/>'


def _text(x: int, y: int, kind: str, text: str) -> str:
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(text)}</text>'


def _edges() -> tuple[int, int]:
    """Return where the window begins and ends."""
    return _top(_WINDOW[0]) + _BEGINS, _top(_WINDOW[1]) + _ENDS


def _window() -> Iterator[str]:
    """Draw the window that energy, images and answers share, behind everything else."""
    begins, ends = _edges()
    yield (
        f'<rect x="10" y="{begins}" width="522" height="{ends - begins}" '
        'style="fill: var(--window)"/>'
    )
    yield _line(10, begins, 532, begins, "stroke: var(--accent); stroke-dasharray: 2 3")
    yield _line(10, ends, 532, ends, "stroke: var(--bad); stroke-width: 2")
    yield _text(180, begins + 15, "edge window", "the window")
    yield _text(180, ends + 15, "edge deadline", "the deadline")


def _lanes() -> Iterator[str]:
    """Draw who takes part, each with a line as long as it does; the meter's bar is the energy."""
    begins, ends = _edges()
    bottom = {"contestant": ends + 28, "contest server": ends + 28, "meter": _top(5) + 38}
    for name, x in LANES.items():
        yield _line(x, 44, x, bottom.get(name, _top(7) + 56), "stroke: var(--edge)")
        half = 36 if name == "meter" else 50
        yield from _box(x, 30, half, 14, name)
    x = LANES["meter"]
    yield (
        f'<rect x="{x - 4}" y="{begins}" width="8" height="{ends - begins}" '
        'style="fill: var(--bar)"/>'
    )
    yield (
        f'<text transform="translate({x + 20} {(begins + ends) // 2}) rotate(-90)" '
        'class="edge energy">integrates the energy</text>'
    )
    for name, place, middle in (("live scorer", 6, 38), ("session1.zip", 7, 40)):
        x, y = LANES["contest server" if place == 6 else "contestant"], _top(place) + middle
        yield from _box(x, y, 48, 24, name)


def _box(x: int, y: int, half: int, up: int, name: str) -> Iterator[str]:
    yield (
        f'<rect x="{x - half}" y="{y - up}" width="{2 * half}" height="{2 * up}" rx="6" '
        'style="fill: var(--ground); stroke: var(--edge)"/>'
    )
    yield _text(x, y + 4, "lane", name)


def _step(place: int, step: Step) -> Iterator[str]:
    top = _top(place)
    yield f'<circle cx="{_TEXT + 11}" cy="{top + 19}" r="11" style="fill: var(--accent)"/>'
    yield _text(_TEXT + 11, top + 24, "number", str(place + 1))
    yield _text(_TEXT + 30, top + 24, "name", step.name)
    for row, words in enumerate(step.words):
        yield _text(_TEXT + 30, top + 42 + 16 * row, "words", words)
    for row, file in enumerate(step.files):
        yield _text(_TEXT + 30, top + 75 + 14 * row, "file", file)
    for arrow in step.arrows:
        yield from _arrow(top, arrow)


def _arrow(top: int, arrow: Arrow) -> Iterator[str]:
    y = top + arrow.at
    begins, ends = _edges()
    x1, x2 = LANES[arrow.start], LANES[arrow.end]
    # A message to or from a box ends at its edge.
    box = 48 if y > _top(6) else 5 if "meter" in (arrow.start, arrow.end) and y < ends else 0
    way = 1 if x2 > x1 else -1
    if arrow.start in ("contest server", "meter"):
        x1 += way * box
    if arrow.end in ("contest server", "contestant", "meter"):
        x2 -= way * box
    dashes = "; stroke-dasharray: 5 3" if arrow.answer else ""
    yield _line(x1, y, x2, y, f"stroke: var(--ink){dashes}", ' marker-end="url(#head)"')
    where = "in" if begins < y <= ends else "out"
    yield _text((x1 + x2) // 2, y - 5, f"said {where}", arrow.text)
