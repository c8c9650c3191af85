# SPDX-License-Identifier: Apache-2.0
"""Clients that only cost the server time do not harm anybody else."""

from __future__ import annotations

import json
import selectors
import socket
import statistics
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.e2e.conftest import Rehearse
from tests.support.running import PATIENCE_S, Program, eventually, get, request

pytestmark = pytest.mark.slow

# More connections than the old server had threads.
MANY = 40
NEIGHBOUR = "127.0.0.2"
Open = Callable[..., socket.socket]


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a folder of large pictures and their ground truth."""
    tmp_path = tmp_path_factory.mktemp("noise")
    folder = tmp_path / "noise"
    folder.mkdir()
    pixels = np.random.default_rng(7).integers(0, 256, (900, 900, 3), dtype=np.uint8)
    for number in range(1, 13):
        Image.fromarray(pixels).save(folder / f"{number}.jpg", quality=98)
    annotation = {"image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "iscrowd": 0, "area": 81}
    truth = {
        "images": [
            {"id": n, "file_name": f"{n}.jpg", "width": 900, "height": 900} for n in range(1, 13)
        ],
        "categories": [{"id": 1, "name": "thing"}],
        "annotations": [{"id": 1} | annotation],
    }
    path = tmp_path / "noise.json"
    path.write_text(json.dumps(truth))
    return folder, path


@pytest.fixture
def referee(standing: Rehearse, noise: tuple[Path, Path]) -> Program:
    """Return a rehearsal whose archives are too long for the buffers of a connection."""
    images, truth = noise
    return standing("--seconds", "600", "--meter", "none", images=images, truth=truth)


@pytest.fixture
def opened(referee: Program) -> Iterator[Open]:
    """Return a function that connects and sends, and leaves the connection open."""
    host, _, port = referee.contest.removeprefix("http://").partition(":")
    with ExitStack() as stack:

        def connect(message: bytes, source: str = "127.0.0.1") -> socket.socket:
            place = (host, int(port))
            link = stack.enter_context(socket.create_connection(place, PATIENCE_S, (source, 0)))
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            link.sendall(message)
            return link

        yield connect


def login(referee: Program) -> str:
    """Log in and return the token."""
    status, token = request(f"{referee.contest}/login", b"username=me&password=practice", {})
    assert status == 200
    return token.decode()


def assert_served(referee: Program, token: str) -> None:
    """Check that a running team and its neighbours get everything that they need."""
    headers = {"Authorization": f"Bearer {token}"}
    for path in ("/help", "/image/1", "/status"):
        assert get(f"{referee.contest}{path}", **headers)[0] == 200
    assert request(f"{referee.contest}/result", f"token={token}".encode(), {})[0] == 200
    assert request(f"{referee.contest}/logout", b"", headers) == (200, b"Logout success\n")


def test_archives_that_nobody_reads(referee: Program, opened: Open) -> None:
    """A board that disappears with its downloads open stops nobody."""
    token = login(referee)
    ask = f"GET /zipimages?image_name=1&token={token} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
    links = [opened(ask) for _ in range(MANY)]
    # Only the first bytes of each archive have been sent; the buffers cannot hold the rest of 12
    # MB.
    begun = [link.recv(16).startswith(b"HTTP/1.1 200") for link in links[: MANY // 2]]
    assert all(begun)
    assert_served(referee, token)


def test_heads_that_do_not_end(referee: Program, opened: Open) -> None:
    """A head that never ends holds nothing that others need, and the server closes it in time."""
    token = login(referee)
    links = [opened(b"GET /help HTTP/1.1\r\nHost: x\r\nX-Slow: ") for _ in range(MANY)]
    assert_served(referee, token)
    assert links[0].recv(4096).startswith(b"HTTP/1.1 408 ")
    assert b"too slowly" in links[1].recv(4096)


@pytest.mark.parametrize("length", [1000, 2_000_000], ids=["short", "long"])
@pytest.mark.parametrize("known", [True, False], ids=["team", "stranger"])
def test_bodies_that_do_not_end(referee: Program, opened: Open, known: bool, length: int) -> None:
    """A body that stops arriving, from a stranger or from the team itself, stops nobody."""
    token = login(referee)
    head = f"POST /result HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n"
    if known:
        head += f"Authorization: Bearer {token}\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    for _ in range(MANY):
        opened(f"{head}image_name=1&".encode())
    assert_served(referee, token)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of the loopback")
def test_one_address_never_has_all_threads(referee: Program, opened: Open) -> None:
    """Requests of one address wait for each other; another address is served at once."""
    token = login(referee)
    head = (
        "POST /result HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: text/csv\r\n\r\n"
    )
    for _ in range(200):
        opened(head.encode(), NEIGHBOUR)
    assert_served(referee, token)


def test_connections_that_say_nothing(referee: Program, opened: Open) -> None:
    """Idle connections cost the server no thread; those above an address's limit are closed."""
    token = login(referee)
    links = [opened(b"") for _ in range(300)]
    eventually(lambda: any(closed(link) for link in links), "a connection to be refused")
    for link in links[:100]:
        link.close()
    eventually(lambda: get_quietly(referee), "room for another")
    for link in links:
        link.close()
    assert_served(referee, token)


