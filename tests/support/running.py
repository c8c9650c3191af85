# SPDX-License-Identifier: Apache-2.0
"""The real programs, started as a user starts them, and waits for their results."""

from __future__ import annotations

import json
import os
import re
import selectors
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import psutil

from referee.service.observation.processes import programs_under
from tests.support.finished import finished
from tests.support.started import Started, started

T = TypeVar("T")

# Only a failing test waits this long; a loaded machine comes closer to it.
PATIENCE_S = 180.0
# A look may cost a server some milliseconds of work, so a long wait looks less often.
_PAUSE_FIRST_S = 0.02
_PAUSE_MOST_S = 0.3
_PAUSE = threading.Event()


def eventually(look: Callable[[], T | None], what: str) -> T:
    """Call `look` until it returns something true, and return that; fail when patience ends."""
    deadline = time.monotonic() + PATIENCE_S
    pause_s = _PAUSE_FIRST_S
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        _PAUSE.wait(pause_s)
        pause_s = min(1.5 * pause_s, _PAUSE_MOST_S)
    raise AssertionError(f"waited {PATIENCE_S:.0f} s in vain for {what}")


def get(url: str, **headers: str) -> tuple[int, bytes]:
    """GET a URL and return status and body, whatever the status."""
    return request(url, None, headers)


def request(
    url: str, body: bytes | None, headers: dict[str, str], tls: ssl.SSLContext | None = None
) -> tuple[int, bytes]:
    """Send a request and return status and body, whatever the status; `tls` goes with https."""
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), _KeepErrors(), urllib.request.HTTPSHandler(context=tls)
    )
    made = urllib.request.Request(url, data=body, headers=headers)
    with opener.open(made, timeout=PATIENCE_S) as response:
        return response.status, response.read()


class _KeepErrors(urllib.request.HTTPErrorProcessor):
    def http_response(self, request, response):  # type: ignore[no-untyped-def]
        return response

    https_response = http_response


def descendants(pid: int) -> list[tuple[int, str]]:
    """Return process id and command line of all descendants of a process, parents first.

    The numbers of processes wrap around, so a child's may be the smaller one.
    """
    found: list[tuple[int, str]] = []
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                found.append((child.pid, " ".join(child.cmdline())))
    return found


def running_as(program: str, pid: int) -> list[int]:
    """Return the process ids of a program of the referee `pid`, with those of its workers."""
    return [found for found, name in programs_under(pid) if name == program]


def kill_all(pids: Iterable[int]) -> None:
    """Kill processes at once. One may have ended meanwhile: its parent was killed before it."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def alive(pid: int) -> bool:
    """Tell whether a process runs; one that waits for its parent's look does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Program:
    """A running `referee` command and its output so far."""

    def __init__(self, child: Started) -> None:
        self.child = child
        self.ready = ""

    @property
    def contest(self) -> str:
        """Return the contest server's address."""
        return _match(r"https?://[\d.]+:\d+", self.ready)

    @property
    def console(self) -> str:
        """Return the console's address."""
        return _match(r"console (http://\S+)", self.ready)

    @property
    def data(self) -> str:
        """Return the folder of a rehearsal's data."""
        return _match(r"data (\S+)", self.ready)

    def board(self) -> dict[str, Any]:
        """Return the console's board as data."""
        board: dict[str, Any] = json.loads(get(f"{self.console}/board")[1])
        return board

    def lane(self) -> dict[str, Any]:
        """Return the board's first lane."""
        first: dict[str, Any] = self.board()["lanes"][0]
        return first

    def session(self, number: int = 1) -> dict[str, Any] | None:
        """Return a session's row of the board, or None before there is one."""
        rows = self.board()["sessions"]
        return next((row for row in rows if row["id"] == number), None)

    def newest(self) -> int:
        """Return the number of the newest session, 0 before there is one."""
        return max((int(row["id"]) for row in self.board()["sessions"]), default=0)

    def act(self, path: str, **arguments: object) -> None:
        """Act as an operator on the console."""
        key = json.loads(get(f"{self.console}/form-key")[1])["key"]
        headers = {"Content-Type": "application/json", "X-Form-Key": key}
        body = json.dumps(arguments).encode()
        status, told = request(f"{self.console}/{path}", body, headers)
        assert 200 == status, told

    def stop_session(self) -> None:
        """End the session that runs, if one does."""
        for row in self.board()["sessions"]:
            if row["state"] == "RUNNING":
                self.act(f"sessions/{row['id']}/stop")

    def scored(self, number: int | None = None) -> dict[str, Any]:
        """Wait until a session, else the newest, is scored; return its row of the board."""
        number = number or self.newest()

        def look() -> dict[str, Any] | None:
            row = self.session(number)
            return row if row is not None and row["state"] == "SCORED" else None

        return eventually(look, f"session {number} to be scored")


@contextmanager
def program(
    arguments: Sequence[str], cwd: Path, python: str | Path = sys.executable
) -> Iterator[Program]:
    """Run a `referee` command that hosts a contest, from its ready line to SIGTERM."""
    errors = cwd / "stderr.txt"
    child = started("referee", arguments, cwd, errors, python)
    running = Program(child)
    try:
        running.ready = _line(child)
        assert running.ready.startswith("ready"), errors.read_text()
        yield running
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)  # One Ctrl-C ends no session.
        child.communicate(timeout=PATIENCE_S)


def client(url: str, *arguments: str, user: str = "me", password: str = "practice") -> str:
    """Run the sample client to its end and return its output; it must exit with 0."""
    words = ["--url", url, "--user", user, "--password", password, *arguments]
    done = finished("client_sample.client", *words, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    return done.stderr


def referee(
    *arguments: str, cwd: Path | None = None, python: str | Path = sys.executable
) -> subprocess.CompletedProcess[str]:
    """Run a `referee` command to its end."""
    if python == sys.executable:
        return finished("referee", *arguments, cwd=cwd)
    return subprocess.run(
        [str(python), "-m", "referee", *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )


def whole_check(config: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run `referee check`, again while it says that other programs keep this machine busy."""

    def look() -> subprocess.CompletedProcess[str] | None:
        done = referee("check", *options, "--config", str(config))
        busy = ("too busy to measure", "Stop other programs")
        return None if any(words in done.stdout for words in busy) else done

    return eventually(look, "a check that the other tests do not disturb")


def _line(child: Started) -> str:
    """Read the first line of a child's output; fail when patience ends."""
    stdout = child.stdout
    assert stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(stdout, selectors.EVENT_READ)
        assert selector.select(PATIENCE_S), "the program printed nothing"
    return stdout.readline()


def _match(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found is not None, text
    return found.group(found.re.groups)
