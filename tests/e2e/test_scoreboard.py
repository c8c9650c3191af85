# SPDX-License-Identifier: Apache-2.0
"""The real scoreboard's process beside an event: its page, its streams, a freeze and a restart."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium import webdriver

from referee.core.states import EndCause
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.setup.clock import SystemClock
from tests.support.browsing import be_screen, text_of, wait_text
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.running import PATIENCE_S, eventually, get

pytestmark = pytest.mark.slow

PUBLIC = (
    "/",
    "/static/scoreboard/scoreboard.js",
    "/view",
    "/live",
    "/race",
    "/charts/energy.svg",
    "/charts/speed.svg",
    "/feed?stream=false",
)


class Audience:
    """The scoreboard's process on a socket that outlives it, as under the supervisor."""

    def __init__(self, contest, folder: Path) -> None:
        self._contest, self._log = contest, folder / "scoreboard.log"
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.start()

    def start(self) -> None:
        """Start the program."""
        command = [sys.executable, "-m", "referee", "process", "scoreboard"]
        command += ["--config", str(self._contest.config.path), "--parent", str(os.getpid())]
        command += ["--descriptor", str(self.listener.fileno())]
        with self._log.open("ab") as log:
            self.child = subprocess.Popen(
                command,
                stderr=log,
                pass_fds=[self.listener.fileno()],
                start_new_session=True,
                cwd=Path(__file__).parents[2],
            )

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End the program, with its worker, by a signal."""
        os.killpg(self.child.pid, number)
        self.child.wait(PATIENCE_S)

    def view(self):
        """Return what the page shows."""
        return json.loads(get(f"{self.url}/view")[1])["view"]

    def bytes(self) -> dict[str, bytes]:
        """Return every byte that the public gets."""
        found = {path: get(f"{self.url}{path}") for path in PUBLIC}
        assert {200} == {status for status, _ in found.values()}
        return {path: body for path, (_, body) in found.items()}


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Event]:
    """Return an event with its scoreboard; the tests use it one after the other."""
    folder = tmp_path_factory.mktemp("audience")
    clock = FakeClock(SystemClock().now())
    contest = make_contest(folder, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        found = Event(contest, desk, meter)
        found.audience = Audience(contest, folder)
        yield found
        found.audience.stop()
        found.audience.listener.close()
    contest.database.close()


@contextmanager
def opened(url: str):  # type: ignore[no-untyped-def]
    """Open a stream, and close it at the end."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=PATIENCE_S) as stream:
        yield stream


def test_streams_arrive_piece_by_piece(event: Event) -> None:
    """The worker sends each line as it comes, and does not wait for a full packet."""
    with opened(f"{event.audience.url}/feed") as feed:
        assert b'"type": "judgement-types"' in feed.readline()
        with opened(f"{event.audience.url}/events") as events:
            assert b"retry" in events.readline()
            event.register("ants")
            while b'"team": "ants"' not in events.readline():
                pass
        while b'"name": "ants"' not in feed.readline():
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has /proc")
def test_the_audience_gets_what_sessions_leave(event: Event) -> None:
    """The program and its session have a lower priority than the session's programs."""
    program = event.audience.child.pid
    eventually(lambda: 10 == os.getpriority(os.PRIO_PROCESS, program), "the niceness")
    group = Path(f"/proc/{program}/autogroup")
    if group.exists() and "nice" in group.read_text():
        eventually(lambda: group.read_text().endswith("nice 10\n"), "the session's niceness")


def test_a_reader_who_reads_nothing_delays_nobody(event: Event) -> None:
    """Readers that take nothing of their streams leave the others as they are."""
    host, port = event.audience.listener.getsockname()[:2]
    idle = [socket.create_connection((host, port)) for _ in range(20)]
    try:
        for one in idle:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            one.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        for path in PUBLIC:
            assert 200 == get(f"{event.audience.url}{path}")[0]
    finally:
        for one in idle:
            one.close()


