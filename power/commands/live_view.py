# SPDX-License-Identifier: Apache-2.0
"""Show a recording while it runs: the options, and the program that draws it."""

from __future__ import annotations

import argparse
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from power.commands.output import say
from power.energy.verdict import EnergyResult
from power.live.address import DEFAULT_ADDRESS, listening_socket, page_url
from power.meter import Identity, MeterSettings, Reading

if TYPE_CHECKING:
    from power.live.feed import LiveFeed

PAGE, TERMINAL = "page", "terminal"


class Shows(Protocol):
    """Something that shows a recording; none of this waits or raises."""

    def begin(self, identity: Identity, settings: MeterSettings) -> None:
        """Show that the run has started."""
        ...

    def add(self, reading: Reading, elapsed_s: float) -> None:
        """Show a reading."""
        ...

    def end(self, result: EnergyResult) -> None:
        """Show the judged energy."""
        ...


class ShowsNothing:
    """The view of a recording that nobody watches."""

    def begin(self, identity: Identity, settings: MeterSettings) -> None:
        """Do nothing."""

    def add(self, reading: Reading, elapsed_s: float) -> None:
        """Do nothing."""

    def end(self, result: EnergyResult) -> None:
        """Do nothing."""


class _Shown(logging.Handler):
    """The view of a recording in another process; warnings of this program appear there too."""

    def __init__(self, feed: LiveFeed, log: str) -> None:
        super().__init__(logging.WARNING)
        self._feed = feed
        self._log = log

    def begin(self, identity: Identity, settings: MeterSettings) -> None:
        from power.live.records import run_line

        self._feed.send(run_line(self._log, identity, settings))

    def add(self, reading: Reading, elapsed_s: float) -> None:
        from power.live.records import reading_line

        self._feed.send(reading_line(reading, elapsed_s))

    def end(self, result: EnergyResult) -> None:
        from power.live.records import result_line

        self._feed.send(result_line(result))

    def emit(self, record: logging.LogRecord) -> None:
        """Show a warning as a message; never the feed's own, which has no reader any more."""
        from power.live.records import message_line

        if record.name != "power.live.feed":
            self._feed.send(message_line(record.getMessage()))


def add_live_options(parser: argparse.ArgumentParser) -> None:
    """Add the way of showing the run, and the address of the page."""
    parser.add_argument(
        "--live",
        nargs="?",
        const=PAGE,
        type=_way,
        metavar="page|terminal",
        help="show the curve while it is recorded: on a page in the browser (the default), or in "
        "this terminal (extra 'live')",
    )
    parser.add_argument(
        "--live-address",
        metavar="HOST:PORT",
        default=DEFAULT_ADDRESS,
        help=f"where the page and /metrics are served (default: {DEFAULT_ADDRESS}, for this "
        "computer alone; 0.0.0.0:8010 lets everybody in the network look)",
    )


def page_socket(options: argparse.Namespace) -> socket.socket | None:
    """Return the socket of the page, and print its address; None without a page.

    Raises OSError for an address in use, and ValueError where the terminal cannot be drawn on.
    """
    if options.live == TERMINAL and find_spec("rich") is None:
        raise ValueError(
            "--live=terminal needs rich: pip install rich (the extra 'live'). Or use --live=page"
        )
    if options.live != PAGE:
        return None
    listening = listening_socket(options.live_address)
    say(f"live     {page_url(listening)}")
    return listening


@contextmanager
def shown_live(way: str | None, page: socket.socket | None, log: Path) -> Iterator[Shows]:
    """Show a recording until the block ends; an error that ends it is the last message.

    `way` is that of the options, and `page` the socket of `page_socket`, which is closed here.
    """
    from power.live.feed import start_feed
    from power.live.records import message_line

    if way is None:
        yield ShowsNothing()
        return
    with page or nullcontext():
        if page is None:
            feed = start_feed(["--terminal"])
        else:
            feed = start_feed(["--page", str(page.fileno())], [page.fileno()])
    shown = _Shown(feed, log.name)
    root = logging.getLogger()
    # The terminal's picture has the messages above it. Beside a page they go to standard error.
    handlers = [shown] if way == TERMINAL else [shown, logging.StreamHandler()]
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield shown
    except BaseException as error:
        feed.send(message_line(str(error) or "interrupted before the start"))
        raise
    finally:
        for handler in handlers:
            root.removeHandler(handler)
        feed.close(finish=way == TERMINAL)


def _way(text: str) -> str:
    if text not in (PAGE, TERMINAL):
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither page nor terminal; write --live=page, or --live at the end"
        )
    return text
