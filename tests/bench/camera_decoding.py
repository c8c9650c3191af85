# SPDX-License-Identifier: Apache-2.0
"""Frames that the sample reads through the simulated lens, beside QR codes and ArUco markers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator

import cv2
import numpy as np
import zxingcpp
from numpy.typing import NDArray

from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from referee.demo.lens import SEVERITIES, Severity, photograph
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
# The two strips of code have 2 x 1380 x 96 pixels; a square of this side has as many.
QR_SIDE_PX = 515
QR_MARGIN_PX = 132  # a QR code in a margin, with its own quiet zone


def run() -> None:
    """Print the tables."""
    cv2.setNumThreads(1)
    print(f"{FRAMES} frames each, photographs of 1280x960, sources 60x60 to 4000x3000")
    print(f"{'lens':10}{'read':>7}{'wrong':>7}{'p50 px':>9}{'p95 px':>9}{'ms':>6}{'p99 ms':>8}")
    for severity in SEVERITIES.values():
        _report(severity.name, _photographs(severity))
    _report("other", _other_photographs())
    _report_without_screen()
    print(
        f"\n{COMPARED} each: QR code of the strips' area, QR code in a margin, four ArUco markers"
    )
    for severity in SEVERITIES.values():
        print(f"{severity.name:10}", *_compare(severity))


Taken = tuple[object, NDArray[np.uint8], Callable[[object], NDArray[np.float64] | None]]


def _photographs(severity: Severity) -> Iterator[Taken]:
    for seed in range(FRAMES):
        chance = np.random.default_rng((seed, len(severity.name)))
        label = chance_label(chance)
        taken = photograph(chance_frame(label, chance), severity, chance)

        def errors(reading: object, label=label, view=taken.view) -> NDArray[np.float64]:
            return source_errors(reading, view, label)

        yield label, np.ascontiguousarray(taken.pixels[..., ::-1]), errors


def _other_photographs() -> Iterator[Taken]:
    for seed in range(FRAMES):
        chance = np.random.default_rng((seed, 99))
        label = chance_label(chance)
        yield label, other_photograph(chance_frame(label, chance), chance), lambda reading: None


def _report(name: str, photographs: Iterator[Taken]) -> None:
    good = wrong = 0
    reasons: Counter[str] = Counter()
    errors, spent_ms = [np.zeros(0)], []
    for label, pixels, errors_of in photographs:
        started = time.process_time()
        try:
            reading = read(pixels)
        except Unread as why:
            reasons[str(why).partition(":")[0]] += 1
            continue
        finally:
            spent_ms.append(1000 * (time.process_time() - started))
        if says(reading, label):
            good += 1
            found = errors_of(reading)
            errors += [] if found is None else [found]
        else:
            wrong += 1
    off = np.concatenate(errors)
    places = [f"{np.percentile(off, q):9.2f}" for q in (50, 95)] if len(off) else ["        -"] * 2
    times = f"{np.median(spent_ms):6.0f}{np.percentile(spent_ms, 99):8.0f}"
    print(f"{name:10}{good:7}{wrong:7}{''.join(places)}{times}  {dict(reasons)}", flush=True)


def _report_without_screen() -> None:
    accepted, spent_ms = 0, []
    for seed in range(FRAMES):
        picture = without_screen(np.random.default_rng((seed, 7)))
        started = time.process_time()
        try:
            read(picture)
            accepted += 1
        except Unread:
            pass
        spent_ms.append(1000 * (time.process_time() - started))
    print(
        f"{'no screen':10}{0:7}{accepted:7}{'-':>9}{'-':>9}{np.median(spent_ms):6.0f}", flush=True
    )


def _compare(severity: Severity) -> tuple[int, int, int]:
    """Count the QR codes and the sets of ArUco markers that are read in the same photographs."""
    large = small = markers = 0
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    detector = cv2.aruco.ArucoDetector(dictionary)
    for seed in range(COMPARED):
        text = f"{seed:07d}400030000E3B0"
        for side, middle in ((QR_SIDE_PX, True), (QR_MARGIN_PX, False)):
            taken = photograph(_with_qr(text, side, middle), severity, np.random.default_rng(seed))
            read_as = {found.text for found in zxingcpp.read_barcodes(taken.pixels)}
            large, small = large + (middle and text in read_as), small + (
                not middle and text in read_as
            )
        taken = photograph(_with_aruco(dictionary), severity, np.random.default_rng(seed))
        gray = cv2.cvtColor(taken.pixels, cv2.COLOR_RGB2GRAY)
        _, found_ids, _ = detector.detectMarkers(gray)
        markers += found_ids is not None and {0, 1, 2, 3} <= set(found_ids.ravel().tolist())
    return large, small, markers


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
