# SPDX-License-Identifier: Apache-2.0
"""A page's report of its screen is checked before anything is drawn for it."""

from __future__ import annotations

import pytest

from referee.errors import Refusal
from referee.service.display.screens import PageScreen, parse_screen

SENT = {
    "width": 1920,
    "height": 1080,
    "ratio": 2,
    "refresh_hz": 59.9,
    "visible": True,
    "fills": True,
}


def test_a_good_report():
    """A report becomes a screen without a fault."""
    assert PageScreen(1920, 1080, 2.0, 59.9, True, True) == parse_screen(SENT)
    assert "" == parse_screen(SENT).fault


@pytest.mark.parametrize("hz", [None, 0, "60", float("nan"), 1e9, 10**400])
def test_a_refresh_that_is_not_measured(hz):
    """A refresh that is missing or impossible is not known."""
    assert parse_screen(SENT | {"refresh_hz": hz}).refresh_hz is None


@pytest.mark.parametrize(
    "change",
    [
        {"width": 0},
        {"width": 1920.5},
        {"width": "1920"},
        {"width": True},
        {"height": None},
        {"width": 8000, "height": 8000},
        {"width": 5000, "height": 300},
        {"ratio": 0},
        {"ratio": float("inf")},
        {"ratio": 10**400},
        {"visible": 1},
        {"fills": None},
    ],
)
def test_an_impossible_screen_is_refused(change):
    """Sides that no frame fits, and facts of another kind, are refused."""
    with pytest.raises(Refusal) as refused:
        parse_screen(SENT | change)
    assert "screen_wrong" == refused.value.code