def test_a_freeze_holds_over_a_hidden_session_and_a_restart(event: Event) -> None:
    """Every public byte stays as it is while a session runs, ends and is void, and over kill -9."""
    event.register("bees", "wasps")
    number = event.play("bees")
    freeze(event.contest, "Kim")
    audience = event.audience
    eventually(lambda: audience.view()["state"] == "FROZEN", "the freeze")
    before = audience.bytes()
    hidden = event.begin("wasps")
    event.answer(hidden, [1, 2, 3])
    event.score()
    assert before == audience.bytes()
    event.contest.clock.advance(60)
    event.desk.steps_of(hidden).end(hidden, EndCause.STOP, "Kim")
    event.settle(hidden)
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    audience.stop(signal.SIGKILL)
    audience.start()
    assert before == audience.bytes()
    token = json.loads(before["/feed?stream=false"].splitlines()[-1])["token"]
    thaw(event.contest, "Kim")
    eventually(lambda: audience.view()["state"] == "PROVISIONAL", "the thaw")
    rest = get(f"{audience.url}/feed?stream=false&since_token={token}")[1].splitlines()
    found = {(one["type"], one["id"], one["data"] is None) for one in map(json.loads, rest)}
    assert {
        ("submissions", str(number), True),
        ("judgements", str(number), True),
        ("submissions", str(hidden), False),
        ("judgements", str(hidden), False),
        # The event lasts until its last end, which was hidden.
        ("contest", None, False),
        ("state", None, False),
    } == found


@pytest.mark.browser
def test_the_page_follows_the_event_and_its_server(event: Event, browser: webdriver.Chrome) -> None:
    """Ranking, void, freeze and a restart show by themselves; a score of 0 is shown as 0."""
    event.register("hornets", "moths")
    be_screen(browser, 1366, 768)
    browser.get(event.audience.url)
    wait_text(browser, "state", "PROVISIONAL")
    number = event.play("hornets", found=0)
    wait_text(browser, "entries", "0.000")
    wait_text(browser, "entries", "has not run yet")
    event.audience.stop(signal.SIGKILL)
    wait_text(browser, "connection", "connection lost")
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    event.audience.start()
    wait_text(browser, "entries", "runs again")
    wait_text(browser, "connection", "live")
    wait_text(browser, "entries", "runs again")
    assert [] == browser.execute_script(_SCORES)
    freeze(event.contest, "Kim")
    wait_text(browser, "state", "FROZEN")
    wait_text(browser, "now", "The scoreboard is frozen")
    thaw(event.contest, "Kim")
    wait_text(browser, "state", "PROVISIONAL")
    be_screen(browser, 1100, 1000)
    wait_text(browser, "champions", "2018")
    assert [] == browser.execute_script(_CELLS_THAT_OVERFLOW)
    assert first_content_ms(browser, event.audience.url) > 0
    errors = [one for one in browser.get_log("browser") if one["level"] == "SEVERE"]
    # While the server was down the browser said so, and nothing else.
    assert [] == [one for one in errors if "ERR_" not in one["message"]]


_SCORES = """return [...document.querySelectorAll("#entries [data-team=hornets] .score")]
  .map((cell) => cell.textContent).filter((text) => text !== "–");"""

_CELLS_THAT_OVERFLOW = """return [...document.querySelectorAll("#entries td")]
  .filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent);"""


def first_content_ms(browser: webdriver.Chrome, url: str) -> float:
    """Return when the page showed the ranking, from the start of its loading."""
    browser.get(url)
    wait_text(browser, "state", "PROVISIONAL")
    script = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
    return float(browser.execute_script(script))


@pytest.mark.browser
def test_every_row_of_a_long_ranking_is_seen(event: Event, browser: webdriver.Chrome) -> None:
    """Twelve teams do not fit a projector: the page shows part after part, then the charts."""
    event.register(*(f"team {number:02}" for number in range(1, 13)))
    rows = (
        "const box = document.getElementById('ranking').getBoundingClientRect();"
        "const top = document.querySelector('#ranking th').getBoundingClientRect().bottom - 1;"
        "return [...document.getElementById('entries').rows].filter((row) => {"
        "  const own = row.getBoundingClientRect();"
        "  return own.height && own.top >= top && own.bottom <= box.bottom + 1;"
        "}).map((row) => row.dataset.team ?? '')"
    )
    be_screen(browser, 1366, 768)
    browser.get(event.audience.url)
    wait_text(browser, "entries", "team 12")
    # The leaders stay above each part.
    wait_text(browser, "part", "rows ")
    part = text_of(browser, "part")
    wanted = {f"team {number:02}" for number in range(1, 13)}
    first = set(browser.execute_script(rows))
    assert not wanted <= first
    found: set[str] = set(first)

    def look() -> bool:
        found.update(browser.execute_script(rows))
        return wanted <= found

    eventually(look, "every team to be shown")
    charts = "return document.getElementById('chart-energy').checkVisibility()"
    eventually(lambda: browser.execute_script(charts), "the charts")
    eventually(lambda: part == text_of(browser, "part"), "the first rows again")
