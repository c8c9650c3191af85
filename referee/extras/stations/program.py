# SPDX-License-Identifier: Apache-2.0
"""Follow several stations: a thread for each of them, and one that makes the joint board."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import is_not
from pathlib import Path
from typing import Any

from referee.errors import Unavailable
from referee.extras.stations.address import StationAddress
from referee.extras.stations.bundles import BundleFolder, BundleSession
from referee.extras.stations.follower import StationFollower
from referee.extras.stations.joint_board import (
    STANDING,
    VIEW,
    standing_text,
    view_text,
    write_text,
)
from referee.extras.stations.link import LOOK_S, FeedRequest
from referee.programs.child import Child
from referee.programs.supervisor import answers, url_of
from referee.tracks.track import Track

_MAKE_S = 0.5
_BUNDLES_S = 5.0
_READY_S = 60.0
_END_S = 5.0
# A look asks twice at most; the rest is for a name that the network is slow to find.
_ONCE_S = 2 * LOOK_S + 10.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BoardPlan:
    """What a board shows, and where it keeps what it knows; `bundles` is None without a folder."""

    title: str
    track: Track[Any]
    stations: Sequence[StationAddress]
    look: FeedRequest
    bundles: BundleFolder | None
    folder: Path


class JointBoard:
    """The followers of a board's stations, and the files that they lead to.

    Call `look_once`, or `follow` as a context; not both.
    """

    def __init__(self, plan: BoardPlan, tell: Callable[[str], object]) -> None:
        self._plan, self._tell = plan, tell
        self._followers = [
            StationFollower(station, plan.look, _now, plan.folder, tell)
            for station in plan.stations
        ]
        self._bundles: list[BundleSession] = []
        self._written: dict[str, str] = {}
        self._made_of: list[object] = []
        self._stopping = threading.Event()

    def look_once(self) -> None:
        """Look at each station and at the bundles once, and write the board."""
        threads = [
            threading.Thread(
                target=follower.look, name=f"station {follower.followed.address.name}", daemon=True
            )
            for follower in self._followers
        ]
        for thread in threads:
            thread.start()
        self._read_bundles()
        deadline = time.monotonic() + _ONCE_S
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self.make()

    @contextmanager
    def follow(self, every_s: float) -> Iterator[None]:
        """Look at the stations again and again until the block ends."""
        self._read_bundles()
        self.make()
        threads = [self._thread("board", _MAKE_S, self.make)]
        if self._plan.bundles is not None:
            threads.append(self._thread("bundles", _BUNDLES_S, self._read_bundles))
        for follower in self._followers:
            threads.append(
                self._thread(f"station {follower.followed.address.name}", every_s, follower.look)
            )
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            deadline = time.monotonic() + _END_S
            for thread in threads:
                thread.join(max(0.0, deadline - time.monotonic()))

    def make(self) -> None:
        """Write the files of the board that have changed."""
        plan, followed = self._plan, [one.followed for one in self._followers]
        known = [*(one.saved.known for one in followed), self._bundles]
        # What is known stays the same object while nothing is new, so looking costs nothing.
        if len(known) != len(self._made_of) or any(map(is_not, known, self._made_of)):
            self._write(VIEW, view_text(plan.title, plan.track, followed, self._bundles))
            self._made_of = known
        self._write(STANDING, standing_text(followed))

    def _write(self, name: str, text: str) -> None:
        if self._written.get(name) != text:
            write_text(self._plan.folder / name, text)
            self._written[name] = text

    @property
    def is_heard(self) -> bool:
        """Tell whether the newest look at each station went well."""
        return not any(one.followed.fault for one in self._followers)

    def _read_bundles(self) -> None:
        if self._plan.bundles is not None:
            bundles = self._plan.bundles.read(self._tell)
            self._bundles = self._bundles if bundles == self._bundles else bundles

    def _thread(self, name: str, every_s: float, work: Callable[[], object]) -> threading.Thread:
        """Return a thread that repeats its work until the board stops, whatever goes wrong."""

        def run() -> None:
            failed = False
            while not self._stopping.is_set():
                try:
                    work()
                    failed = False
                except Exception:
                    # A full disk, or a mistake of ours. The log tells the first of a series.
                    if not failed:
                        _log.exception("the thread '%s' failed, and goes on", name)
                    failed = True
                self._stopping.wait(every_s)

        return threading.Thread(target=run, name=name, daemon=True)


@contextmanager
def board_pages(folder: Path, listener: socket.socket) -> Iterator[tuple[str, Callable[[], None]]]:
    """Serve a board's pages from a process of their own until the block ends.

    Yields their address, and a function that starts the process again if it has died. Raises
    `Unavailable` if the pages do not answer.
    """
    command = [sys.executable, "-m", "referee.extras.stations.pages", "--folder", str(folder)]
    command += ["--parent", str(os.getpid()), "--descriptor", str(listener.fileno())]
    child = Child("server of the pages", command, folder / "pages.log", [listener.fileno()])
    child.start()
    try:
        url = url_of(listener)
        deadline = time.monotonic() + _READY_S
        while not answers(f"{url}/view"):
            if time.monotonic() > deadline:
                raise Unavailable(f"{url} does not answer; {folder / 'pages.log'} says why.")
            threading.Event().wait(_MAKE_S / 5)
        yield url, lambda: child.look_after(_log.error)
    finally:
        child.terminate()
        child.wait(_END_S)
        listener.close()


def _now() -> datetime:
    return datetime.now(UTC)
