# SPDX-License-Identifier: Apache-2.0
"""A rehearsal on a disk that fills up during a session and has room again later."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.conftest import Material, Rehearse
from tests.support.full_disk import fill_up
from tests.support.running import Program, eventually, request

pytestmark = pytest.mark.slow


def log_in(program: Program) -> int:
    """Try to log in and return the status."""
    return request(f"{program.contest}/login", b"username=me&password=practice", {})[0]


def _meter(program: Program) -> tuple[str, bool]:
    """Return the state of the link to the meter, and whether its newest reading is old."""
    meter = program.lane()["meter"]
    return meter["link"], meter["old"]


def texts(program: Program) -> str:
    """Return all notices of the board in one text."""
    return "\n".join(notice["text"] for notice in program.board()["notices"])


def test_a_full_disk_costs_no_thread_and_the_next_login_works(
    small_disk: Path, rehearse: Rehearse, material: Material
) -> None:
    """A disk that fills during a session costs an alarm, but no energy and no later session."""
    referee_ = rehearse("--seconds", "12", "--load", "6", "--update-interval", "0.1")
    assert log_in(referee_) == 200
    eventually(lambda: (referee_.session() or {}).get("state") == "RUNNING", "the session")
    filler = small_disk / "filler"
    fill_up(filler)
    eventually(lambda: "The disk refuses the desk's records" in texts(referee_), "the alarm")
    alarm = referee_.board()["alarm"]
    assert alarm is not None and "make room" in alarm["text"].lower()
    eventually(lambda: (referee_.session() or {}).get("state") != "RUNNING", "the session's end")
    # The desk goes on reading the meter while nothing can be written.
    meter = ("ok", False)
    eventually(lambda: meter == _meter(referee_), "a new reading of the meter")
    os.unlink(filler)
    row = referee_.scored()
    assert row["end_cause"] == "deadline"
    assert row["energy_wh"] == pytest.approx(12 * 6 / 3600, rel=0.002)
    eventually(lambda: "takes the desk's records again" in texts(referee_), "the all-clear")
    assert log_in(referee_) == 200
    assert "died" not in texts(referee_)
