# SPDX-License-Identifier: Apache-2.0
"""A hall that looks at the real scoreboard from one address, and what it is sent."""

from __future__ import annotations

import json
import selectors
import socket
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from selenium import webdriver

from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.setup.clock import SystemClock
from tests.e2e.test_scoreboard import Audience
from tests.support.browsing import text_of, wait_text
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, running_desk
from tests.support.running import PATIENCE_S, eventually

pytestmark = pytest.mark.slow

VIEWERS = 500
_ASKED = b"GET /events?since= HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Event]:
    """Return an event with its scoreboard."""
    folder = tmp_path_factory.mktemp("hall")
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


class Viewer:
    """A page without a browser: it takes its stream apart, and unpacks it."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.link = socket.create_connection(address, PATIENCE_S, source_address=("127.0.0.2", 0))
        self.link.sendall(_ASKED)
        self._raw = b""
        self._unpack = zlib.decompressobj(31)
        self.text = ""

    def read(self) -> None:
        """Take what has come."""
        received = self.link.recv(1 << 16)
        assert received, "the stream has ended"
        self._raw += received
        if b"\r\n\r\n" in self._raw and self._raw.startswith(b"HTTP"):
            head, _, self._raw = self._raw.partition(b"\r\n\r\n")
            assert b" 200 " in head and b"Content-Encoding: gzip" in head, head
        while (end := self._raw.find(b"\r\n")) > 0 and not self._raw.startswith(b"HTTP"):
            size = int(self._raw[:end], 16)
            if len(self._raw) < end + size + 4:
                return
            chunk, self._raw = self._raw[end + 2 : end + 2 + size], self._raw[end + size + 4 :]
            self.text += self._unpack.decompress(chunk).decode()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of the loopback")
def test_five_hundred_viewers_of_one_address(event: Event) -> None:
    """Each of them is let in, keeps its place, and gets the difference that a change makes."""
    event.register("ants")
    address = event.audience.listener.getsockname()[:2]
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        viewers = [Viewer(address) for _ in range(VIEWERS)]
        for one in viewers:
            stack.callback(one.link.close)
            selector.register(one.link, selectors.EVENT_READ, one)

        def all_have(text: str) -> bool:
            for key, _ in selector.select(0.2):
                key.data.read()
            return all(text in one.text for one in viewers)

        eventually(lambda: all_have('"team":"ants"'), "all to have the view")
        event.register("bees")
        eventually(lambda: all_have('"team":"bees"'), "all to have the change")
        assert {1} == {one.text.count("event: whole") for one in viewers}
        for one in viewers:
            change = json.loads(one.text.split("event: change\ndata: ")[1].split("\n")[0])
            assert change["from"] in one.text.split("event: change")[0]


_MISSES = """
const Real = window.EventSource;
window.EventSource = class extends Real {
  addEventListener(name, handle) {
    super.addEventListener(name, (event) => {
      const { number, from } = JSON.parse(event.data ?? "{}");
      const lost = name === "change" && window.loses > 0;
      window.heard = [...(window.heard ?? []), { name, number, from, lost }];
      if (lost) { window.loses -= 1; return; }
      handle(event);
    });
  }
};
"""


@pytest.mark.browser
def test_a_page_that_has_missed_a_number_asks_for_all_of_it(
    event: Event, browser: webdriver.Chrome
) -> None:
    """A difference against another state is never shown: the page gets the whole and goes on."""
    opens = "Page.addScriptToEvaluateOnNewDocument"
    added = browser.execute_cdp_cmd(opens, {"source": _MISSES})
    try:
        browser.get(event.audience.url)
        wait_text(browser, "state", "PROVISIONAL")
        browser.execute_script("window.loses = 1")
        event.register("moths")
        eventually(lambda: browser.execute_script("return window.loses") == 0, "a lost event")
        event.register("wasps")
        wait_text(browser, "entries", "wasps")
        assert "moths" in text_of(browser, "entries")
        heard = browser.execute_script("return window.heard")
        assert 2 <= sum(one["name"] == "whole" for one in heard), heard
        freeze(event.contest, "Kim")
        wait_text(browser, "state", "FROZEN")
        thaw(event.contest, "Kim")
        wait_text(browser, "state", "PROVISIONAL")
        encoded = (
            "return (async () => (await fetch('events?since=')).headers.get('content-encoding'))()"
        )
        assert "gzip" == browser.execute_script(encoded)
    finally:
        browser.execute_cdp_cmd(
            "Page.removeScriptToEvaluateOnNewDocument", {"identifier": added["identifier"]}
        )
