# SPDX-License-Identifier: Apache-2.0
"""A whole event that an earlier version left tells the same figures in this one.

`tests/stored` has one of each released version, as `tests/stored_event.py` wrote it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.cli import main
from referee.service.evidence.verify import verify_bundle
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest
from referee.service.setup.preparation import prepare_contest
from referee.store import schema
from tests.stored_event import FIGURES, FOLDER, figures_of

pytestmark = [pytest.mark.slow, pytest.mark.stored]

EVENTS = sorted(FOLDER.glob("event-*.zip"))


@pytest.fixture(params=EVENTS, ids=lambda path: path.stem)
def event(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder of an event, unpacked."""
    with zipfile.ZipFile(request.param) as packed:
        packed.extractall(tmp_path)
    for path in (tmp_path / "data").iterdir():
        path.chmod(0o600)  # No zip file of Python's gives a file its mode back.
    return tmp_path


REWORDED = {"tie_rule", "session_rule"}
"""Sentences for people, which a later version may word otherwise."""


def differences(then: Any, now: Any, place: str = "") -> Iterator[str]:
    """Yield where a figure is missing or another one; a later version may tell more."""
    if isinstance(then, dict) and isinstance(now, dict):
        for name in then.keys() - REWORDED:
            yield from differences(then[name], now.get(name, "nothing"), f"{place}/{name}")
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for number, pair in enumerate(zip(then, now, strict=True)):
            yield from differences(*pair, f"{place}/{number}")
    elif then != now:
        yield f"{place}: {then!r} became {now!r}"


def told_now(event: Path) -> Any:
    """Return what this version tells of an event, opened as every command opens it."""
    with opened_contest(load_config(event / "contest.toml")) as contest:
        return figures_of(contest)


def stored(event: Path) -> Any:
    """Return what the version that left an event told of it."""
    return json.loads((event / FIGURES).read_text(encoding="utf-8"))


def test_there_is_the_event_of_the_first_release() -> None:
    """Nobody takes the oldest event out."""
    assert "event-1.0.0.zip" == EVENTS[0].name


def test_it_tells_the_same_figures(event: Path) -> None:
    """Final results, results computed anew, who did what, and the chain are as they were."""
    then = stored(event)
    assert then["final"] and then["approved"]["entries"][0]["score"] and not then["facts"]["faults"]
    assert [] == list(differences(then, told_now(event)))


def test_a_running_referee_takes_it_up(event: Path) -> None:
    """The preparation of `serve` accepts images, ground truth and keys; no figure changes."""
    key = (event / "signing.pub").read_bytes()
    prepare_contest(load_config(event / "contest.toml"))[0].close()
    then, now = stored(event), told_now(event)
    assert key == (event / "signing.pub").read_bytes()
    assert [] == now["facts"]["faults"]
    for part in ("final", "approved", "computed", "audit"):
        assert [] == list(differences(then[part], now[part], part))


@pytest.mark.parametrize("session", [1, 2])
def test_its_bundles_hold(event: Path, session: int) -> None:
    """Energy, verdict and score of a bundle come out again, by both paths, and it is signed."""
    found = verify_bundle(
        event / f"session{session}.zip",
        event / "truth.json",
        None,
        public_keys=[event / "signing.pub"],
        shadow=True,
    )
    assert [] == found


def test_its_upgrade_is_rehearsed_and_undone(
    event: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check of a later version changes no byte; the copy of the upgrade is the way back."""
    usual = schema.scripts()
    database, copy = event / "data/referee.db", event / "data/referee-before-referee-0099_later.db"
    then = stored(event)
    told_now(event)  # It is this version's own now.
    later = [*usual, ("referee/0099_later", "create table one (a integer primary key) strict;\n")]
    with monkeypatch.context() as patched:
        patched.setattr(schema, "scripts", lambda rooms: later)
        before = database.read_bytes()
        assert 0 == main(["upgrade-check", str(event)])
        told = capsys.readouterr().out
        assert copy.name in told and "move referee.db" in told
        assert before == database.read_bytes() and not copy.exists()
        assert [] == list(differences(then, told_now(event)))
        assert copy.exists()
    assert 1 == main(["upgrade-check", str(event)])
    told = capsys.readouterr().err
    assert "earlier version" in told and f"{copy}: to go back" in told
    copy.replace(database)
    assert 0 == main(["upgrade-check", str(event)])
    assert "as it is" in capsys.readouterr().out
    assert [] == list(differences(then, told_now(event)))
