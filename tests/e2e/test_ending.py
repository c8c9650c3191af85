# SPDX-License-Identifier: Apache-2.0
"""How an event and a rehearsal end: Ctrl-C, a closed window, SIGTERM."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from referee.service.setup.config_file import load_config
from tests.e2e.conftest import Material, Rehearse, make_event
from tests.support.running import (
    PATIENCE_S,
    Program,
    descendants,
    eventually,
    get,
    program,
    request,
)
from tests.support.teams import give_password

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("terminal_that_can_close", "as_users_start"),
]


@pytest.fixture
def event(tmp_path: Path, material: Material) -> Path:
    """Return the configuration of an event without a meter whose sessions last ten minutes."""
    path = make_event(tmp_path, material)
    text = path.read_text().replace('resource = "emulated"', 'resource = "none"')
    path.write_text(text.replace("seconds = 5", "seconds = 600"))
    return path


def begin(running: Program, event: Path) -> None:
    """Let a session run."""
    password = give_password(load_config(event).teams, "ants")
    running.act("sessions", team="ants")
    running.act("sessions/1/arm")
    form = f"username=ants&password={password}".encode()
    assert 200 == request(f"{running.contest}/login", form, {})[0]


def test_one_ctrl_c_ends_no_session(event: Path) -> None:
    """In a session the first Ctrl-C says what runs and goes on; the second one ends in order."""
    folder = event.parent
    with program(["serve", "--config", str(event)], folder) as running:
        begin(running, event)
        said = folder / "stderr.txt"
        running.child.send_signal(signal.SIGINT)
        eventually(lambda: "Session 1 of 'ants' is RUNNING" in said.read_text(), "the question")
        assert "Press Ctrl-C again" in said.read_text()
        assert "RUNNING" == (running.session() or {})["state"]
        assert running.child.poll() is None

        answered = []

        def ended() -> bool:
            """Answer each question; on a slow machine an answer comes too late, and is asked."""
            if said.read_text().count("Press Ctrl-C again") > len(answered):
                answered.append(running.child.send_signal(signal.SIGINT))
            return running.child.poll() is not None

        eventually(ended, "the end")
        assert 0 == running.child.returncode


def test_between_sessions_one_ctrl_c_is_enough(event: Path) -> None:
    """Without a session Ctrl-C ends an event at once."""
    with program(["serve", "--config", str(event)], event.parent) as running:
        running.child.send_signal(signal.SIGINT)
        assert 0 == running.child.wait(PATIENCE_S)
    assert "Press Ctrl-C again" not in (event.parent / "stderr.txt").read_text()


def test_sigterm_ends_an_event_in_its_session(event: Path) -> None:
    """SIGTERM is an order: the event ends in good order, also while a session runs."""
    with program(["serve", "--config", str(event)], event.parent) as running:
        begin(running, event)
        started = [pid for pid, _ in descendants(running.child.pid)]
        running.child.send_signal(signal.SIGTERM)
        assert 0 == running.child.wait(PATIENCE_S)
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), "their end")


class Window:
    """A terminal with a program in it; `text` is what stands in it so far."""

    def __init__(self, arguments: list[str]) -> None:
        self._ours, theirs = pty.openpty()
        self.child = subprocess.Popen(
            [sys.executable, "-m", "referee", *arguments],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        os.set_blocking(self._ours, False)
        self.text = ""

    def shows(self, text: str) -> bool:
        """Read what has come, and tell whether a text has."""
        with suppress(BlockingIOError):
            self.text += os.read(self._ours, 65536).decode()
        return text in self.text

    def close(self) -> None:
        """Close the window: the kernel sends SIGHUP, and every later line fails."""
        os.close(self._ours)


@contextmanager
def in_window(arguments: list[str]) -> Iterator[tuple[Window, Program]]:
    """Run a command in a window, from its ready line on; end it with SIGTERM."""
    window = Window(arguments)
    running = Program(window.child)  # type: ignore[arg-type]
    try:
        eventually(lambda: window.shows("ready: contestants"), "the ready line")
        eventually(lambda: window.shows("data "), "its end")
        running.ready = window.text[window.text.index("ready: contestants") :]
        yield window, running
    finally:
        if window.child.poll() is None:
            window.child.terminate()
        window.child.wait(PATIENCE_S)


@pytest.mark.skipif(sys.platform != "linux", reason="a closed terminal is a matter of the kernel")
def test_a_closed_window_ends_no_event(event: Path) -> None:
    """The event goes on without its window, the console says how to end it, and SIGTERM does."""
    with in_window(["serve", "--config", str(event)]) as (window, running):
        begin(running, event)
        window.close()

        def told() -> bool:
            texts = [notice["text"] for notice in running.board()["notices"]]
            return any(f"kill {window.child.pid}" in text for text in texts)

        eventually(told, "the notice")
        running.act("sessions/1/stop")  # The next lines find no terminal.
        eventually(lambda: (running.session() or {})["state"] == "SCORED", "the score")
        assert get(f"{running.contest}/help")[0] == 200
        assert window.child.poll() is None
        window.child.terminate()
        assert 0 == window.child.wait(PATIENCE_S)


def test_a_closed_window_ends_a_rehearsal_in_order(rehearse: Rehearse) -> None:
    """A contestant's own rehearsal ends with its window, and leaves no process behind."""
    running = rehearse("--meter", "none")
    assert 200 == request(f"{running.contest}/login", b"username=me&password=practice", {})[0]
    started = [pid for pid, _ in descendants(running.child.pid)]
    running.child.send_signal(signal.SIGHUP)
    running.child.send_signal(signal.SIGHUP)
    assert 0 == running.child.wait(PATIENCE_S)
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in started), "their end")
