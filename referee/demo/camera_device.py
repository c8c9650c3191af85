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

from client_sample.camera.live import take_part
from client_sample.client import ClientError, Row, say
from client_sample.session import ContestSession, SessionLink
from referee.demo.colour_detector import ColourDetector, coco_rows, learn
from referee.demo.lens import photograph
from referee.demo.screen import shown_page
from referee.demo.severity import SEVERITIES, Severity

Pixels = NDArray[np.uint8]

_LOOK_AT_S = 10.0  # A simulated photograph takes up to a second, and two must agree.
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
            camera = SimulatedCamera(screen, SEVERITIES[args.severity])
            seen = _play(args, camera, detector)
        _write_as_files(seen, args.images, detector, args.as_files)
    except (ClientError, KeyboardInterrupt) as error:
        say(str(error))
        return 1
    return 0


class SimulatedCamera:
    """A camera before the page: each picture is a photograph of the screen's present pixels."""

    def __init__(self, screen: Callable[[], Pixels], severity: Severity) -> None:
        self._screen = screen
        self._severity = severity
        self._chance = np.random.default_rng(2016)

    def newest(self, after_s: float, timeout_s: float) -> Pixels:
        """Return a photograph of this moment, in BGR; both arguments hold for any such one."""
        photo = photograph(self._screen(), self._severity, self._chance).pixels
        return np.ascontiguousarray(photo[..., ::-1])

    def close(self) -> None:
        """Do nothing: the screen belongs to the caller."""


def _play(args: argparse.Namespace, camera: SimulatedCamera, detector: ColourDetector) -> list[int]:
    """Let the sample client play a session; return the images that its detector saw."""
    seen: list[int] = []

    def detect(image_id: int, jpeg_bytes: bytes) -> list[Row]:
        seen.append(image_id)
        picture = cv2.imdecode(np.frombuffer(jpeg_bytes, np.uint8), cv2.IMREAD_COLOR_RGB)
        return list(detector(np.asarray(picture, dtype=np.uint8)))

    session = ContestSession(args.url)
    session.login(args.user, args.password)
    with contextlib.closing(SessionLink(session)) as link:
        take_part(session, link, camera, detect, look_s=_LOOK_AT_S, log_out=False)
    return seen


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
