# SPDX-License-Identifier: Apache-2.0
"""A board's address, and the client's command, which never weakens the check of the host key."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import InputError
from referee.extras.ovic.judging.board.address import BoardAddress, parse_address, why_ended

BOARD = BoardAddress("board", "pi", 2222)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pi", ("pi", None, None)),
        ("pi@board.local", ("board.local", "pi", None)),
        ("pi@10.0.0.7:2222", ("10.0.0.7", "pi", 2222)),
        ("board:22", ("board", None, 22)),
        ("pi@[fe80::1%eth0]:22", ("fe80::1%eth0", "pi", 22)),
        ("[::1]", ("::1", None, None)),
        ("name@domain@board", ("board", "name@domain", None)),
    ],
)
def test_an_address_is_read(text, expected):
    """User and port are optional; an address of IPv6 stands in brackets."""
    assert expected == parse_address(text)


@pytest.mark.parametrize(
    "text",
    ["", "-oProxyCommand=x", "pi@-x", "a b", "::1", "pi@", "board:", "board:0", "board:65536"]
    + ["board:22:22", "board;ls", "$(ls)", "pi@@board:x", "board\n", "[::1", "bo/ard"],
)
def test_anything_else_is_refused(text):
    """What could be an option, a shell's sign or an unclear port is no address."""
    with pytest.raises(InputError, match=r"\[USER@\]HOST\[:PORT\]"):
        parse_address(text)


def test_the_address_is_shown_as_it_was_written():
    """The address in messages and records is the one of the command line."""
    for text in ("pi", "pi@board:22", "pi@[::1]:22"):
        assert text == str(BoardAddress(*parse_address(text)))


def test_the_client_asks_nobody_and_checks_the_host_key():
    """The command is in batch mode, has time-outs, and leaves the check of host keys alone."""
    words = BoardAddress("board", "pi", 22).command("/usr/bin/ssh", "true")
    assert ["-p", "22", "-l", "pi", "--", "board", "true"] == words[-7:]
    settings = {words[k + 1] for k, word in enumerate(words) if word == "-o"}
    assert {"BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5"} <= settings
    assert not [it for it in settings if "StrictHostKeyChecking" in it or "KnownHosts" in it]


def test_own_keys_are_named_to_the_client():
    """A key and a file of host keys are the only ones that count."""
    address = BoardAddress("board", identity=Path("/k/id"), known_hosts=Path("/k/my hosts"))
    words = address.command("ssh", "true")
    assert "/k/id" == words[words.index("-i") + 1]
    assert {"IdentitiesOnly=yes", 'UserKnownHostsFile="/k/my hosts"'} <= set(words)
    with pytest.raises(InputError, match="quotation mark"):
        BoardAddress("board", known_hosts=Path('/k/"')).command("ssh", "true")


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ("ssh: Could not resolve hostname board: Name or service not known", "check the board's"),
        ("ssh: connect to host board port 22: Connection refused", "no SSH server listens"),
        ("ssh: connect to host board port 22: Connection timed out", "within 10 s"),
        ("ssh: connect to host board port 22: No route to host", "address and cable"),
        ("Host key verification failed.", "ssh -p 2222 pi@board"),
        (
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
            "not the one that is known",
        ),
        ("pi@board: Permission denied (publickey).", "ssh-copy-id"),
        ("Timeout, server board not responding.", "lost while measuring: Timeout, server board"),
        ("", "lost while measuring"),
    ],
)
def test_a_failed_connection_is_a_sentence(errors, expected):
    """Each known message of the client leads to a sentence; any other is quoted."""
    text = why_ended(BOARD, 255, errors, "measuring")
    assert text.startswith("pi@board:2222: ")
    assert expected in text


def test_a_board_without_python_is_told_so():
    """The shell's exit code 127 means that the board's Python has another name."""
    text = why_ended(BOARD, 127, "sh: 1: python3: not found\n", "logging in")
    assert "cannot run 'python3'" in text and "--board-python" in text and "not found" in text


def test_a_dead_agent_is_told_with_its_last_line():
    """Any other exit code is the agent's, with what it said last."""
    text = why_ended(BOARD, 132, "Traceback …\nIllegal instruction\n", "starting the agent")
    assert "ended while starting the agent (exit code 132): Illegal instruction" in text
