# SPDX-License-Identifier: Apache-2.0
"""The camera demo's contestant: a simulated camera before the real page, and a real detector."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from client_sample.client import ClientError, Unauthorised, say
from client_sample.session import Link, Session
from referee.demo.colour_detector import ColourDetector, coco_rows, learn
from referee.demo.lens import SEVERITIES, photograph
from referee.demo.screen import shown_page

Pixels = NDArray[np.uint8]

_PHOTOGRAPHS = 4  # of one image, before the contestant goes on to the next
_OPEN_S = 60.0
_LOOK_S = 0.2


def main(argv: list[str] | None = None) -> int:
    """Take part in a session through a lens; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--console", required=True)
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--training", type=Path, required=True)
    parser.add_argument("--severity", choices=SEVERITIES, required=True)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--as-files", type=Path, required=True)
    args = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, _end)  # So that the browser ends too.
    try:
        detector = learn(args.training / "images", args.training / "ground_truth.json")
        with shown_page(f"{args.console}/display") as screen:
            _wait_for_display(args.console)
            chance = np.random.default_rng(2016)
            severity = SEVERITIES[args.severity]

            def camera() -> Pixels:
                photo = photograph(screen(), severity, chance).pixels
                return np.ascontiguousarray(photo[..., ::-1])

            seen = _take_part(args, camera, detector)
        _write_as_files(seen, args.images, detector, args.as_files)
    except (ClientError, KeyboardInterrupt) as error:
        say(str(error))
        return 1
    return 0


def _take_part(
    args: argparse.Namespace, camera: Callable[[], Pixels], detector: ColourDetector
) -> list[int]:
    """Ask for each image, look at it, and answer; return the images that were answered."""
    session = Session(args.url)
    session.login(args.user, args.password)
    link = Link(session)
    seen: list[int] = []
    with contextlib.closing(link):
        tag = int(json.loads(link.ask("GET", "/status"))["frame_tag"])
        try:
            for image_id in range(1, session.images + 1):
                link.ask("GET", f"/image_camera?image_name={image_id}")
                picture = _look(camera, image_id, tag)
                if picture is not None:
                    link.post([(image_id, detector(picture))])
                    seen.append(image_id)
        except Unauthorised:
            say("the session's time has run out")
    say(f"{len(seen)} of {session.images} images were read and answered")
    return seen


def _look(camera: Callable[[], Pixels], image_id: int, tag: int) -> Pixels | None:
    """Photograph the screen until the image is read, and return it in its own pixels, in RGB."""
    for _ in range(_PHOTOGRAPHS):
        photo = camera()
        try:
            reading = read(photo, tag)
        except Unread as reason:
            say(f"image {image_id}: {reason}")
            continue
        if reading.label.image_id == image_id:
            return np.asarray(cv2.cvtColor(reading.cut_out(photo), cv2.COLOR_BGR2RGB))
    return None


def _write_as_files(seen: list[int], images: Path, detector: ColourDetector, out: Path) -> None:
    """Write what the same detector finds in the files of the same images, for comparison."""
    rows: list[dict[str, object]] = []
    for image_id in seen:
        pixels = cv2.imread(str(images / f"{image_id}.jpg"), cv2.IMREAD_COLOR_RGB)
        rows += coco_rows(image_id, detector(np.asarray(pixels, dtype=np.uint8)))
    out.write_text(json.dumps(rows), encoding="utf-8")


def _wait_for_display(console: str) -> None:
    """Return when the referee can use the display; raise `ClientError` after a minute."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + _OPEN_S
    while time.monotonic() < deadline:
        with opener.open(f"{console}/board", timeout=10) as response:
            if json.load(response)["display"]["fault"] == "":
                return
        time.sleep(_LOOK_S)
    raise ClientError("The display page was not ready within a minute.")


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
