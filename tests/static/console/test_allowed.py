# SPDX-License-Identifier: Apache-2.0
"""Which buttons of the console have a sense."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

ALWAYS = {"card"}


@pytest.mark.parametrize(
    ("state", "acts"),
    [
        (None, set()),
        ("READY", {"void", "extra", "note", "aside"}),
        ("ARMED", {"void", "rerun", "extra", "note", "aside"}),
        ("RUNNING", {"stop", "void", "rerun", "extra", "note", "aside"}),
        ("ENDED", {"void", "rerun", "note", "aside"}),
        ("SCORED", {"void", "rerun", "note", "aside"}),
        ("SEALED", {"note"}),
        ("VOID", {"note", "aside"}),
    ],
)
def test_each_state_has_its_acts(scripts: Scripts, state: str | None, acts: set[str]) -> None:
    """A session is stopped while it runs alone."""
    session = state and {"state": state}
    sensible = scripts.call("console/allowed.js", "sensibleActs", session)
    assert ALWAYS | acts == {act for act, sense in sensible.items() if sense}


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
