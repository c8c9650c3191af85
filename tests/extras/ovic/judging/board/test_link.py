# SPDX-License-Identifier: Apache-2.0
"""Every wait for a board has an end, and whatever the other end does becomes a sentence."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from referee.errors import Unavailable
from referee.extras.ovic.judging.board import link as link_module
from referee.extras.ovic.judging.board.link import Link

pytestmark = pytest.mark.slow

HELLO = 'print(\'{"event": "hello", "mark": "m"}\', flush=True)\n'


@pytest.fixture
def impatient(monkeypatch) -> Iterator[None]:
    """Kill at once a client that would never end."""
    with monkeypatch.context() as patched:
        patched.setattr(link_module, "_ENDING_S", 0.1)
        yield


@contextmanager
def linked(program: str) -> Iterator[Link]:
    """Yield a link to a Python program in the client's place."""

    def explain(code: int, errors: str, doing: str) -> str:
        return f"{doing}: {code} {errors.strip()}"

    with closing(Link([sys.executable, "-c", program], "pi", explain)) as link:
        yield link


def test_a_greeting_of_the_shell_is_skipped():
    """What a board's shell prints comes before the agent's first message, and is no fault."""
    noise = "print('Welcome!'); print('{\"event\": \"noise\"}'); print('[1]')\n"
    with linked(noise + HELLO + "input()") as link:
        assert "hello" == link.greet("m", "logging in", 180)["event"]


def test_an_endless_greeting_is_refused(impatient):
    """A board that never says its first message cannot fill the memory."""
    with linked("import sys\nwhile True: sys.stdout.write('x' * 9999)") as link:
        with pytest.raises(Unavailable, match="without an end"):
            link.greet("m", "logging in", 180)


def test_a_silent_board_is_given_up(impatient):
    """A client that runs and says nothing is given up after the wait."""
    with linked("import signal; signal.pause()") as link:
        with pytest.raises(Unavailable, match="pi: the board did not answer in time while logging"):
            link.greet("m", "logging in", 0.1)


def test_a_board_that_takes_nothing_is_given_up(impatient, monkeypatch):
    """Sending ends when the other end has taken nothing for a while."""
    with linked("import signal; signal.pause()") as link, monkeypatch.context() as patched:
        patched.setattr(link_module, "_STALLED_S", 0.2)
        with pytest.raises(Unavailable, match="while sending"):
            link.send(b"x" * 1_000_000, "sending")


def test_an_end_is_explained():
    """An ended client is explained by its exit code, its last words and what was going on."""
    with linked("import sys; sys.exit('no such board')") as link:
        with pytest.raises(Unavailable, match="logging in: 1 no such board"):
            link.greet("m", "logging in", 180)
    with linked(HELLO + "import os; os.abort()") as link:
        link.greet("m", "logging in", 180)
        with pytest.raises(Unavailable, match="sending: -6"):
            link.send(b"x" * 1_000_000, "sending")
            link.receive("sending", 180)


def test_the_last_words_of_an_agent_are_read():
    """A message that stands before the end is not lost, though the link has ended."""
    with linked(HELLO + 'print(\'{"event": "failed", "text": "no"}\')') as link:
        link.greet("m", "logging in", 180)
        link.send(b"x" * 1_000_000, "sending")
        assert "failed" == link.receive("sending", 180)["event"]


@pytest.mark.parametrize("line", ["noise", "[1]", '{"event": 1}', "[" * 100_000])
def test_what_no_agent_writes_is_refused(line):
    """After the first message each line is a message."""
    with linked(HELLO + f"print({line!r}); input()") as link:
        with pytest.raises(Unavailable, match="no message"):
            link.greet("m", "logging in", 180)
            link.receive("measuring", 180)


def test_who_waits_says_that_it_is_there(monkeypatch):
    """While the referee waits, the agent hears from it again and again."""
    monkeypatch.setattr(link_module, "ALIVE_S", 0.01)
    with linked("import sys\nfor line in sys.stdin: print(line, end='', flush=True)") as link:
        assert ["alive", "alive"] == [link.receive("waiting", 180)["event"] for _ in range(2)]


def test_content_arrives_whole():
    """Far more bytes than a pipe holds arrive, in their order."""
    content = bytes(range(256)) * 20_000
    read = (
        "import hashlib, json, sys\n"
        f"found = sys.stdin.buffer.read({len(content)})\n"
        "print(json.dumps({'event': hashlib.sha256(found).hexdigest()}), flush=True)\n"
    )
    with linked(read) as link:
        link.send(content, "sending")
        assert hashlib.sha256(content).hexdigest() == link.receive("sending", 180)["event"]


def test_a_client_that_does_not_end_is_killed(impatient):
    """Closing has an end, though the client ignores the end of its input."""
    with linked(HELLO + "import signal; signal.pause()") as link:
        link.greet("m", "logging in", 180)
        process = link._process
    assert -9 == process.returncode


def test_a_message_in_two_parts_is_one(monkeypatch):
    """A line that comes in pieces is one message."""
    monkeypatch.setattr(link_module, "_CHUNK", 3)
    message = json.dumps({"event": "hello", "mark": "m", "text": "ä" * 50})
    with linked(f"print({message!r}, flush=True); input()") as link:
        assert "ä" * 50 == link.greet("m", "logging in", 180)["text"]
