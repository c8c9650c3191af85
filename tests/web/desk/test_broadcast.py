# SPDX-License-Identifier: Apache-2.0
"""The board's stream: its viewers, and the events that each of them gets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from referee.web.desk import broadcast as module
from referee.web.desk.broadcast import Broadcast
from referee.web.server.pieces import Piece


@contextmanager
def broadcasting(compute: Callable[[], dict[str, Any]], most: int = 2) -> Iterator[Broadcast]:
    """Run a broadcast until the block ends."""
    broadcast = Broadcast(compute, most)
    broadcast.start()
    try:
        yield broadcast
    finally:
        broadcast.close()


def one(event: Piece) -> tuple[str, Any]:
    """Return the name and the data of an event."""
    lines = dict(line.split(": ", 1) for line in event.plain.decode().strip().split("\n"))
    return lines["event"], json.loads(lines["data"])


def test_viewer_gets_boards() -> None:
    """Each event is a board with a number, and the numbers go up."""
    numbers = iter(range(7, 100))
    with broadcasting(lambda: {"images": next(numbers)}) as broadcast:
        stream = broadcast.stream()
        first, second = next(stream), next(stream)
        assert ("board", {"images": 7}) == one(first)
        assert first.plain.split(b"\n")[0] < second.plain.split(b"\n")[0]
        stream.close()


def test_stream_that_is_never_read_takes_no_place() -> None:
    """A response whose body nobody reads, such as one to HEAD, is no viewer."""
    with broadcasting(dict) as broadcast:
        streams = [broadcast.stream() for _ in range(50)]
        for stream in streams:
            stream.close()
        assert "board" == one(next(broadcast.stream()))[0]


def test_page_beyond_the_last_place_is_told_so() -> None:
    """A page without a place gets one event with advice, and gets in when a place is free."""
    with broadcasting(dict, most=2) as broadcast:
        viewers = [broadcast.stream(), broadcast.stream()]
        for viewer in viewers:
            next(viewer)
        refused = list(broadcast.stream())
        assert 1 == len(refused)
        assert refused[0].plain.startswith(b"retry: ")
        name, data = one(refused[0])
        assert ("full", True) == (name, data["text"].startswith("Too many pages are open"))
        viewers[0].close()
        assert "board" == one(next(broadcast.stream()))[0]


def test_first_viewer_gets_no_board_of_the_past() -> None:
    """The first viewer does not get a board from before it connected."""
    numbers = iter(range(100))
    with broadcasting(lambda: {"n": next(numbers)}) as broadcast:
        broadcast.publish_now()
        stream = broadcast.stream()
        assert one(next(stream))[1]["n"] >= 1
        stream.close()


def test_board_that_fails_is_told_and_survived() -> None:
    """A board that fails becomes an event with a message, and the next board goes out."""
    boards = iter([OSError("no disk"), {"images": 1}])

    def compute() -> dict[str, Any]:
        board = next(boards, {"images": 2})
        if isinstance(board, OSError):
            raise board
        return dict(board)

    with broadcasting(compute) as broadcast:
        stream = broadcast.stream()
        name, data = one(next(stream))
        assert ("trouble", True) == (name, "log says why" in data["text"])
        assert ("board", {"images": 1}) == one(next(stream))
        stream.close()


@pytest.mark.parametrize("nothing", [float("nan"), float("inf")])
def test_no_number_that_json_lacks(nothing: float) -> None:
    """NaN never reaches a page, because it would stop the page's script."""
    with broadcasting(lambda: {"power_w": nothing}) as broadcast:
        stream = broadcast.stream()
        assert "trouble" == one(next(stream))[0]
        stream.close()


def test_a_page_that_holds_the_board_gets_differences() -> None:
    """All of it comes once, then what has changed, and while nothing changes that it lives."""
    now = {"images": 7, "urls": ["http://10.0.0.2:8000"] * 5}
    with broadcasting(lambda: dict(now)) as broadcast:
        stream = broadcast.stream("")
        name, whole = one(next(stream))
        assert ("whole", now) == (name, whole["document"])
        assert ("alive", {"number": whole["number"]}) == one(next(stream))
        now["images"] = 8
        broadcast.publish_now()
        name, change = one(next(stream))
        assert ("change", whole["number"]) == (name, change["from"])
        assert {"fields": {"images": {"set": 8}}} == change["change"]
        back = broadcast.stream(whole["number"])
        assert ("change", change) == one(next(back))


def test_the_passing_of_time_is_no_news() -> None:
    """A board that differs by its clock alone is not sent; other news bring the clock along."""
    ticks, images = iter(range(1000)), [7]

    def compute() -> dict[str, Any]:
        return {"images": images[0], "utc": next(ticks), "urls": ["http://10.0.0.2:8000"] * 9}

    broadcast = Broadcast(compute, 2, steady=lambda board: board["images"])
    broadcast.start()
    stream = broadcast.stream("")
    assert "whole" == one(next(stream))[0]
    for _ in range(3):
        broadcast.publish_now()
    assert "alive" == one(next(stream))[0]
    images[0] = 8
    broadcast.publish_now()
    assert {"images", "utc"} == set(one(next(stream))[1]["change"]["fields"])
    broadcast.close()


def test_nobody_says_that_it_lives_while_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the board's thread stands still, pages hear nothing, and say that the desk is silent."""
    hangs, goes_on = threading.Event(), threading.Event()

    def compute() -> dict[str, Any]:
        if hangs.is_set():
            goes_on.wait(180)
        return {"images": 7}

    with broadcasting(compute) as broadcast:
        stream = broadcast.stream("")
        next(stream)
        hangs.set()
        monkeypatch.setattr(module, "_ALIVE_S", 0.01)
        told = [next(stream).plain for _ in range(50)]
        assert b": still here\n\n" == told[-1]
        goes_on.set()


def test_closing_ends_every_stream() -> None:
    """Open pages do not keep the desk from ending."""
    broadcast = Broadcast(dict, 2)
    broadcast.start()
    stream = broadcast.stream()
    next(stream)
    broadcast.close()
    assert [] == list(stream)
