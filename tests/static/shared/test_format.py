# SPDX-License-Identifier: Apache-2.0
"""Numbers and times on the pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "shared/format.js"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (None, 4, "–"),
        (0, 4, "0.0"),
        (0.0123456, 4, "0.01235"),
        (0.00012345678, 4, "0.000123"),
        (1.23456, 4, "1.235"),
        (9.9996, 4, "10.00"),
        (123.456, 4, "123.5"),
        (12345.6, 4, "12350"),
        (1.23456, 2, "1.2"),
    ],
)
def test_a_score_has_the_digits_that_count(
    scripts: Scripts, value: float | None, digits: int, text: str
) -> None:
    """So many digits, whatever its size, and at most six behind the point."""
    assert text == scripts.call(MODULE, "points", value, digits)


@pytest.mark.parametrize(
    ("function", "seconds", "text"),
    [
        ("clockText", 59.1, "1:00"),
        ("clockText", 60, "1:00"),
        ("clockText", 0, "0:00"),
        ("secondText", 59.9, "0:59"),
        ("secondText", 605, "10:05"),
    ],
)
def test_what_is_left_is_rounded_up(
    scripts: Scripts, function: str, seconds: float, text: str
) -> None:
    """What has passed is rounded down."""
    assert text == scripts.call(MODULE, function, seconds)


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0, "0.00"), (1.005, "1.00"), (2, "2.00")]
)
def test_a_figure_of_0_is_a_figure(scripts: Scripts, value: Any, text: str) -> None:
    """What is missing is a dash."""
    assert text == scripts.call(MODULE, "figure", value, 2)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "just now"), (1.9, "just now"), (2, "2 s ago"), (119.9, "119 s ago"), (120, "2 min ago")],
)
def test_an_age_is_rounded_down(scripts: Scripts, seconds: float, text: str) -> None:
    """Two minutes are told in minutes."""
    assert text == scripts.call(MODULE, "ageText", seconds)


def test_a_lost_connection_is_told_with_the_time_since(scripts: Scripts) -> None:
    """So an operator knows how old everything else on the page is."""
    assert "connection lost 12 s ago" == scripts.call(MODULE, "lostText", 12.9)


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "2026-06-01 10:00:09 +00:00"),
        ("Europe/Berlin", "2026-06-01 12:00:09 +02:00"),
        ("Asia/Kolkata", "2026-06-01 15:30:09 +05:30"),
        ("America/St_Johns", "2026-06-01 07:30:09 -02:30"),
    ],
)
def test_times_are_local_with_their_offset(fresh: Scripts, zone: str, text: str) -> None:
    """The offset is that of the moment, in summer that of the summer."""
    override = "Emulation.setTimezoneOverride"
    fresh.browser.execute_cdp_cmd(override, {"timezoneId": zone})
    try:
        assert text == fresh.call(MODULE, "momentText", "2026-06-01T10:00:09Z")
    finally:
        fresh.browser.execute_cdp_cmd(override, {"timezoneId": ""})
