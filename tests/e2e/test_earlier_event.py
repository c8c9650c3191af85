# SPDX-License-Identifier: Apache-2.0
"""What an earlier version has stored of an event, this one shows on every surface.

`tests/support/earlier_event.json` has final results, a freeze and a joint board as the version
before `ResultEntry` stored them. They lack fields, and nothing may miss them.
"""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from werkzeug.serving import make_server

from referee.extras.stations.joint_board import STANDING, VIEW, read_board
from referee.extras.stations.joint_text import board_text
from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.event.results import read_results
from referee.service.event.results_latex import results_latex
from referee.service.event.results_page import results_page
from referee.service.event.results_table import results_csv, results_text
from referee.service.scoreboard.publisher import Publisher
from referee.store.finals import insert_finalization
from referee.store.publishing import insert_freeze, insert_frozen_publication
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from tests.support.browsing import be_screen, text_of, wait_text
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.stations import ServedEvent

EARLIER = json.loads(
    (Path(__file__).parents[1] / "support/earlier_event.json").read_text(encoding="utf-8")
)
REVIEW = "reviewed by Ada: the gap lies before the load"


@pytest.fixture
def event(tmp_path: Path) -> Iterator[Event]:
    """Return an event whose desk runs, without a session of its own."""
    clock = FakeClock()
    contest = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        yield Event(contest, desk, meter)
    contest.database.close()


def approve(event: Event) -> None:
    """Store the final results as the earlier version did."""
    with event.contest.database.write() as connection:
        now = event.contest.clock.now()
        insert_finalization(connection, now, ["Ada", "Grace"], EARLIER["final"])


def freeze(event: Event) -> None:
    """Store the freeze as the earlier version did."""
    with event.contest.database.write() as connection:
        number = insert_freeze(connection, event.contest.clock.now(), "frozen", "Kim")
        insert_frozen_publication(connection, number, json.dumps(EARLIER["frozen"]))


def test_final_results_in_a_terminal_and_in_files(event: Event) -> None:
    """Text, CSV, LaTeX and HTML have every figure that was approved."""
    approve(event)
    results = read_results(event.contest)
    text = results_text(results)
    assert "FINAL, approved by Ada, Grace" in text
    assert f"  bees: SUSPECT: a gap of 2.1 s; {REVIEW}" in text.splitlines()
    assert "2.8 to 9.6" in text and "wasps: void: wrong images" in text
    rows = list(csv.DictReader(io.StringIO(results_csv(results))))
    told = EARLIER["final"]["entries"]
    assert [str(one["score"] or "") for one in told] == [row["score"] for row in rows]
    (ants,) = [
        line for line in results_latex(results).splitlines() if r" & \raggedright ants & " in line
    ]
    assert {"1", r"\raggedright ants", "0.75000", "0.1000", r"\textasciitilde{}7.5", "0"} <= set(
        ants.split(" & ")
    )
    page = results_page(results)
    assert all(words in page for words in ("2.8 to 9.6", REVIEW, "champion of 2018"))


def test_a_freeze_shows_what_it_has_stored(event: Event) -> None:
    """Entries, feed and state are those of the freeze, with this version's columns."""
    freeze(event)
    snapshot = Publisher(event.contest).refresh()
    view, stored = json.loads(snapshot.view), EARLIER["frozen"]["view"]
    assert "FROZEN" == view["state"]
    for now, then in zip(view["entries"], stored["entries"], strict=True):
        # How a figure is printed is this version's affair.
        assert _but_printed(then) <= _but_printed(now)
        assert set(now["printed"]) >= {column["field"] for column in view["columns"]}
    assert EARLIER["frozen"]["objects"] == [vars(one) for one in snapshot.publication.objects]


def _but_printed(entry: dict[str, object]) -> set[tuple[str, str]]:
    return {(name, json.dumps(it)) for name, it in entry.items() if name != "printed"}


def test_a_joint_board_reads_what_it_has_written(tmp_path: Path) -> None:
    """The board's page and its text have the ranking of the stored view."""
    (tmp_path / VIEW).write_text(json.dumps(EARLIER["joint"]), encoding="utf-8")
    (tmp_path / STANDING).write_text(json.dumps(EARLIER["stations"]), encoding="utf-8")
    board = read_board(tmp_path, FakeClock())
    lines = board_text(board.publication.view, json.loads(board.live)["stations"]).splitlines()
    assert "   1  ants           Hall A         1" == lines[3].partition("  0.1")[0]
    assert "bees (on now)" in lines[4]
    assert ["ants", "bees"] == [one["team"] for one in json.loads(board.view)["entries"]]


@pytest.mark.slow
@pytest.mark.browser
def test_the_pages_show_it(event: Event, browser: webdriver.Chrome) -> None:
    """The console's results, the scoreboard and a team's page have the figures, and no error."""
    approve(event)
    desk = event.desk
    board = Board(event.contest, [ShownLane(lambda: desk.lanes[0].metering.status)])
    broadcast = Broadcast(board.show, 2)
    server = make_server(
        "127.0.0.1", 0, console_app(event.contest, desk, board, broadcast), threaded=True
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    broadcast.start()
    served = ServedEvent(event.contest)
    try:
        be_screen(browser, 1366, 768)
        _look_at_results(browser, f"http://127.0.0.1:{server.port}")
        _look_at_the_scoreboard(browser, served.url)
        freeze(event)
        wait_text(browser, "state", "FROZEN")
        errors = [one for one in browser.get_log("browser") if one["level"] == "SEVERE"]
        assert [] == [one for one in errors if "/sessions/" not in one["message"]]
        browser.get("about:blank")
    finally:
        served.unplug()
        broadcast.close()
        server.shutdown()
        thread.join()
        server.server_close()


def _look_at_results(browser: webdriver.Chrome, url: str) -> None:
    browser.get(f"{url}/results")
    wait_text(browser, "state", "FINAL")
    wait_text(browser, "entries", "2.8 to 9.6")
    for more in browser.find_elements(By.CSS_SELECTOR, "#entries summary"):
        more.click()
    wait_text(browser, "entries", REVIEW)
    wait_text(browser, "prizes", "highest score: ants")
    assert "verdict" in text_of(browser, "heads")


def _look_at_the_scoreboard(browser: webdriver.Chrome, url: str) -> None:
    browser.get(url)
    wait_text(browser, "entries", "7.5")
    wait_text(browser, "champions", "2018")
    wait_text(browser, "heads", "95 % interval")
    browser.get(f"{url}/team/ants")
    wait_text(browser, "figures", "2.8 to 9.6")
