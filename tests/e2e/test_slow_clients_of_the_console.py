# SPDX-License-Identifier: Apache-2.0
"""Somebody who only costs the console time keeps no operator from acting."""

from __future__ import annotations

import http.client
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress

import pytest

from referee.service.setup.config_file import load_config
from tests.e2e.conftest import Material, make_event
from tests.support.running import PATIENCE_S, Program, eventually, program, request
from tests.support.teams import give_password

pytestmark = pytest.mark.slow

MANY = 160
HEAD = (
    b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    b"Content-Length: 9000\r\n\r\n"
)


class Drip(threading.Thread):
    """A stranger: many connections that send the body of a login, byte by byte, and begin again."""

    def __init__(self, console: str, source: str, head: bytes) -> None:
        super().__init__(name="drip", daemon=True)
        host, _, port = console.removeprefix("http://").partition(":")
        self.rounds = 0
        self._place = (host, int(port))
        self._source = source
        self._head = head
        self._stopped = threading.Event()

    def run(self) -> None:
        """Send a byte on each connection, again and again."""
        with ExitStack() as stack:
            links: list[socket.socket] = []
            while not self._stopped.wait(0.1):
                while len(links) < MANY:
                    with suppress(OSError):
                        link = socket.create_connection(self._place, PATIENCE_S, (self._source, 0))
                        links.append(stack.enter_context(link))
                        link.sendall(self._head)
                for link in links[:]:
                    try:
                        link.sendall(b" ")
                    except OSError:
                        links.remove(link)
                        link.close()
                self.rounds += 1

    def stop(self) -> None:
        """Close all connections."""
        self._stopped.set()
        self.join(PATIENCE_S)


@pytest.fixture(scope="module")
def password() -> list[str]:
    """Return where the password of the team is kept."""
    return []


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, material: Material, password: list[str]
) -> Iterator[Program]:
    """Return an event without a meter whose sessions last ten minutes."""
    folder = tmp_path_factory.mktemp("console")
    event = make_event(folder, material)
    text = event.read_text().replace('resource = "emulated"', 'resource = "none"')
    event.write_text(text.replace("seconds = 5", "seconds = 600"))
    password.append(give_password(load_config(event).teams, "ants"))
    with program(["serve", "--config", str(event)], folder) as running:
        yield running


def opened_page(
    running: Program,
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse] | None:
    """Open a page's stream; None while connections of a test before still go, as a page sees it."""
    page = http.client.HTTPConnection(running.console.removeprefix("http://"), timeout=PATIENCE_S)
    try:
        page.request("GET", "/events")
        return page, page.getresponse()
    except (OSError, http.client.HTTPException):
        page.close()
        return None


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of the loopback")
@pytest.mark.parametrize("source", ["127.0.0.2", "127.0.0.1"], ids=["stranger", "neighbour"])
@pytest.mark.parametrize("head", [HEAD, HEAD[:30]], ids=["body", "head"])
def test_an_operator_acts_while_requests_trickle_in(
    running: Program, password: list[str], source: str, head: bytes
) -> None:
    """Arm, Stop and Void are answered, and an open page goes on, beside 160 endless requests.

    That holds for a stranger's, and for those of the operator's own address.
    """
    drip = Drip(running.console, source, head)
    page, stream = eventually(lambda: opened_page(running), "a page")
    with closing(page), closing(stream):
        drip.start()
        try:
            eventually(lambda: drip.rounds > 5, "a few bytes of each")
            running.act("sessions", team="ants")
            number = running.newest()
            running.act(f"sessions/{number}/arm")
            form = f"username=ants&password={password[0]}".encode()
            assert 200 == request(f"{running.contest}/login", form, {})[0]
            running.act(f"sessions/{number}/stop")
            running.act(f"sessions/{number}/void", reason="a test")
            assert "VOID" == (running.session(number) or {})["state"]
            assert drip.is_alive()
            while b'"VOID"' not in stream.readline():
                pass
        finally:
            drip.stop()
