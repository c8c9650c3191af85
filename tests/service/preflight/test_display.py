# SPDX-License-Identifier: Apache-2.0
"""The check of the camera track's display."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.service.preflight.finding import Level
from referee.service.preflight.lane_rules import display_finding
from referee.service.preflight.surroundings import DisplayState, LaneFacts
from referee.service.setup.lane_config import MeterSection

READY = DisplayState(fault="", text="1920x1080 pixels, 60 Hz")


@pytest.mark.parametrize(
    ("runs", "facts", "level", "words"),
    [
        (True, READY, Level.OK, "1920x1080 pixels, 60 Hz"),
        (True, replace(READY, fault="The page is hidden."), Level.FAIL, "hidden"),
        (True, None, Level.FAIL, "has no display"),
        (False, None, Level.OK, "not checked here: the referee does not run"),
    ],
)
def test_the_display_of_a_lane(runs, facts, level, words):
    """A display must be able to show frames; only a running referee knows it."""
    lane = LaneFacts(1, MeterSection(), display=facts)
    finding = display_finding(lane, runs=runs)
    assert (level, True) == (finding.level, words in finding.text)
    assert finding.remedy or facts is READY
