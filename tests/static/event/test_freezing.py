# SPDX-License-Identifier: Apache-2.0
"""The switch of the scoreboard on the page Results."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

FROZEN = {"kind": "frozen", "operator": "Ada", "utc": "2026-06-01T10:00:00Z"}
THAWED = FROZEN | {"kind": "thawed"}


@pytest.mark.parametrize(
    ("url", "freeze", "final", "buttons"),
    [
        ("http://board", None, False, (True, False)),
        ("http://board", FROZEN, False, (False, True)),
        ("http://board", THAWED, False, (True, False)),
        (None, None, False, (False, False)),
        (None, FROZEN, False, (False, True)),
        ("http://board", None, True, (False, False)),
        ("http://board", FROZEN, True, (False, True)),
    ],
)
def test_one_of_the_two_buttons_is_there(
    scripts: Scripts, url: str | None, freeze: Any, final: bool, buttons: tuple[bool, bool]
) -> None:
    """What is frozen can be unfrozen; what is shown can be frozen until the results are final."""
    board = {"address": url, "freeze": freeze}
    shown = scripts.call("event/freezing.js", "freezing", board, final)
    assert buttons == (shown["freeze"], shown["unfreeze"])
    begun = "The scoreboard is FROZEN for the public. Ada froze it at 2026-06-01 "
    assert shown["text"].startswith(begun) if freeze == FROZEN else "" == shown["text"]


@pytest.mark.parametrize(("url", "begins"), [("http://board", True), (None, False)])
def test_a_break_is_told_or_ended(scripts: Scripts, url: str | None, begins: bool) -> None:
    """One may take another's place; without a scoreboard nobody reads it."""
    pause = {"text": "Lunch.", "until_utc": "2026-06-01T10:00:00Z"}
    stands = scripts.call("event/freezing.js", "pausing", {"address": url, "break": pause})
    assert (begins, True) == (stands["begin"], stands["end"])
    assert stands["text"].startswith("The scoreboard shows a break: Lunch. It ends at 2026-06-01 ")
    none = scripts.call("event/freezing.js", "pausing", {"address": url, "break": None})
    assert {"text": "", "begin": begins, "end": False} == none


@pytest.mark.parametrize(
    ("told", "text"),
    [
        ({"audience": False, "published": 0, "of": 200}, ""),
        (
            {"audience": True, "published": 0, "of": 200},
            "The scoreboard shows none of the event’s images.",
        ),
        (
            {"audience": True, "published": 82, "of": 200},
            "The scoreboard then shows 82 of the event’s 200 images to anybody, with their true "
            "boxes.",
        ),
    ],
)
def test_the_dialog_says_how_many_images_it_publishes(
    scripts: Scripts, told: Any, text: str
) -> None:
    """Without an audience there is nothing to say."""
    assert text == scripts.call("event/freezing.js", "publishing", told)
