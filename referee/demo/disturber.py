# SPDX-License-Identifier: Apache-2.0
"""A contestant's program that disturbs: a flood of requests, junk answers, logins out of turn.

It uses the sample client's protocol, and runs until it is stopped or its time is over.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
import time
from collections.abc import Callable

from client_sample.client import ClientError, Referee, Row, say
from referee.demo.later_client import LaterClient

_THREADS = 8
_LOGIN_EVERY_S = 1.0
_JUNK_EVERY_S = 0.3
_INVERTED = (300.0, 300.0, 100.0, 100.0)
# image, then class, confidence and corners: boxes that can never match.
_JUNK: tuple[tuple[int, list[Row]], ...] = (
    (1, [(999, 0.9, 10.0, 10.0, 50.0, 50.0)]),
    (987654, [(1, 0.9, 10.0, 10.0, 50.0, 50.0)]),
    (2, [(1, 0.8, *_INVERTED), (2, 0.8, *_INVERTED)]),
    (3, [(1, 0.5, 10.0, 10.0, 50.0, 50.0)] * 200),
)


def main(argv: list[str] | None = None) -> int:
    """Disturb for a while; return 0, also if the referee refuses all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("how", choices=("flood", "junk", "logins"))
    parser.add_argument("--url", required=True)
    parser.add_argument("--ca-file")
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--shown", action="store_true", help="the images are on a screen")
    args = parser.parse_args(argv)
    until_s = time.monotonic() + args.seconds
    work = {"flood": _flood, "junk": _junk, "logins": _log_in}[args.how]
    count = _THREADS if args.how == "flood" else 1
    threads = [
        threading.Thread(target=work, args=(args, until_s), name=f"disturber-{n}", daemon=True)
        for n in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 0


def _flood(args: argparse.Namespace, until_s: float) -> None:
    """Fetch the first image again and again, on a connection of its own."""

    def ask(referee: Referee) -> None:
        for _ in referee.images(1):
            pass

    _until(args, until_s, ask, 0.0)


def _junk(args: argparse.Namespace, until_s: float) -> None:
    def ask(referee: Referee) -> None:
        for image, rows in _JUNK:
            referee.post(image, rows)

    _until(args, until_s, ask, _JUNK_EVERY_S)


def _log_in(args: argparse.Namespace, until_s: float) -> None:
    _until(args, until_s, lambda referee: None, _LOGIN_EVERY_S)


def _until(
    args: argparse.Namespace, until_s: float, ask: Callable[[Referee], None], pause_s: float
) -> None:
    """Log in and ask until the time is over; an error means to log in once more."""
    while time.monotonic() < until_s:
        with contextlib.suppress(ClientError):
            referee = LaterClient(args.url, ca_file=args.ca_file, shown=args.shown)
            with contextlib.closing(referee.connection):
                referee.login(args.user, args.password)
                while time.monotonic() < until_s and args.how != "logins":
                    ask(referee)
                    time.sleep(pause_s)
        time.sleep(max(pause_s, _JUNK_EVERY_S))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        say("interrupted")
        sys.exit(1)
