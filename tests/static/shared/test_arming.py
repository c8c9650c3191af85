# SPDX-License-Identifier: Apache-2.0
"""Whether sessions can be armed, as the pages Session and Check say it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts
from tests.static.event.test_findings import TWO, list_of

pytestmark = pytest.mark.browser

MODULE = "shared/arming.js"


@pytest.mark.parametrize(
    ("list_", "kind"),
    [
        (list_of(), "READY"),
        (list_of(None), "NOT-READY"),
        (list_of(running=True), "CHECKING"),
        (list_of(None, running=True), "CHECKING"),
        (list_of(final=True), "FINAL"),
        (list_of(2, lanes=TWO), "CHECKING"),
        (list_of(None, lanes=TWO), "NOT-READY"),
    ],
)
def test_ready_only_if_every_lane_can_be_armed(
    scripts: Scripts, list_: dict[str, Any], kind: str
) -> None:
    """While slow checks run, after final results and with a lane that cannot, it is not READY."""
    assert kind == scripts.call(MODULE, "readyState", list_, list_)["kind"]
    assert (kind == "READY") == (scripts.call(MODULE, "hinderedText", list_, list_) == "")


def test_progress_names_the_check_that_runs(scripts: Scripts) -> None:
    """It counts the checks that are done, and says for how long they run."""
    progress = {"done": 3, "total": 4, "item": "golden client", "for_s": 12}
    said = {"share": 0.75, "text": "3 of 4 done, now: golden client (12 s)"}
    assert said == scripts.call(MODULE, "progressOf", progress)
