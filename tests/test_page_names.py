# SPDX-License-Identifier: Apache-2.0
"""A page's script reads only names that the type of its document declares.

The scripts follow a convention: in the files of `NAMES`, a variable with one of these names holds a
document of this type, or a part of one. So each path that begins with it can be followed through
the declared fields, until it comes to a list, a text or a number. What a path leads to keeps its
type where it is taken apart, and where its rows are gone through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from referee.service.board.shown import (
    SessionCard,
    SessionRow,
    ShownBoard,
    ShownMeter,
    ShownNotice,
    ShownReading,
)
from referee.service.display.facts import DisplayFacts
from referee.service.display.scheduler import Truth
from referee.service.event.results_table import ShownResult, ShownResults
from referee.service.preflight.shown import ShownFinding
from referee.service.scoreboard.live import LiveNews, LiveSession
from referee.service.scoreboard.race import RaceNews
from referee.service.scoreboard.view import PrintedEntry, ShownView
from referee.service.teams.roster_view import ShownTeam
from referee.web.desk.audit import AuditNow
from referee.web.desk.auth import Me
from referee.web.desk.check import CheckNow
from referee.web.desk.event import ResultsNow, TeamsNow

STATIC = Path(__file__).resolve().parents[1] / "static"

NAMES: dict[str, dict[str, type]] = {
    "console/*.js": {
        "board": ShownBoard,
        "session": SessionCard,
        "current": SessionCard,
        "meter": ShownMeter,
        "reading": ShownReading,
        "display": DisplayFacts,
        "notice": ShownNotice,
    },
    "console/wording.js": {"row": SessionRow},
    "display/*.js": {"truth": Truth},
    "event/results.js": {"results": ShownResults, "entry": ShownResult},
    "event/teams.js": {"roster": TeamsNow, "team": ShownTeam},
    "event/check.js": {"list": CheckNow},
    "people/*.js": {"me": Me},
    "scoreboard/*.js": {
        "view": ShownView,
        "live": LiveNews,
        "race": RaceNews,
        "session": LiveSession,
        "entry": PrintedEntry,
    },
}
DOCUMENTS = {
    "results/now": ResultsNow,
    "teams/now": TeamsNow,
    "check/now": CheckNow,
    "audit/now": AuditNow,
}
"""What the address of a followed document gives, where the script takes it apart at once."""

_WORD = r"[A-Za-z_]\w*"
_PATH = re.compile(rf"(?<![\w.$])({_WORD})((?:\??\.{_WORD})+)")
_STEP = re.compile(_WORD)
_TAKEN = re.compile(rf"\{{([^{{}}()]*)\}} (?:=|of) ({_WORD}(?:\??\.{_WORD})*)\s*[;)]")
_ROWS = re.compile(
    rf"(?<![\w.$])({_WORD}(?:\??\.{_WORD})+)\.(?:map|filter|find|some|every|flatMap|forEach)"
    rf"\(\(?(?:({_WORD})|\{{([^{{}}()]*)\}})\)? ?=>"
)
_FOLLOWED = re.compile(r'followDocument\("([^"]+)", \(\{([^{}()]*)\}\)')
_NOISE = re.compile(r"//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")


def fields_of(kind: type) -> dict[str, Any] | None:
    """Return the fields of a declared type as JSON names them, or None for any other type."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return {one.encode_name: one.type for one in msgspec.structs.fields(kind)}
    if is_dataclass(kind) or (isinstance(kind, type) and hasattr(kind, "__total__")):
        return get_type_hints(kind)
    return None


def kind_of(hint: Any) -> Any:
    """Return a type without None and UNSET."""
    kinds = [one for one in get_args(hint) if one not in (type(None), msgspec.UnsetType)]
    is_union = get_origin(hint) not in (None, list, dict) and not isinstance(get_origin(hint), type)
    return kinds[0] if kinds and (is_union or "UnionType" in repr(type(hint))) else hint


