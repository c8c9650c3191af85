# SPDX-License-Identifier: Apache-2.0
"""The SSH client's messages become sentences that say what to do."""

from __future__ import annotations

import pytest

from referee.extras.ovic.judging.board.address import BoardAddress
from referee.extras.ovic.judging.board.faults import why_ended

BOARD = BoardAddress("board", "pi", 2222)


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
