# SPDX-License-Identifier: Apache-2.0
"""Pages that follow a scoreboard: many streams of one address, and the bytes of a change.

It belongs to `tests.bench.scoreboard`. As a program it is the audience.
"""

from __future__ import annotations

import errno
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from referee.core.blocking import run_here
from referee.programs.lower_priority import lower_priority
from referee.service.scoreboard.publisher import Publisher
from referee.web.scoreboard.streams import Streams
from referee.web.server.pieces import Piece
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock
from tests.support.many_teams import name_of, register_teams, write_result

AUDIENCE = 500
ADDRESS = "127.0.0.2"
_STREAM = b"GET /events?since= HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n"
_GZIP = 31
_PATIENCE_S = 180.0


@contextmanager
def audience(port: int) -> Iterator[list[int]]:
    """Open the scoreboards in a process of its own; the list gets its events of each second."""
    command = [sys.executable, "-m", "tests.bench.viewers", str(port)]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    events: list[int] = []
    assert watching.stdout is not None
    output = watching.stdout
    assert output.readline() == "all have the view\n"

    def count() -> None:
        for line in output:
            events.append(int(line))

    thread = threading.Thread(target=count, name="audience")
    thread.start()
    try:
        yield events
    finally:
        watching.terminate()
        watching.wait()
        thread.join()
        output.close()


def watch(port: int) -> None:
    """Open the streams, and print the number of events of each second until killed.

    A stream that ends, or is refused, ends the program.
    """
    lower_priority(19)
    with selectors.DefaultSelector() as selector:
        for _ in range(AUDIENCE):
            link = socket.create_connection(
                ("127.0.0.1", port), _PATIENCE_S, source_address=(ADDRESS, 0)
            )
            link.sendall(_STREAM)
            selector.register(link, selectors.EVENT_READ, _Reader())
        waiting = {key.fileobj for key in selector.get_map().values()}
        heard, told_s = 0, time.monotonic()
        while True:
            for key, _ in selector.select(1.0):
                link = key.fileobj  # type: ignore[assignment]
                text = key.data.read(link)
                heard += text.count(b"event: ")
                if waiting and b"event: whole" in text:
                    waiting.discard(link)
                    if not waiting:
                        print("all have the view", flush=True)
            if not waiting and time.monotonic() - told_s >= 1.0:
                print(heard, flush=True)
                heard, told_s = 0, time.monotonic()


class _Reader:
    """A page's end of a stream: it takes the chunks apart and unpacks them."""

    def __init__(self) -> None:
        self._raw = b""
        self._is_head = True
        self._unpack = zlib.decompressobj(_GZIP)

    def read(self, link: socket.socket) -> bytes:
        """Return the text that has come; the end of a stream ends the program."""
        try:
            received = link.recv(1 << 16)
        except OSError as error:
            raise SystemExit(f"a stream broke: {errno.errorcode.get(error.errno or 0)}") from None
        if not received:
            raise SystemExit("the scoreboard has ended a stream")
        self._raw += received
        if self._is_head:
            head, end, rest = self._raw.partition(b"\r\n\r\n")
            if not end:
                return b""
            if b" 200 " not in head or b"Content-Encoding: gzip" not in head:
                raise SystemExit(f"a stream was refused: {head[:200]!r}")
            self._raw, self._is_head = rest, False
        return b"".join(self._unpack.decompress(chunk) for chunk in self._chunks())

    def _chunks(self) -> Iterator[bytes]:
        while (at := self._raw.find(b"\r\n")) >= 0:
            end = at + 2 + int(self._raw[:at], 16)
            if len(self._raw) < end + 2:
                return
            yield self._raw[at + 2 : end]
            self._raw = self._raw[end + 2 :]


def bytes_of_changes() -> None:
    """Print what a page gets for one more result, as it was before and as it is."""
    print("\nbytes to a page   whole, plain (before)   whole, gzip   difference   difference, gzip")
    for teams in (30, 300):
        first = _bytes_of_change(teams, leads=True)
        last = _bytes_of_change(teams, leads=False)
        for what, found in (("a new leader", first), ("a new last one", last)):
            whole, packed, plain, least = found
            print(
                f"{teams:3} teams, {what:15} {whole:12,} {packed:17,} {plain:12,} {least:16,}"
                f"   before / now: {whole / least:.0f}",
                flush=True,
            )


def _bytes_of_change(teams: int, *, leads: bool) -> tuple[int, int, int, int]:
    """Return the bytes of the whole view and of the difference, each plain and packed."""
    with tempfile.TemporaryDirectory() as name:
        contest = make_contest(Path(name), FakeClock(), images=8, mode="event", seconds=600)
        register_teams(contest, teams)
        for number in range(1, teams):
            accuracy = 0.2 + 0.5 * (number * 7919 % teams) / teams
            write_result(contest, name_of(number), accuracy, 0.3 + number / 1000)
        streams = Streams(Publisher(contest), run_here)
        streams.start()
        try:
            wholes = streams.wholes(_nothing)
            changes = streams.differences("", _nothing)
            for stream, event in ((wholes, b"event: view"), (changes, b"event: whole")):
                _until(stream, event)
            write_result(contest, name_of(teams), 0.9 if leads else 0.01, 0.3)
            whole, change = _until(wholes, b"event: view"), _until(changes, b"event: change")
        finally:
            streams.close()
            contest.database.close()
        return len(whole.plain), len(whole.packed), len(change.plain), len(change.packed)


def _until(stream: Iterator[Piece], event: bytes) -> Piece:
    return next(piece for piece in stream if event in piece.plain)


def _nothing() -> None:
    """Do nothing: these streams have no connection."""


if __name__ == "__main__":
    watch(int(sys.argv[1]))
