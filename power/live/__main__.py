# SPDX-License-Identifier: Apache-2.0
"""The program that shows a recording: it reads lines from its standard input until they end.

`python -m power record --live` starts it; nobody else needs to.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from power.clock import real_elapsed_s
from power.live.records import apply
from power.live.run_view import RunView

# The recording comes first on a busy machine.
_NICENESS = 10
# A page asks twice a second, and once a second in a browser's background. Who has not asked for so
# long is no longer there. After the end this program waits for each page to fetch the result: a
# second or two, and longer on a busy machine alone, where it hears and answers them late.
_GONE_S = 10.0
_LAST_NEWS_S = 60.0
_LOOK_S = 0.05
_STDERR = 2


def main(arguments: Sequence[str]) -> int:
    """Show the recording that comes on standard input, on a page or in the terminal."""
    parser = argparse.ArgumentParser(prog="python -m power.live", description=__doc__)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--page", metavar="FD", type=int, help="descriptor of a listening socket")
    way.add_argument("--terminal", action="store_true", help="draw on standard error")
    options = parser.parse_args(arguments)
    with suppress(OSError):
        os.nice(_NICENESS)
    view, lock = RunView(), threading.Lock()
    if options.terminal:
        _draw(view, lock)
    else:
        _serve(view, lock, options.page)
    return 0


def _read(view: RunView, lock: threading.Lock) -> None:
    """Bring all lines into the view; the end of the lines is the end of the recording."""
    for line in sys.stdin.buffer:
        with lock:
            apply(view, line)
    with lock:
        view.lose()


def _serve(view: RunView, lock: threading.Lock, descriptor: int) -> None:
    # Only the page needs these, and they take a third of a second.
    from power.live.app import LiveApp, PageServer

    app = LiveApp(view, lock, real_elapsed_s)
    server = PageServer(app.flask(), descriptor)
    threading.Thread(target=server.serve_forever, name="page-server", daemon=True).start()
    _read(view, lock)
    # Whoever reads the recording's messages through a pipe need not wait for the pages.
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), _STDERR)
    ended_s = real_elapsed_s()

    def all_told() -> bool:
        """Tell whether each page has asked since the end, even one in the background."""
        gone = app.asked_s == 0.0 or app.asked_s < real_elapsed_s() - _GONE_S
        return not server.is_asked() and (gone or app.news_s > ended_s + 1.0)

    while not all_told() and real_elapsed_s() < ended_s + _LAST_NEWS_S:
        time.sleep(_LOOK_S)
    # The threads that answer end with this program.
    server.shutdown()


def _draw(view: RunView, lock: threading.Lock) -> None:
    from power.live.terminal import draw_until

    reader = threading.Thread(target=_read, args=(view, lock), name="feed", daemon=True)
    reader.start()
    draw_until(view, lock, lambda: not reader.is_alive(), real_elapsed_s)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
