# SPDX-License-Identifier: Apache-2.0
"""One request by HTTP: it ends in time, and asks the host of its address alone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from power.http_request import NO_ANSWER, answered
from power.testing.http_device import serving
from tests.support.running import PATIENCE_S

_BLACK_HOLE = "http://127.0.0.1:9"


@contextmanager
def dripping(head: bytes, stop: threading.Event) -> Iterator[str]:
    """Serve one client: the head at once, and then a blank every 20 ms until `stop`."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            with server.accept()[0] as client, suppress(OSError):  # it hangs up
                client.sendall(head)
                while not stop.wait(0.02):
                    client.sendall(b" ")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            stop.set()
            thread.join()


@pytest.mark.parametrize(
    "head", [b"HTTP/1.1 200 OK\r\nX-Slow:", b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n{"]
)
@pytest.mark.parametrize(("timeout_s", "within_s"), [(0.2, None), (PATIENCE_S, 0.2)])
def test_an_answer_that_comes_byte_by_byte_ends_all_the_same(
    head: bytes, timeout_s: float, within_s: float | None
) -> None:
    """The time is that of the whole request; a socket's own begins anew with each byte."""
    with (
        dripping(head, threading.Event()) as url,
        pytest.raises(TimeoutError, match="timed out"),
        answered(url, timeout_s=timeout_s, within_s=within_s) as answer,
    ):
        answer.read()


def test_a_silence_ends_before_the_whole_request_would() -> None:
    """A server that takes a question and says nothing is left after the longest silence."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(TimeoutError), answered(url, timeout_s=0.1, within_s=PATIENCE_S):
            pass


def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of a proxy lead no request away from its host."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, _BLACK_HOLE)
    with serving(lambda path: (200, path)) as at:
        with answered(f"http://{at}/help?a=1", timeout_s=PATIENCE_S) as answer:
            assert (200, b"/help?a=1") == (answer.status, answer.read())


@pytest.mark.parametrize("status", [301, 302, 307, 404, 500])
def test_every_status_is_the_callers(status: int) -> None:
    """A redirect is an answer like another: it leads to no second request."""
    asked = []

    def answer_once(path: str) -> tuple[int, str]:
        asked.append(path)
        return status, "there"

    with serving(answer_once) as at:
        with answered(f"http://{at}", timeout_s=PATIENCE_S) as answer:
            assert (status, b"there") == (answer.status, answer.read())
    assert ["/"] == asked


@pytest.mark.parametrize(
    "url", [_BLACK_HOLE, "http://[", "http://a b/", "http://127.0.0.1:x/", "http://127.0.0.1:9/\n"]
)
def test_no_answer_is_one_of_few_errors(url: str) -> None:
    """Whatever an address is, a caller knows which errors may come."""
    with pytest.raises(NO_ANSWER), answered(url, timeout_s=PATIENCE_S):
        pass
