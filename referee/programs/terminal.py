# SPDX-License-Identifier: Apache-2.0
"""Lines for the terminal, of programs that outlive it."""

from __future__ import annotations

import errno
import logging
import os
import sys
from typing import TextIO

from referee.core.text_cells import with_isolated_quotes
from referee.formats.faults import harmless

# Nobody reads a pipe any more, or the terminal itself is closed.
_GONE = (errno.EPIPE, errno.EIO)

_log = logging.getLogger(__name__)


def say(text: str) -> None:
    """Print on standard output, which is for results; go on if nobody reads it."""
    _print(text, sys.stdout)


def tell_on_terminal(text: str) -> None:
    """Print a sentence for people on standard error; go on if nobody reads it."""
    _print(text, sys.stderr)


def drop_output(stream: TextIO) -> None:
    """Discard what was and will be written to a stream that nobody reads."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _print(text: str, stream: TextIO) -> None:
    # It may quote a stranger.
    shown = "\n".join(with_isolated_quotes(harmless(line)) for line in text.split("\n"))
    try:
        print(shown, file=stream, flush=True)
    except OSError as error:
        # A file on a full disk may have room again, and keeps the line until then.
        if error.errno in _GONE:
            drop_output(stream)
            _log.warning("nobody reads %s any more; the referee carries on", stream.name)
