# SPDX-License-Identifier: Apache-2.0
"""A search for meters on this machine's network and USB, in a process that can be stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

_SEARCH_S = 20.0
_ASK_S = 10.0
# pyvisa-py lists each serial port a second time, as an adapter for GPIB.
_ADAPTER = "::INTFC"


@dataclass(frozen=True)
class MetersFound:
    """The resource strings that were found, and hints why others may be missing."""

    resources: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


def find_meters(bound_s: float = _SEARCH_S) -> MetersFound:
    """Look for meters, for at most so many seconds; a search that fails finds none, and says so."""
    try:
        listed = json.loads(_ask("list", "--json", bound_s=bound_s))
        # A WT310 may be behind a serial port, and a person can tell.
        listed_ones = [*listed["resources"], *listed.get("serial_ports", ())]
        resources = [resource for resource in listed_ones if not resource.endswith(_ADAPTER)]
        return MetersFound(tuple(resources), tuple(listed["hints"]))
    except subprocess.TimeoutExpired:
        return MetersFound(hints=(f"The search for meters took more than {bound_s:g} s.",))
    except (OSError, ValueError, KeyError):
        why = "The search for meters failed. 'python -m power list' says why."
        return MetersFound(hints=(why,))


def identity_of(resource: str, bound_s: float = _ASK_S) -> str | None:
    """Return what a meter says that it is, in one line; None if none answers in so many seconds."""
    try:
        answer = _ask("identify", resource, bound_s=bound_s).decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return None
    return next(iter(answer.splitlines()), None)


def _ask(*arguments: str, bound_s: float) -> bytes:
    """Return what a command of the meter prints."""
    command = [sys.executable, "-m", "power", *arguments]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=bound_s,
    )
    return done.stdout
