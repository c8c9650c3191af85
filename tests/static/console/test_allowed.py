# SPDX-License-Identifier: Apache-2.0
"""Which buttons of the console have a sense."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

ALWAYS = {"seen", "card"}


@pytest.mark.parametrize(
    ("state", "acts"),
    [
        (None, set()),
        ("READY", {"arm", "void", "extra", "note", "aside"}),
        ("ARMED", {"void", "rerun", "extra", "note", "aside"}),
        ("RUNNING", {"stop", "void", "rerun", "extra", "note", "aside"}),
        ("ENDED", {"void", "rerun", "note", "aside"}),
        ("SCORED", {"void", "rerun", "note", "aside"}),
        ("SEALED", {"note"}),
        ("VOID", {"note", "aside"}),
    ],
)
def test_each_state_has_its_acts(scripts: Scripts, state: str | None, acts: set[str]) -> None:
    """A session is armed from READY alone, and stopped while it runs alone."""
    session = state and {"state": state}
    sensible = scripts.call("console/allowed.js", "sensibleActs", session, None)
    assert ALWAYS | acts | {"arm-next"} == {act for act, sense in sensible.items() if sense}


@pytest.mark.parametrize(
    ("state", "may"),
    [(None, True), ("READY", True), ("ARMED", False), ("RUNNING", False), ("ENDED", True)],
)
def test_the_next_session_waits_for_its_lane(
    scripts: Scripts, state: str | None, may: bool
) -> None:
    """It is armed when the lane's session neither waits for its login nor runs."""
    current = state and {"state": state}
    assert may == scripts.call("console/allowed.js", "sensibleActs", None, current)["arm-next"]


@pytest.mark.parametrize(
    ("state", "free"),
    [(None, True), ("READY", False), ("ARMED", False), ("RUNNING", False), ("ENDED", True)],
)
def test_a_lane_is_free_before_and_after_a_session(
    scripts: Scripts, state: str | None, free: bool
) -> None:
    """A lane with a session in line is not."""
    lane = {"next": None, "current": state and {"state": state}}
    assert free == scripts.call("console/allowed.js", "isFree", lane)
    assert not scripts.call("console/allowed.js", "isFree", lane | {"next": {"id": 9}})
