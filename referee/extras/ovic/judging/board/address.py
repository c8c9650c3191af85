# SPDX-License-Identifier: Apache-2.0
"""Where a board is, and the command of OpenSSH's client that reaches it."""

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
    found = _ADDRESS.fullmatch(text)
    port = None if found is None or found["port"] is None else int(found["port"])
    if found is None or (port is not None and not 1 <= port <= 65_535):
        raise InputError(
            f"{text!r} is no board: give [USER@]HOST[:PORT], and brackets around an address of IPv6"
        )
    return found["host"].strip("[]"), found["user"], port


def _quoted(path: Path) -> str:
    """Return a path as a value of the client's configuration, where blanks divide files."""
    if '"' in str(path):
        raise InputError(f"{path}: the SSH client takes no file with a quotation mark in its name")
    return f'"{path}"'
