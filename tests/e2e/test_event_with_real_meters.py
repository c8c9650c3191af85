# SPDX-License-Identifier: Apache-2.0
"""The golden path of an event whose meters are found by address: from switch-on to final."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Material
from tests.support.emulators import Emulator
from tests.support.running import Program, whole_check
from tests.support.venue import LANES, LOAD_W, SECONDS, Venue

pytestmark = pytest.mark.slow

TEAMS = ("Ants", "Bees")


@pytest.fixture
def meters() -> Iterator[list[str]]:
    """Return the addresses of two meters that were just switched on."""
    started = [Emulator("--watts", f"{LOAD_W:g}") for _ in LANES]
    yield [one.resource for one in started]
    for one in started:
        one.end()


def test_two_meters_from_switch_on_to_final(
    tmp_path: Path,
    material: Material,
    meters: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two meters that nobody has set since they were switched on carry an event to its end."""
    venue = Venue(tmp_path, material, TEAMS, meters)
    # The interval of `init`: a machine that stands still for a second leaves no gap.
    text = venue.config.read_text().replace("update_interval_s = 0.25", "update_interval_s = 1.0")
    venue.config.write_text(text)
    venue.import_teams()
    the_check_passes(venue)
    with venue.serve() as running:
        for lane, team in zip(LANES, TEAMS, strict=True):
            running.act("sessions", team=team, lane=lane)
            running.act(f"sessions/{lane}/arm")
        players = [venue.play(team, lane) for lane, team in zip(LANES, TEAMS, strict=True)]
        for player in players:
            player.join()
        for session in LANES:
            has_its_energy(running, session)
    capsys.readouterr()
    assert 0 == venue.referee("results", "--json")
    entries = json.loads(capsys.readouterr().out)["entries"]
    assert {(1, "VALID", True)} == {(it["rank"], it["verdict"], it["emulated"]) for it in entries}
    somebody_must_review_what_an_emulator_measured(venue, capsys)
    assert 0 == venue.referee("finalize", "--approved-by", "Kim")
    capsys.readouterr()
    assert 0 == venue.referee("results", "--json")
    results = json.loads(capsys.readouterr().out)
    figures = [(one["rank"], one["score"]) for one in entries]
    assert (True, figures) == (
        results["final"],
        [(one["rank"], one["score"]) for one in results["entries"]],
    )


def somebody_must_review_what_an_emulator_measured(
    venue: Venue, capsys: pytest.CaptureFixture[str]
) -> None:
    """A meter on loopback counts as EMULATED: nothing is final until somebody answers for it."""
    capsys.readouterr()
    assert 1 == venue.referee("finalize", "--approved-by", "Kim")
    assert "is EMULATED, and nobody has reviewed it" in capsys.readouterr().err
    for session in LANES:
        reason = "the meter of this test"
        assert 0 == venue.referee("review", str(session), "--by", "Kim", "--reason", reason)


def the_check_passes(venue: Venue) -> None:
    """No check fails, and both meters answer with serial numbers of their own."""
    done = whole_check(venue.config, "--json")
    shown = json.loads(done.stdout)
    found = {one["item"]: one for one in shown["findings"]}
    assert [] == [one for one in found.values() if one["level"] == "FAIL"]
    assert (0, True) == (done.returncode, shown["ready"])
    known = {found[f"identity of lane {lane}"]["text"] for lane in LANES.values()}
    assert len(LANES) == len(known)
    assert all(
        "an update each" in found[f"clock of lane {lane}"]["text"] for lane in LANES.values()
    )
    no_warning_is_left_that_nobody_can_remove(venue, shown["findings"])


def no_warning_is_left_that_nobody_can_remove(venue: Venue, rows: list[dict[str, Any]]) -> None:
    """What nobody could check here is a note, and each warning that is known counts no more."""
    for row in rows:
        assert "WARN" != row["level"] or "not checked" not in row["text"]
        if row["level"] == "WARN":
            name = f"{row['group']}, {row['item']}"
            known = ("--acknowledge", name, "--reason", "the meters of this test", "--by", "Kim")
            assert 0 == venue.referee("check", "--quick", *known)
    done = whole_check(venue.config)
    assert (0, "Ready.") == (done.returncode, done.stdout.splitlines()[-1])


def has_its_energy(running: Program, session: int) -> None:
    """The session is scored with what its load draws in its time."""
    row = running.scored(session)
    assert "VALID" == row["verdict"], row
    assert LOAD_W * SECONDS / 3600 == pytest.approx(row["energy_wh"])
