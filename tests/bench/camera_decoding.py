# SPDX-License-Identifier: Apache-2.0
"""Frames that the sample reads through the simulated lens, beside QR codes and ArUco markers."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat

import cv2
import numpy as np
import zxingcpp
from numpy.typing import NDArray

from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from referee.demo.lens import PhotographGeometry, photograph
from referee.demo.severity import SEVERITIES
from referee.tracks.camera.code import FrameLabel
from tests.support.frames import (
    FULL_HD,
    chance_frame,
    chance_label,
    says,
    source_errors,
    without_screen,
)
from tests.support.other_lens import other_photograph

FRAMES = 1000
COMPARED = 100
PROCESSES = 2
# The two strips of code have 2 x 1380 x 96 pixels; a square of this side has as many.
QR_SIDE_PX = 515
QR_MARGIN_PX = 132  # a QR code in a margin, with its own quiet zone


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the reader made of one photograph.

    `errors` are those of the rectification in source pixels, and `reason` is that of an unread one.
    """

    spent_ms: float
    right: bool = False
    wrong: bool = False
    reason: str = ""
    errors: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


def run() -> None:
    """Print the tables."""
    print(
        f"{FRAMES} photographs each of 1280x960, sources 60x60 to 4000x3000, ms of processor time"
    )
    print(f"{'lens':10}{'read':>7}{'wrong':>7}{'p50 px':>9}{'p95 px':>9}{'ms':>6}", end="")
    print(f"{'p99 ms':>8}{'most ms':>9}")
    with ProcessPoolExecutor(PROCESSES, initializer=cv2.setNumThreads, initargs=(1,)) as pool:
        for name in (*SEVERITIES, "other", "no screen"):
            _report(name, list(pool.map(_outcome, repeat(name), range(FRAMES), chunksize=10)))
        print(
            f"\n{COMPARED} each: QR code of the strips' area, one in a margin, four ArUco markers"
        )
        for name in SEVERITIES:
            found = list(pool.map(_compare, repeat(name), range(COMPARED), chunksize=10))
            print(f"{name:10}", *np.array(found).sum(axis=0), flush=True)


def _outcome(name: str, seed: int) -> Outcome:
    """Read the photograph of this number through the named lens."""
    if name == "no screen":
        return _read(without_screen(np.random.default_rng((seed, 7))))
    if name == "other":
        chance = np.random.default_rng((seed, 99))
        label = chance_label(chance)
        return _read(other_photograph(chance_frame(label, chance), chance), label)
    chance = np.random.default_rng((seed, len(name)))
    label = chance_label(chance)
    taken = photograph(chance_frame(label, chance), SEVERITIES[name], chance)
    return _read(np.ascontiguousarray(taken.pixels[..., ::-1]), label, taken.view)


def _read(
    pixels: NDArray[np.uint8],
    label: FrameLabel | None = None,
    view: PhotographGeometry | None = None,
) -> Outcome:
    """Read a photograph of a frame with this label, or of none."""
    started = time.process_time()
    try:
        reading = read(pixels)
    except Unread as why:
        spent_ms = 1000 * (time.process_time() - started)
        return Outcome(spent_ms, reason=str(why).partition(":")[0])
    spent_ms = 1000 * (time.process_time() - started)
    if label is None or not says(reading, label):
        return Outcome(spent_ms, wrong=True)
    if view is None:
        return Outcome(spent_ms, right=True)
    return Outcome(spent_ms, right=True, errors=source_errors(reading, view, label))


def _report(name: str, outcomes: list[Outcome]) -> None:
    right, wrong = (sum(getattr(one, kind) for one in outcomes) for kind in ("right", "wrong"))
    spent_ms = [one.spent_ms for one in outcomes]
    off = np.concatenate([one.errors for one in outcomes])
    places = [f"{np.percentile(off, q):9.2f}" for q in (50, 95)] if len(off) else ["        -"] * 2
    times = f"{np.median(spent_ms):6.0f}{np.percentile(spent_ms, 99):8.0f}{max(spent_ms):9.0f}"
    reasons = dict(Counter(one.reason for one in outcomes if one.reason))
    print(f"{name:10}{right:7}{wrong:7}{''.join(places)}{times}  {reasons}", flush=True)


def _compare(name: str, seed: int) -> tuple[bool, bool, bool]:
    """Tell whether each QR code, and the whole set of ArUco markers, is read."""
    severity = SEVERITIES[name]
    text = f"{seed:07d}400030000E3B0"
    found = []
    for side, middle in ((QR_SIDE_PX, True), (QR_MARGIN_PX, False)):
        taken = photograph(_with_qr(text, side, middle), severity, np.random.default_rng(seed))
        found.append(text in {code.text for code in zxingcpp.read_barcodes(taken.pixels)})
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    taken = photograph(_with_aruco(dictionary), severity, np.random.default_rng(seed))
    gray = cv2.cvtColor(taken.pixels, cv2.COLOR_RGB2GRAY)
    _, ids, _ = cv2.aruco.ArucoDetector(dictionary).detectMarkers(gray)
    seen = ids is not None and {0, 1, 2, 3} <= set(ids.ravel().tolist())
    return found[0], found[1], seen


def _with_qr(text: str, side: int, in_middle: bool) -> NDArray[np.uint8]:
    """Return a screen with one QR code, white around it."""
    code = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode, ec_level="M")
    pixels = np.asarray(zxingcpp.write_barcode_to_image(code, scale=1, add_quiet_zones=True))
    pixels = cv2.resize(pixels, (side, side), interpolation=cv2.INTER_NEAREST)
    screen = np.zeros((FULL_HD.height_px, FULL_HD.width_px, 3), dtype=np.uint8)
    left, top = ((1920 - side) // 2, (1080 - side) // 2) if in_middle else (18, 18)
    screen[top : top + side, left : left + side] = pixels[..., None]
    return screen


def _with_aruco(dictionary: cv2.aruco.Dictionary) -> NDArray[np.uint8]:
    """Return a screen with ArUco markers of our markers' size in the corners."""
    screen = np.zeros((FULL_HD.height_px, FULL_HD.width_px, 3), dtype=np.uint8)
    for number, (x, y) in enumerate(((18, 18), (1806, 18), (1806, 966), (18, 966))):
        # White around it, as it needs; together it is as large as our marker.
        screen[y : y + 96, x : x + 96] = 255
        marker = cv2.aruco.generateImageMarker(dictionary, number, 72)
        screen[y + 12 : y + 84, x + 12 : x + 84] = marker[..., None]
    return screen
