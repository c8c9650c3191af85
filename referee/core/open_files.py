# SPDX-License-Identifier: Apache-2.0
"""How many files a process may open, and so how many connections a server of it takes."""

from __future__ import annotations

CONNECTIONS = 1000
"""The connections that one worker of a server takes, where it may open files enough."""

RESERVED = 200
"""The files that a worker opens beside its connections: database, logs, images, and those whose
connections it closes."""

SHARE = 128
"""The most connections of one address; a worker that cannot take so many serves no event."""


def connections_within(files: int | None, wanted: int = CONNECTIONS) -> int:
    """Return how many connections fit into a limit of open files; None is no limit."""
    return wanted if files is None else max(1, min(wanted, files - RESERVED))


def descriptor_shortage(files: int | None) -> str | None:
    """Return what a limit of open files costs, or None if everybody who may connect can."""
    fit = connections_within(files)
    if fit >= CONNECTIONS:
        return None
    return (
        f"a process may open {files} files here, so each server process takes {fit} connections "
        f"in place of {CONNECTIONS}"
    )


def is_too_few(files: int | None) -> bool:
    """Tell whether a limit leaves no room for the connections of one address."""
    return connections_within(files) < SHARE
