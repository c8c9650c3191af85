# SPDX-License-Identifier: Apache-2.0
"""The demo's contestant: the sample client, slowed down to the pace of a small board."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from client_sample.client import (
    ClientError,
    Detector,
    Row,
    number_images,
    parse_answers,
    replay,
    say,
    take_part,
)
from referee.demo.later_client import LaterClient


def main(argv: list[str] | None = None) -> int:
    """Take part in a session with a fixed time for each image; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--ca-file")
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--seconds-per-image", type=float, required=True)
    parser.add_argument("--first", type=int, default=1, help="the image to begin with")
    parser.add_argument("--shown", action="store_true", help="the images are on a screen")
    args = parser.parse_args(argv)
    options = argparse.Namespace(zip=False, seconds=None, no_logout=True)
    try:
        referee = LaterClient(args.url, ca_file=args.ca_file, first=args.first, shown=args.shown)
        with contextlib.closing(referee.connection):
            referee.login(args.user, args.password)
            count = referee.image_count()
            answers = number_images(parse_answers(args.answers.read_text()), count, None)
            detector = _slowed(replay(answers, {}), args.seconds_per_image, decodes=not args.shown)
            take_part(referee, detector, count, options)
    except (ClientError, KeyboardInterrupt) as error:
        say(str(error))
        return 1
    return 0


def _slowed(detector: Detector, seconds: float, *, decodes: bool) -> Detector:
    """Return a detector that takes `seconds`, and decodes the picture as a real one must."""

    def detect(image_id: int, jpeg_bytes: bytes) -> Iterable[Row]:
        due = time.monotonic() + seconds
        if decodes:
            with Image.open(io.BytesIO(jpeg_bytes)) as image:
                image.load()
        rows = detector(image_id, jpeg_bytes)
        time.sleep(max(0.0, due - time.monotonic()))
        return rows

    return detect


if __name__ == "__main__":
    sys.exit(main())
