# SPDX-License-Identifier: Apache-2.0
"""The demo's contestant: the sample client, slowed down to the pace of a small board."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from PIL import Image

from client_sample.client import (
    ClientError,
    Detector,
    Referee,
    Row,
    number_images,
    parse_answers,
    replay,
    say,
    take_part,
)


def main(argv: list[str] | None = None) -> int:
    """Take part in a session with a fixed time for each image; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--seconds-per-image", type=float, required=True)
    parser.add_argument("--first", type=int, default=1, help="the image to begin with")
    args = parser.parse_args(argv)
    options = argparse.Namespace(zip=False, seconds=None, no_logout=True)
    try:
        referee = _Later(args.url, args.first)
        with contextlib.closing(referee.connection):
            referee.login(args.user, args.password)
            count = referee.image_count()
            answers = number_images(parse_answers(args.answers.read_text()), count, None)
            detector = _slowed(replay(answers, {}), args.seconds_per_image)
            take_part(referee, detector, count, options)
    except (ClientError, KeyboardInterrupt) as error:
        say(str(error))
        return 1
    return 0


class _Later(Referee):
    """A client that was started again, and goes on with the image where it had stopped."""

    def __init__(self, url: str, first: int) -> None:
        super().__init__(url)
        self._first = first

    def images(self, count: int, by_hundreds: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of each image from the first one on."""
        for image_id in range(self._first, count + 1):
            yield image_id, self._ask("/image", token=self._token, image_name=image_id)


def _slowed(detector: Detector, seconds: float) -> Detector:
    """Return a detector that decodes the picture, as a real one must, and takes `seconds`."""

    def detect(image_id: int, jpeg_bytes: bytes) -> Iterable[Row]:
        due = time.monotonic() + seconds
        with Image.open(io.BytesIO(jpeg_bytes)) as image:
            image.load()
        rows = detector(image_id, jpeg_bytes)
        time.sleep(max(0.0, due - time.monotonic()))
        return rows

    return detect


if __name__ == "__main__":
    sys.exit(main())
