# SPDX-License-Identifier: Apache-2.0
"""What the camera's display shows, and says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

MODULE = "display/words.js"
FITS = {"width": 1920, "height": 1080, "fills": True}
NOTHING = {"trouble": "", "unfit": "", "facts": FITS, "lane": ""}


@pytest.mark.parametrize(
    ("mode", "live", "wants_card", "shown"),
    [
        ("black", False, False, "black"),
        ("black", False, True, "card"),
        ("black", True, True, "black"),
        ("frame", True, True, "frame"),
        ("waiting", False, True, "waiting"),
    ],
)
def test_a_card_is_for_the_time_between_sessions(
    scripts: Scripts, mode: str, live: bool, wants_card: bool, shown: str
) -> None:
    """A page that was opened for the test card is black in a session like any other."""
    assert shown == scripts.call(MODULE, "modeOf", {"mode": mode, "live": live}, wants_card)


@pytest.mark.parametrize(
    ("mode", "others", "begins"),
    [
        ("black", {}, "The display is ready. 1920 x 1080 pixels\n"),
        ("black", {"lane": "B"}, "The display of lane B is ready."),
        ("black", {"facts": FITS | {"fills": False}}, "Click, or press F: the display must fill"),
        ("black", {"facts": None}, "Click, or press F: the display must fill its screen.\n0 x 0"),
        ("black", {"unfit": "too small"}, "too small"),
        (
            "black",
            {"trouble": "The desk is silent."},
            "The desk is silent.\nThe display tries again",
        ),
        ("waiting", {"lane": "B"}, "This is the display of lane B. A session runs, and"),
        ("waiting", {}, "A session runs, and this page shows none"),
        ("other", {}, "A newer display page has taken over."),
        ("other", {"trouble": "Full."}, "Full."),
    ],
)
def test_a_black_screen_says_why(
    scripts: Scripts, mode: str, others: dict[str, Any], begins: str
) -> None:
    """The operator reads what to do; a broken line comes before everything else."""
    text = scripts.call(MODULE, "hintOf", {"live": False}, mode, NOTHING | others)
    assert text.startswith(begins)


@pytest.mark.parametrize(("live", "mode"), [(True, "black"), (False, "card"), (False, "frame")])
def test_no_word_lies_over_a_picture(scripts: Scripts, live: bool, mode: str) -> None:
    """Neither does one stand on the black of a session, where a camera looks."""
    told = NOTHING | {"trouble": "The desk is silent."}
    assert "" == scripts.call(MODULE, "hintOf", {"live": live}, mode, told)
