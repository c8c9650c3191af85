# SPDX-License-Identifier: Apache-2.0
"""Run `python -m power`."""

from __future__ import annotations

import sys


def _run() -> None:
    """Run the command; Ctrl-C while it is still being loaded is told in one line, as later on."""
    try:
        from power.commands.interrupt import leave, listening, raise_interrupt

        with listening(raise_interrupt):
            from power.cli import main

            code = main(sys.argv[1:])
        leave(code)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(1)


if __name__ == "__main__":
    _run()
