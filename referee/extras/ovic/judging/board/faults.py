# SPDX-License-Identifier: Apache-2.0
"""Why a board's SSH connection ended, in a sentence that says what to do."""

from __future__ import annotations

from referee.extras.ovic.judging.board.address import CONNECT_S, BoardAddress

_SSH_FAILED = 255
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127


def why_ended(board: BoardAddress, code: int, errors: str, doing: str) -> str:
    """Return why the client ended: `code` is its exit code, `errors` its standard error.

    `doing` is what was going on, such as 'sending the images'.
    """
    last = errors.strip().rpartition("\n")[2][-200:]
    if code == _SSH_FAILED:
        for sign, sentence in _signs(board):
            if sign in errors:
                return f"{board}: {sentence}"
        return f"{board}: the link was lost while {doing}" + (f": {last}" if last else "")
    if code in (_NOT_FOUND, _NOT_EXECUTABLE):
        return (
            f"{board}: the board cannot run {board.python!r}: name its Python, as an absolute path,"
            f" with --board-python ({last or f'exit code {code}'})"
        )
    return f"{board}: the agent ended while {doing} (exit code {code})" + (
        f": {last}" if last else ""
    )


def _signs(board: BoardAddress) -> list[tuple[str, str]]:
    """Return parts of the client's messages, the more exact ones first, and our sentences."""
    by_hand = board.by_hand
    return [
        (
            "REMOTE HOST IDENTIFICATION HAS CHANGED",
            "its host key is not the one that is known. If the board was set up again, remove the"
            " old key with 'ssh-keygen -R'. If not, something else answers in its place",
        ),
        (
            "Host key verification failed",
            f"its host key is not known: connect once by hand with '{by_hand}', compare the"
            " fingerprint, and accept it",
        ),
        (
            "Permission denied",
            f"it does not accept the login: '{by_hand} true' must work without a password. Copy"
            " your key with 'ssh-copy-id', or name one with --identity",
        ),
        ("Too many authentication failures", "too many keys were offered: name one by --identity"),
        ("Could not resolve hostname", "no such name is known: check the board's name"),
        ("Connection refused", "no SSH server listens there: check the port, and start it"),
        ("No route to host", "the network does not lead there: check address and cable"),
        ("Network is unreachable", "the network does not lead there: check address and cable"),
        (
            "Connection timed out",
            f"it did not answer within {CONNECT_S} s: check that it is on, and its address",
        ),
        ("timed out during banner", f"its SSH server did not answer within {CONNECT_S} s"),
        ("Bad configuration option", f"the SSH client's configuration: {by_hand} says more"),
    ]
