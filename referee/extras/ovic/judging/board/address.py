# SPDX-License-Identifier: Apache-2.0
"""Where a board is, how OpenSSH's client reaches it, and why that ended."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from referee.errors import InputError

CONNECT_S = 10
"""How long the client waits for the board's SSH server to answer."""

KEEP_ALIVE_S, KEEP_ALIVES = 5, 3
"""The client asks a silent server this often, and gives up after so many unanswered questions."""

# A name, an address of IPv4, or one of IPv6 in brackets. A leading hyphen would be an option.
_ADDRESS = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.\\@-]*)@)?"
    r"(?P<host>[A-Za-z0-9_][A-Za-z0-9_.-]*|\[[0-9A-Fa-f:.]+(?:%[A-Za-z0-9_.-]+)?\])"
    r"(?::(?P<port>\d{1,5}))?"
)

_SSH_FAILED = 255
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127


@dataclass(frozen=True)
class BoardAddress:
    """A board's SSH server; without user or port the client's own configuration says them.

    `identity` is a private key, `known_hosts` a file of host keys. `python` is the command of the
    board's Python.
    """

    host: str
    user: str | None = None
    port: int | None = None
    identity: Path | None = None
    known_hosts: Path | None = None
    python: str = "python3"

    def __str__(self) -> str:
        user = "" if self.user is None else f"{self.user}@"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{user}{host}" + ("" if self.port is None else f":{self.port}")

    @property
    def by_hand(self) -> str:
        """Return the command with which a person reaches the board."""
        port = "" if self.port is None else f"-p {self.port} "
        return f"ssh {port}{'' if self.user is None else self.user + '@'}{self.host}"

    def command(self, ssh: str, remote: str) -> list[str]:
        """Return the client's command that runs a line in the board's shell.

        The client never asks a person, and it checks the host key. It shares no connection, so
        that our own keep-alive holds, and it forwards nothing.
        """
        settings = {
            "BatchMode": "yes",
            "ConnectTimeout": str(CONNECT_S),
            "ServerAliveInterval": str(KEEP_ALIVE_S),
            "ServerAliveCountMax": str(KEEP_ALIVES),
            "ControlPath": "none",
            "ClearAllForwardings": "yes",
            "PermitLocalCommand": "no",
            "RemoteCommand": "none",
            "RequestTTY": "no",
        }
        if self.known_hosts is not None:
            settings["UserKnownHostsFile"] = _quoted(self.known_hosts)
        words = [ssh, "-a", "-x", "-T"]
        for name, value in settings.items():
            words += ["-o", f"{name}={value}"]
        if self.identity is not None:
            words += ["-o", "IdentitiesOnly=yes", "-i", str(self.identity)]
        if self.port is not None:
            words += ["-p", str(self.port)]
        if self.user is not None:
            words += ["-l", self.user]
        return [*words, "--", self.host, remote]


def parse_address(text: str) -> tuple[str, str | None, int | None]:
    """Return host, user and port of `[USER@]HOST[:PORT]`; raise InputError for anything else."""
    parts = _ADDRESS.fullmatch(text)
    port = None if parts is None or parts["port"] is None else int(parts["port"])
    if parts is None or (port is not None and not 1 <= port <= 65_535):
        raise InputError(
            f"{text!r} is no board: give [USER@]HOST[:PORT], and brackets around an address of IPv6"
        )
    return parts["host"].strip("[]"), parts["user"], port


def _quoted(path: Path) -> str:
    """Return a path as a value of the client's configuration, where blanks divide files."""
    if '"' in str(path):
        raise InputError(f"{path}: the SSH client takes no file with a quotation mark in its name")
    return f'"{path}"'


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
            " your key with 'ssh-copy-id', or name one in ~/.ssh/config",
        ),
        (
            "Too many authentication failures",
            "too many keys were offered: name one in ~/.ssh/config",
        ),
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
