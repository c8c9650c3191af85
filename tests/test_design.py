# SPDX-License-Identifier: Apache-2.0
"""The documents name files and names that exist, and the page of the design stays short."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain, pairwise
from pathlib import Path

import pytest

from tests.pictures.session import DRAWN, STEPS, Step, picture
from tests.test_layers import ROOMS

ROOT = Path(__file__).parents[1]
PAGES = sorted(ROOT.glob("docs/*.md"))
DESIGN = (ROOT / "docs/design.md").read_text(encoding="utf-8")
WHERE = (ROOT / "docs/where.md").read_text(encoding="utf-8")
# A file that another project's programs write in their own folder.
POWER_DEVS = "power/ptd_logs.txt"
OF_THE_PROJECT = re.compile(r"`((?:referee|power|client_sample|static|tests|docs)/[\w./*-]*)")


# Files by their names alone, and names of the code, such as `accepts_nothing` and `ControlDesk`.
ALONE = re.compile(r"`([\w-]+\.(?:py|js|sql|css|html|c|sh))`")
OF_THE_CODE = re.compile(r"`(?:\w+\.)?(\w*(?:_\w+|[a-z][A-Z]\w*))`")
# The pages that only engineers read; the others name what users see.
FOR_ENGINEERS = ("design", "developers", "own-code", "recipes", "servers", "tracks", "where")
EXAMPLES = {"bench_meter.py", "test_bench_meter.py", "NAME.html", "NAME.js", "model-check.html"}
EXAMPLES |= {"index.html"}  # Of a site that somebody publishes.


@cache
def sources() -> list[Path]:
    """Return every file of code."""
    tops = ("referee", "power", "client_sample", "static", "tests")
    found = [path for top in tops for path in (ROOT / top).rglob("*") if path.is_file()]
    return [path for path in found if path.suffix not in (".pyc", ".png", ".jpg", ".md", ".zip")]


@cache
def words() -> set[str]:
    """Return every word of the code."""
    return {word for path in sources() for word in re.findall(r"\w+", path.read_text("utf-8"))}


def named(text: str) -> set[str]:
    """Return the files and folders of the project that a text names; `*` stands for any name."""
    return {name.rstrip(".") for name in OF_THE_PROJECT.findall(text)}


def missing(text: str) -> list[str]:
    """Return those of the named files that do not exist; a link may lead to what is made later."""
    names = {name.rstrip("/") for name in named(text) - {POWER_DEVS}}
    return sorted(
        name for name in names if not (ROOT / name).is_symlink() and not any(ROOT.glob(name))
    )


def lines_of_where() -> list[tuple[str, str]]:
    """Return what somebody may look for, with the files that the page gives."""
    rows = re.findall(r"^\| (.*?) \| (.*) \|$", WHERE, re.MULTILINE)
    return [row for row in rows if row[0] not in ("what", "---")]


def test_the_design_is_short_enough_to_be_read_at_once() -> None:
    """The page of the core has 250 lines at most."""
    assert len(DESIGN.splitlines()) <= 250


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    """Each file and folder of the project that a page names exists."""
    assert [] == missing(page.read_text(encoding="utf-8"))


def test_the_pages_name_many_files() -> None:
    """The check above finds the names."""
    assert len(named(DESIGN)) > 30
    assert len(lines_of_where()) > 40


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_file_that_is_named_without_its_folder_is_there(page: Path) -> None:
    """A file that a page names by its name alone exists in some folder."""
    alone = set(ALONE.findall(page.read_text(encoding="utf-8")))
    assert set() == alone - EXAMPLES - {path.name for path in sources()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_bench_that_a_page_names_is_there(page: Path) -> None:
    """What a page measures can be measured again: the bench that it names exists."""
    text = page.read_text(encoding="utf-8")
    benches = set(re.findall(r"(?:make bench ARGS=|-m tests\.bench[. ])(\w+)", text))
    assert [] == [name for name in benches if not (ROOT / f"tests/bench/{name}.py").is_file()]


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_ENGINEERS)
def test_the_code_has_the_names_of_the_pages_for_engineers(name: str) -> None:
    """Each function, class and table that such a page names is in the code."""
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert set() == set(OF_THE_CODE.findall(page)) - words()


@pytest.mark.parametrize(("what", "files"), lines_of_where(), ids=lambda value: str(value)[:40])
def test_each_line_of_where_leads_to_a_file(what: str, files: str) -> None:
    """Each line of "Where is what" names at least one file."""
    assert named(files), what


def test_the_picture_of_a_session_is_the_one_that_is_drawn() -> None:
    """The design shows what `make pictures ARGS=--drawn` makes."""
    kept = (ROOT / "docs" / DRAWN).read_text(encoding="utf-8")
    assert kept == picture(), "run: .venv/bin/python -m tests.pictures --drawn"
    assert f"]({DRAWN})" in DESIGN


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_each_step_of_the_picture_has_its_files(step: Step) -> None:
    """Each file that the picture names exists, and its words fit beside the lines."""
    assert step.files
    assert [] == [name for name in step.files if not (ROOT / name).is_file()]
    assert max(map(len, step.words)) <= 50


@pytest.mark.parametrize(
    ("page", "part"), [("design.md", "referee.service"), ("power.md", "power")]
)
def test_the_arrows_between_rooms_are_those_of_the_layers(page: str, part: str) -> None:
    """Each arrow of a diagram is one that the code may take, and each room is on the page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    chains = [it for it in re.split(r"\n| {3,}", text) if "─▶" in it and "──▶ " not in it]
    drawn = set()
    for before, after in chain.from_iterable(pairwise(it.split("─▶")) for it in chains):
        drawn |= {(a.strip(), b.strip()) for a in before.split(",") for b in after.split(",")}
    allowed = {(room, below) for room, known in ROOMS[part].items() for below in known}
    assert drawn
    assert set() == drawn - allowed
    assert [] == [room for room in ROOMS[part] if not re.search(rf"\b{room}\b", text)]


def test_every_room_has_its_line() -> None:
    """The table of layers has each folder of the referee."""
    folders = [path for path in (ROOT / "referee").iterdir() if (path / "__init__.py").exists()]
    assert [] == sorted(p.name for p in folders if f"| `referee/{p.name}` |" not in DESIGN)
