# SPDX-License-Identifier: Apache-2.0
"""Entry points are read without an import, and no package costs more than who needs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from power import plugins
from power.meters.kinds import kind_named, kind_names
from power.plugins import Plugin, Unloadable, brought_by, in_group, installed, load, only_one
from tests.support.installed import forget, put_metadata

GROUP = "power.meters"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder of packages, the first on Python's path."""
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


def test_names_are_known_without_an_import(place: Path) -> None:
    """Name, package and version come from the metadata; the package need not even be there."""
    put_metadata(place, "Odd_Meters", "1.0", {GROUP: {"odd": "odd_meters:KIND"}})
    assert "odd" in kind_names()
    assert Plugin(GROUP, "odd", "odd_meters:KIND", "Odd_Meters", "1.0") in in_group(GROUP)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (None, "ModuleNotFoundError: No module named 'odd_meters'"),
        ("import no_such_library", "No module named 'no_such_library'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("KIND = 5", "it is no MeterKind, but a int"),
        ("", "has no attribute 'KIND'"),
        ("raise RuntimeError('\\x1b[31m' + 'a' * 9999)", "RuntimeError: ?[31maaa"),
    ],
)
def test_a_broken_package_is_a_sentence_for_who_needs_it(
    place: Path, source: str | None, fault: str
) -> None:
    """It names the package; the other kinds are as they were."""
    put_metadata(place, "odd-meters", "1.0", {GROUP: {"odd": "odd_meters:KIND"}})
    if source is not None:
        (place / "odd_meters.py").write_text(source)
    try:
        with pytest.raises(Exception, match="odd-meters 1.0 brings 'odd'") as told:
            kind_named("odd")
    finally:
        sys.modules.pop("odd_meters", None)
    assert fault in str(told.value) and len(str(told.value)) < 400
    assert "shelly:" in kind_named("shelly").syntax


def test_what_a_package_prints_stays_off_standard_output(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command's standard output may be JSON."""
    (place / "loud.py").write_text("print('Thanks for installing!')\nX = 'x'\n")
    assert "x" == load(Plugin(GROUP, "loud", "loud:X", "loud", "1"), str)
    assert ("", "Thanks for installing!\n") == capsys.readouterr()
    del sys.modules["loud"]


def test_two_packages_of_one_name_are_not_chosen_by_chance() -> None:
    """Whoever needs the name is told both packages."""
    one, other = (Plugin(GROUP, "odd", "a:B", name, "1") for name in ("ants", "bees"))
    with pytest.raises(Unloadable, match=r"ants 1 .* bees 1 brings the same name"):
        only_one([one, other])
    assert (one, None) == (only_one([one]), only_one([]))


@pytest.mark.parametrize(
    "text",
    [
        "[power.meters]\nodd",
        "[power.meters]\nodd = not a value",
        "[power.meters]\n\x1b[2J = a:B",
        b"[power.meters]\nodd = \xff\xfe:B",
    ],
)
def test_metadata_that_cannot_be_read_costs_no_other_package(
    place: Path, text: str | bytes
) -> None:
    """The package brings nothing, and is told; all others are found."""
    folder = put_metadata(place, "broken", "1.0", {})
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "entry_points.txt").write_bytes(content)
    assert {"rapl", "shelly"} <= {*kind_names()} and "odd" not in kind_names()
    (unread,) = installed()[1]
    assert "broken" in unread.package and unread.what.isprintable()


@pytest.mark.parametrize("name", [".dist-info", "lpirc_referee-0.9.dist-info", "x.egg-info"])
def test_an_empty_folder_of_metadata_hides_nothing(place: Path, name: str) -> None:
    """An interrupted installation leaves one; the package behind it on the path counts."""
    (place / name).mkdir()
    assert {"rapl", "shelly"} <= {one.name for one in brought_by("lpirc-referee")}
    assert {"rapl", "shelly"} <= {*kind_names()}


def test_of_a_package_that_is_found_twice_the_first_one_counts(place: Path) -> None:
    """An older copy further down the path adds nothing, under whatever spelling of its name."""
    behind = place / "behind"
    put_metadata(behind, "odd-meters", "1.0", {GROUP: {"old": "old:KIND"}})
    put_metadata(place, "Odd_Meters", "2.0", {GROUP: {"odd": "odd:KIND"}})
    sys.path.insert(1, str(behind))
    plugins.forget()
    try:
        assert "odd" in kind_names() and "old" not in kind_names()
    finally:
        sys.path.remove(str(behind))


def test_a_package_that_is_gone_is_forgotten(place: Path) -> None:
    """After it is uninstalled its name is unknown, as one that never was."""
    folder = put_metadata(place, "odd-meters", "1.0", {GROUP: {"odd": "odd_meters:KIND"}})
    assert "odd" in kind_names()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    plugins.forget()
    with pytest.raises(ValueError, match="there is no kind of meter 'odd'"):
        kind_named("odd")