def row_of(hint: Any) -> Any:
    """Return the type of a list's rows, or None for what is no list."""
    origin = get_origin(kind_of(hint))
    is_list = isinstance(origin, type) and issubclass(origin, Sequence)
    return kind_of(get_args(kind_of(hint))[0]) if is_list else None


def follow(kind: Any, steps: Sequence[str]) -> tuple[Any, str]:
    """Return the type at the end of a path, and the first name that no type declares, or ''."""
    for step in steps:
        fields = fields_of(kind)
        if fields is None:
            return None, ""
        if step not in fields:
            return None, f"{kind.__name__} has no '{step}'"
        kind = kind_of(fields[step])
    return kind, ""


def taken(names: str) -> list[str]:
    """Return the fields that a pattern takes: of `a, b: c, d = 1` these are a, b and d."""
    parts = (re.split(r"[:=]", part)[0].strip() for part in names.split(","))
    return [part for part in parts if part and not part.startswith("...")]


def strangers(source: str, names: Mapping[str, type]) -> Iterator[str]:
    """Yield what a script reads of its documents and no type declares."""
    text = _NOISE.sub(" ", source)
    known: dict[str, Any] = dict(names)

    def kind_at(path: str) -> Any:
        head, *steps = _STEP.findall(path)
        return follow(known[head], steps)[0] if head in known else None

    for document, fields in _FOLLOWED.findall(source):
        if document in DOCUMENTS:
            yield from _missing(DOCUMENTS[document], taken(fields))
    for fields, path in _TAKEN.findall(text):
        kind = kind_at(path)
        yield from _missing(row_of(kind) or kind, taken(fields))
    for path, name, fields in _ROWS.findall(text):
        row = row_of(kind_at(path))
        yield from _missing(row, taken(fields) if fields else ())
        # The name of a row is checked up to the next line that is not a part of the call.
        if name and row is not None and name not in known:
            call = text.partition(f"{path}.")[2].partition("\n\n")[0]
            steps = re.findall(rf"(?<![\w.$]){name}\.({_WORD})", call.split(";")[0])
            yield from _missing(row, steps)
    for head, path in _PATH.findall(text):
        if head in known:
            fault = follow(known[head], _STEP.findall(path))[1]
            if fault:
                yield f"{head}{path}: {fault}"


def _missing(kind: Any, names: Sequence[str]) -> Iterator[str]:
    fields = fields_of(kind)
    if fields is not None:
        yield from (f"{kind.__name__} has no '{name}'" for name in names if name not in fields)


SCRIPTS = {
    path.relative_to(STATIC).as_posix(): names
    for pattern, names in NAMES.items()
    for path in sorted(STATIC.glob(pattern))
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_reads_declared_names(script: str) -> None:
    """Each path that begins with a document's name leads through declared fields."""
    found = list(strangers((STATIC / script).read_text(encoding="utf-8"), SCRIPTS[script]))
    assert [] == found


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("board.lanes[0]; board.figures.accuracy.label", 0),
        ("board.lains", 1),
        ("board.figures.accuracy.name", 1),
        ("session?.team; session?.teams", 1),
        ("const { lanes, utc: at } = board;", 0),
        ("const { lanes, utcs: at } = board;", 1),
        ("for (const { text, levels } of board.notices) show(text);", 1),
        ("board.lanes.map((one) => one.names);", 1),
        ("board.lanes.filter(({ name, link }) => name);", 1),
        ("board.lanes.length; // board.never", 0),
        ('followDocument("results/now", ({ results, proposal }) => {', 1),
    ],
)
def test_a_name_that_is_not_declared_is_found(source: str, faults: int) -> None:
    """Paths, patterns and rows are followed; comments and texts are not."""
    assert faults == len(list(strangers(source, NAMES["console/*.js"])))


def test_what_the_board_says_of_a_row_is_declared() -> None:
    """The page of the checks reads rows of the list."""
    assert {"group", "item", "text", "remedy", "override"} <= (fields_of(ShownFinding) or {}).keys()
