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
# A page asks twice a second, and once a second in a browser's background; on a busy machine this
# program answers it late. After the end it waits so long for each page that is open to fetch the
# result. A page that has not asked for so long is no longer open.
_LAST_NEWS_S = 5.0
_OPEN_S = 5.0
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
    from power.live.app import LiveApp, page_server

    app = LiveApp(view, lock, real_elapsed_s)
    server = page_server(app.flask(), descriptor)
    threading.Thread(target=server.serve_forever, name="page-server", daemon=True).start()
    _read(view, lock)
    # Whoever reads the recording's messages through a pipe need not wait for the pages.
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), _STDERR)
    ended_s = real_elapsed_s()
    while app.asked_s > real_elapsed_s() - _OPEN_S and real_elapsed_s() < ended_s + _LAST_NEWS_S:
        if app.asked_s > ended_s + 1.0:
            break  # each page has asked since, even one in the background
        time.sleep(_LOOK_S)
    server.shutdown()
    # The threads that answer end with this program, in the middle of an answer too.
    while app.answering and real_elapsed_s() < ended_s + _LAST_NEWS_S:
        time.sleep(_LOOK_S)


def _draw(view: RunView, lock: threading.Lock) -> None:
    from power.live.terminal import draw_until

    reader = threading.Thread(target=_read, args=(view, lock), name="feed", daemon=True)
    reader.start()
    draw_until(view, lock, lambda: not reader.is_alive(), real_elapsed_s)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
