# SPDX-License-Identifier: Apache-2.0
"""The page of a demo's result stands alone, and shows what was found and what comes next."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator

import pytest
from PIL import Image

from referee.programs.demo_page import demo_page, found_pictures
from referee.store.scores import newest_scoring_run
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk


@pytest.fixture
def event(tmp_path) -> Iterator[Event]:
    """Return an event of eight images with a team."""
    clock = FakeClock()
    contest = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        event = Event(contest, desk, meter)
        event.register("<ants>")
        yield event
    contest.database.close()


def test_the_page_has_the_score_the_charts_and_the_commands(event) -> None:
    """It loads nothing, shows names as text, and says the verdict."""
    number = event.play("<ants>", found=4)
    run = newest_scoring_run(event.contest.database.connection, number)
    assert run is not None
    page = demo_page(event.contest, number, run, ["referee verify 'a b.zip'"])
    page, pictures = re.subn(r'src="data:image/(?:svg\+xml|jpeg);base64,[^"]+"', "", page)
    assert 2 + 4 == pictures
    assert not [word for word in ("src=", "href=", "@import", "url(", "<script") if word in page]
    assert "Session 1 of &#39;&lt;ants&gt;&#39;" in page
    assert '<span class="VALID">' in page
    assert "referee verify &#39;a b.zip&#39;" in page
    assert 4 == page.count("1 of 1 box is right")


def test_without_the_library_of_charts_the_page_says_what_to_install(event, monkeypatch) -> None:
    """A plain install has the page with score and pictures, and a line in the charts' place."""
    drawing = "referee.service.event.charts"
    for name in [name for name in sys.modules if name.startswith(("matplotlib", drawing))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    number = event.play("<ants>", found=4)
    run = newest_scoring_run(event.contest.database.connection, number)
    assert run is not None
    page = demo_page(event.contest, number, run, [])
    assert "Not drawn: a chart needs matplotlib: pip install matplotlib" in page
    assert 4 == len(re.findall(r'src="data:image/jpeg;base64,[^"]+"', page))
    assert "svg+xml" not in page


def test_right_boxes_are_green_and_all_others_red(event) -> None:
    """The images with the most right boxes come first, six at most."""
    number = event.begin("<ants>")
    event.answer(number, [3, 5, 3])
    found = [*found_pictures(event.contest, number)]
    assert [it.text for it in found] == [
        "Image 3: 1 of 2 boxes are right",
        "Image 5: 1 of 1 box is right",
    ]
    for one in found:
        with Image.open(io.BytesIO(one.jpeg)) as picture:
            assert ("JPEG", (32, 24)) == (picture.format, picture.size)
    event.answer(number, range(1, 9))
    assert 6 == len([*found_pictures(event.contest, number)])
