# SPDX-License-Identifier: Apache-2.0
"""Characters that an output cannot take: no terminal, pipe or file ends a command by lacking one.

A name may have half of a surrogate pair, as JSON and the names of files can, and a terminal may
lack any letter. Commands print an escape in its place, such as \\ud83d. What is written to a file
is text in UTF-8; if a name has no such form the command says so, and ends.
"""

from __future__ import annotations

import io
import sys

_SHOWN = 20


def print_escapes() -> None:
    """Let both outputs of this program print an escape for each character that they lack."""
    for stream in (sys.stdout, sys.stderr):
        # A caller within Python may have put another object there, which takes any text.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def lacking(error: UnicodeError) -> str:
    """Return a sentence about a text that could not be written or read for want of a character."""
    if isinstance(error, UnicodeEncodeError):
        text = error.object[max(0, error.start - _SHOWN) : error.start + _SHOWN]
        return (
            f"{ascii(text)} has {ascii(error.object[error.start])}, which {error.encoding} cannot "
            "hold: write the name without it"
        )
    if isinstance(error, UnicodeDecodeError):
        return (
            f"a text has the byte {error.object[error.start]:#04x}, which is not {error.encoding}:"
            " save it as UTF-8"
        )
    return f"a name has no form that can be used here: {error}"
