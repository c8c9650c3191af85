# SPDX-License-Identifier: Apache-2.0
"""A client that fetches, recognises and posts at the same time, so no step waits for another.

    python -m client_sample.pipelined --model best.onnx --check photos
    python -m client_sample.pipelined --model best.onnx --user me --password practice --zip

Some threads fetch images ahead of the detector, up to a bound. Others run the detector. One thread
posts all finished images in one answer. So a slow referee gets fewer and larger answers. A lost
connection is opened again, and nothing is posted twice.

--check makes no session: it writes a page that shows a folder's first photographs with the boxes of
the model.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path
from typing import Callable, List, Optional, Sequence

from client_sample.client import (
    INTERRUPTED,
    ClientError,
    Detector,
    Unauthorised,
    add_answer_options,
    add_server_options,
    choose,
    say,
)
from client_sample.models.command import add_model_options, check_model, open_model
from client_sample.pipeline import Pipeline
from client_sample.session import ContestSession, SessionConnection

_PROGRESS_S = 2.0


def run(session: ContestSession, detectors: Sequence[Detector], args: argparse.Namespace) -> int:
    """Run a session to its end and return the exit code."""
    started = time.monotonic()
    pipeline = Pipeline(
        session,
        detectors,
        by_hundreds=args.zip,
        fetchers=args.fetchers,
        ahead=args.ahead,
        batch=args.batch,
    )
    timer = threading.Timer(args.seconds, pipeline.stop_fetching)
    if args.seconds is not None:
        timer.start()
    pipeline.start()
    try:
        while not pipeline.wait(_PROGRESS_S):
            elapsed_s = time.monotonic() - started
            rate = pipeline.seen / elapsed_s
            say(f"{pipeline.seen} of {session.images} images, {rate:.1f} images/s")
    finally:
        timer.cancel()
        pipeline.stop()
    elapsed_s = time.monotonic() - started
    _tell(session, pipeline, elapsed_s)
    if pipeline.error is not None:
        raise pipeline.error
    if not args.no_logout and not pipeline.session_over:
        _log_out(session)
    return 1 if pipeline.problems else 0


def _tell(session: ContestSession, pipeline: Pipeline, elapsed_s: float) -> None:
    if pipeline.session_over:
        say("the session's time has run out")
    for reason, count in pipeline.flagged.most_common():
        say(f"{count} boxes can never match: {reason}")
    say(
        f"detectors waited {pipeline.images.starved_s:.1f} s for images, and "
        f"{session.reconnections} connections broke"
    )
    say(
        f"{pipeline.seen} of {session.images} images, {pipeline.boxes} boxes in {pipeline.posts} "
        f"answers, {elapsed_s:.1f} s, {pipeline.seen / max(elapsed_s, 1e-9):.1f} images/s"
    )


def _log_out(session: ContestSession) -> None:
    link = SessionConnection(session)
    session.stopped.clear()
    try:
        link.logout()
    except Unauthorised:
        say("the session's time has run out")
    finally:
        link.close()


def main(argv: Optional[List[str]] = None) -> int:
    """Run the client and return its exit code."""
    parser = argparse.ArgumentParser(description="Take part in a session, all stages at once.")
    add_server_options(parser, team=False)
    add_model_options(parser)
    add = parser.add_argument
    add("--check", type=Path, metavar="DIR", help="only show the model's boxes on photographs")
    add("--detector", metavar="MODULE:FUNCTION", help="detect with this function")
    add_answer_options(parser)
    add("--workers", type=_count, default=1, help="detectors that work at the same time")
    add("--fetchers", type=_count, default=2, help="connections that fetch at the same time")
    add("--zip", action="store_true", help="fetch a hundred images at a time")
    add("--ahead", type=_count, default=200, help="images that may wait for a detector")
    add("--batch", type=_count, default=100, help="images that may share one answer")
    add("--seconds", type=float, help="stop and log out after this time")
    add("--timeout", type=float, default=30.0, help="seconds to wait for each answer")
    add("--patience", type=float, default=60.0, help="seconds to try to reach a lost referee")
    add("--no-logout", action="store_true", help="leave the session running at the end")
    args = parser.parse_args(argv)
    if args.check is None and None in (args.user, args.password):
        parser.error("the following arguments are required: --user and --password")
    if args.check is not None and not args.model:
        parser.error("--check shows what a model sees: give --model, too")
    try:
        if args.check is not None:
            return check_model(args)
        session = ContestSession(args.url, args.timeout, args.patience, args.ca_file)
        # The login starts clock and meter. So slow steps and steps that can fail come before it.
        make_detectors = _choose(args, session)
        session.login(args.user, args.password)
        return run(session, make_detectors(session.images), args)
    except (ClientError, KeyboardInterrupt) as error:
        say(str(error) or INTERRUPTED)
        return getattr(error, "exit_code", 1)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _choose(
    args: argparse.Namespace, session: ContestSession
) -> Callable[[int], Sequence[Detector]]:
    """Return a function that takes the number of images and makes a detector for each worker."""
    if args.model and not (args.answers or args.detector):
        models = open_model(args, session, args.workers)
        return lambda count: models
    make_detector = choose(args)
    return lambda count: [make_detector(count)] * args.workers


if __name__ == "__main__":
    sys.exit(main())
