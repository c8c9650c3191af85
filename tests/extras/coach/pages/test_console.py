# SPDX-License-Identifier: Apache-2.0
"""The coach on the console of a rehearsal."""

from __future__ import annotations

import pytest

from referee.extras.coach.extra import EXTRA
from referee.extras.coach.pages.console import box
from referee.service.results.session_reports import kept_reports
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.contest_truth import read_contest_truth
from tests.support.doors import Door
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk


@pytest.fixture
def contest(rehearsal):
    """Return the rehearsal, opened."""
    contest = open_contest(load_config(rehearsal / "contest.toml"), FakeClock())
    yield contest
    contest.database.close()


def test_the_card_leads_to_the_newest_scored_session(contest):
    """It names the session and its page; an empty rehearsal has a card that leads nowhere."""
    with contest.database.read() as connection:
        card = box(connection)
    assert ("Coach", "/coach/2") == (card.title, card.link)
    assert "Session 2" in card.text
    assert EXTRA.takes_part(contest.config)


def test_a_rehearsal_keeps_the_report_and_the_console_shows_it(contest):
    """Before it is made the page says what to do; then it is the page that was kept."""
    with running_desk(contest, FakeMeter(contest.clock)) as desk:
        browser = Door(Event(contest, desk, None)).app.test_client()
        missing = browser.get("/coach/1")
        assert 409 == missing.status_code
        assert "referee coach 1" in missing.get_data(as_text=True)
        waits = browser.get("/coach/1", headers={"Accept": "text/html"})
        assert (409, "text/html; charset=utf-8") == (waits.status_code, waits.content_type)
        assert "referee coach 1" in waits.get_data(as_text=True)
        assert 'http-equiv="refresh"' in waits.get_data(as_text=True)
        (report,) = kept_reports(contest, 1, read_contest_truth(contest))
        assert "Coach" == report.title
        shown = browser.get("/coach/1")
    assert (200, report.page) == (shown.status_code, shown.get_data(as_text=True))
    assert "style-src 'unsafe-inline'" in shown.headers["Content-Security-Policy"]
    assert 409 == browser.get("/coach/7").status_code