def closed(link: socket.socket) -> bool:
    """Tell whether the other side has closed."""
    link.setblocking(False)
    try:
        return link.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def get_quietly(referee: Program) -> bool:
    """Tell whether the server answers a request for the help."""
    try:
        return get(f"{referee.contest}/help")[0] == 200
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="needs other addresses of the loopback")
def test_forms_that_trickle_stop_nobody(referee: Program, opened: Open) -> None:
    """Three hundred strangers send long forms a byte at a time; everybody else is served."""
    token = login(referee)
    kind = "Content-Type: application/x-www-form-urlencoded"
    head = f"POST /result HTTP/1.1\r\nHost: x\r\n{kind}\r\nContent-Length: 900000\r\n\r\n"
    links = [opened(head.encode(), f"127.0.0.{2 + number % 2}") for number in range(300)]
    for _ in range(3):
        for link in links:
            with suppress(OSError):  # No address has more than its share of connections.
                link.sendall(b"a")
        for _ in range(20):
            assert get(f"{referee.contest}/image/1", Authorization=f"Bearer {token}")[0] == 200
    assert_served(referee, token)


@pytest.mark.skipif(sys.platform != "linux", reason="needs other addresses of the loopback")
def test_idle_connections_of_many_addresses_make_room(referee: Program, opened: Open) -> None:
    """A newcomer gets in, however many connections say nothing."""
    token = login(referee)
    for number in range(2200):
        opened(b"", f"127.0.0.{2 + number % 39}")
    for _ in range(20):
        assert get(f"{referee.contest}/image/1", Authorization=f"Bearer {token}")[0] == 200
    assert_served(referee, token)


class Repeating:
    """Connections of one address that repeat a request without a pause, in a thread of their own.

    `answers` counts what they have got.
    """

    def __init__(self, links: Iterable[socket.socket], message: bytes) -> None:
        self.answers = 0
        self._links = list(links)
        self._message = message
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="repeating")

    def __enter__(self) -> Repeating:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            for link in self._links:
                link.sendall(self._message)
                selector.register(link, selectors.EVENT_READ)
            while not self._over.is_set():
                for key, _ in selector.select(0.1):
                    link = key.fileobj  # type: ignore[assignment]
                    if link.recv(65536).startswith(b"HTTP/1.1 "):
                        self.answers += 1
                        link.sendall(self._message)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of the loopback")
def test_a_stranger_with_many_connections_costs_the_team_little(
    referee: Program, opened: Open
) -> None:
    """While the team waits for an answer, an address without a token gets a few answers at most."""
    token = login(referee)
    mine = f"Authorization: Bearer {token}\r\nConnection: close\r\n"
    ask = f"GET /verify HTTP/1.1\r\nHost: x\r\n{mine}\r\n".encode()
    forged = b"GET /image/1?token=1.forged HTTP/1.1\r\nHost: x\r\n\r\n"
    strangers = [opened(b"", NEIGHBOUR) for _ in range(120)]
    meanwhile = []
    with Repeating(strangers, forged) as flood:
        eventually(lambda: flood.answers > len(strangers), "the flood")
        for _ in range(20):
            before = flood.answers
            with closing(opened(ask)) as link:
                assert link.recv(4096).startswith(b"HTTP/1.1 200 ")
            meanwhile.append(flood.answers - before)
        flood_goes_on = flood.answers
        eventually(lambda: flood.answers > flood_goes_on, "the flood to go on")
    assert statistics.median(meanwhile) < len(strangers) / 4, meanwhile
