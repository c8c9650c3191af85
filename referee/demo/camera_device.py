# SPDX-License-Identifier: Apache-2.0
"""The camera demo's contestant: a simulated camera before the real page, and a real detector.

The detector is small, and really looks at pixels. It learns how often a colour lies in a box of a
class, and paints that share over a picture (histogram back-projection, Swain and Ballard, 1991).
Connected bright areas become boxes. It knows no shapes, so it suits pictures such as those of
`referee.demo.signs` alone. Whatever a camera does to colours and edges costs it accuracy.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.live import take_part
from client_sample.client import ClientError, Row, say
from client_sample.session import ContestSession, SessionConnection
from power.http_request import answered
from referee.demo.lens import photograph
from referee.demo.screen import shown_page
from referee.demo.severity import MILD, Severity

Pixels = NDArray[np.uint8]

_LOOK_AT_S = 10.0  # A simulated photograph takes up to a second, and two must agree.
_OPEN_S = 60.0
_LOOK_S = 0.2

_BITS = 4  # of each colour's value: 4,096 colours
_PRIOR = 30.0  # pixels that a colour must outweigh, so that rare colours prove nothing
_BLUR_PX = 7
_LEVEL = 0.25  # of the share of a class
_SMALLEST_PX = 60  # pixels of an area
_MOST = 40  # boxes of a picture


@dataclass(frozen=True, eq=False)
class ColourDetector:
    """A detector with the share of each class in each colour (classes, colours)."""

    class_ids: tuple[int, ...]
    shares: NDArray[np.float32]

    def __call__(self, pixels: Pixels) -> list[Row]:
        """Return the detections in a picture (height, width, RGB), the surest first."""
        maps = self.shares[:, _colours(pixels)]
        rows = [
            row
            for class_id, share in zip(self.class_ids, maps, strict=True)
            for row in _areas(class_id, share)
        ]
        return sorted(rows, key=lambda row: -row[1])[:_MOST]


def learn(images: Path, ground_truth: Path) -> ColourDetector:
    """Learn from a folder of pictures and its COCO ground truth."""
    truth = json.loads(ground_truth.read_text(encoding="utf-8"))
    class_ids = tuple(sorted(category["id"] for category in truth["categories"]))
    inside = np.zeros((len(class_ids), 1 << 3 * _BITS))
    seen = np.zeros(1 << 3 * _BITS)
    boxes: dict[int, list[tuple[int, list[float]]]] = {}
    for row in truth["annotations"]:
        boxes.setdefault(row["image_id"], []).append((row["category_id"], row["bbox"]))
    for image in truth["images"]:
        colours = _colours(_read(images / image["file_name"]))
        seen += np.bincount(colours.ravel(), minlength=len(seen))
        for class_id, (x, y, width, height) in boxes.get(image["id"], ()):
            part = colours[round(y) : round(y + height), round(x) : round(x + width)]
            inside[class_ids.index(class_id)] += np.bincount(part.ravel(), minlength=len(seen))
    return ColourDetector(class_ids, (inside / (seen + _PRIOR)).astype(np.float32))


def _areas(class_id: int, share: NDArray[np.float32]) -> Iterator[Row]:
    """Yield a box for each connected area whose colours speak for the class."""
    smooth = cv2.blur(share, (_BLUR_PX, _BLUR_PX))
    mask = (smooth > _LEVEL).astype(np.uint8)
    _, _, areas, _ = cv2.connectedComponentsWithStats(mask)
    for x, y, width, height, size in areas[1:].tolist():
        if size < _SMALLEST_PX:
            continue
        part = smooth[y : y + height, x : x + width]
        sure = float(part.mean()) * min(1.0, size / (0.5 * width * height))
        yield class_id, min(1.0, sure), x, y, x + width - 1, y + height - 1


def _colours(pixels: Pixels) -> NDArray[np.int32]:
    parts = (pixels >> (8 - _BITS)).astype(np.int32)
    return (parts[..., 0] << 2 * _BITS) | (parts[..., 1] << _BITS) | parts[..., 2]


def _read(path: Path) -> Pixels:
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR_RGB)
    if pixels is None:
        raise OSError(f"{path} is no picture.")
    return np.asarray(pixels, dtype=np.uint8)


def coco_rows(image_id: int, rows: Iterable[Row]) -> list[dict[str, object]]:
    """Return detections of an image as COCO results."""
    return [
        {
            "image_id": image_id,
            "category_id": class_id,
            "bbox": [xmin, ymin, xmax - xmin + 1, ymax - ymin + 1],
            "score": sure,
        }
        for class_id, sure, xmin, ymin, xmax, ymax in rows
    ]


def main(argv: list[str] | None = None) -> int:
    """Take part in a session through a lens; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--console", required=True)
    parser.add_argument("--user", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--training", type=Path, required=True)
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--as-files", type=Path, required=True)
    args = parser.parse_args(argv)
    signal.signal(signal.SIGTERM, _end)  # So that the browser ends too.
    try:
        detector = learn(args.training / "images", args.training / "ground_truth.json")
        with shown_page(f"{args.console}/display") as screen:
            _wait_for_display(args.console)
            camera = SimulatedCamera(screen, MILD)
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
    with contextlib.closing(SessionConnection(session)) as link:
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
    deadline = time.monotonic() + _OPEN_S
    while time.monotonic() < deadline:
        with answered(f"{console}/board", timeout_s=10) as answer:
            if json.load(answer)["lanes"][0]["display"]["fault"] == "":
                return
        time.sleep(_LOOK_S)
    raise ClientError("The display page was not ready within a minute.")


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
