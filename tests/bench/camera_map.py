# SPDX-License-Identifier: Apache-2.0
"""What a lens costs a real detector: EfficientDet-Lite0 on photographs, by network and by camera.

Each photograph of coco-tiny is composed into a frame for 1920x1080, photographed by the simulated
lens at each severity, found and read by the sample client's decoder, cut out in its own pixels, and
given to the same model that also gets the file. The simulator's pictures are no proof for a real
camera: they compare severities. It needs the extras `camera` and `litert`.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from client_sample.litert_detector import LiteRtDetector
from referee.core.detections import Detections
from referee.demo.lens import photograph
from referee.demo.severity import SEVERITIES, Severity
from referee.formats.answers import parse_csv
from referee.formats.ground_truth import read_ground_truth
from referee.scoring.live import LiveScore
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.compose import compose
from referee.tracks.camera.geometry import Screen

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
TAG, SCREEN, PHOTOGRAPHS = 2016, Screen(1920, 1080), 3


def run() -> None:
    """Print the mAP of the files and of each severity, and how many images were read."""
    if not DATA.is_dir():
        print("the folder of real data is not beside the project")
        return
    truth = read_ground_truth(DATA / "coco-tiny" / "annotations.json").truth
    images = sorted((DATA / "coco-tiny" / "images").iterdir())
    model = next((DATA / "models").rglob("*efficientdet*lite0*.tflite"))
    detector = LiteRtDetector(model)
    _score("network", truth, images, detector, lambda image_id, path: path.read_bytes())
    for severity in SEVERITIES.values():
        chance = np.random.default_rng(2016)

        def seen(
            image_id: int,
            path: Path,
            severity: Severity = severity,
            chance: np.random.Generator = chance,
        ) -> bytes | None:
            return _through_a_lens(image_id, path, severity, chance)

        _score(f"camera, {severity.name}", truth, images, detector, seen)


def _score(
    name: str,
    truth,
    images: list[Path],
    detector: LiteRtDetector,
    look: Callable[[int, Path], bytes | None],
) -> None:
    begun, read_count, score = time.monotonic(), 0, LiveScore(truth)
    for path in images:
        image_id = int(path.stem)
        content = look(image_id, path)
        if content is None:
            continue
        read_count += 1
        lines = [",".join(map(repr, (image_id, *row))) for row in detector(image_id, content)]
        score.add(parse_csv("\n".join(lines).encode()) if lines else Detections.concatenate([]))
    each_s = (time.monotonic() - begun) / len(images)
    print(
        f"{name:16} mAP {score.result().mean_ap:.4f}  "
        f"{read_count} of {len(images)} images read  {each_s:.2f} s an image",
        flush=True,
    )


def _through_a_lens(
    image_id: int, path: Path, severity: Severity, chance: np.random.Generator
) -> bytes | None:
    """Return an image as the camera saw it, as a PNG; None if no photograph could be read."""
    with Image.open(path) as picture:
        label = FrameLabel(image_id % 2**20, *picture.size, TAG)
        frame = np.asarray(compose(picture, label, SCREEN, parity=0))
    for _ in range(PHOTOGRAPHS):
        photo = np.ascontiguousarray(photograph(frame, severity, chance).pixels[..., ::-1])
        try:
            cut = read(photo, TAG).cut_out(photo)
        except Unread:
            continue
        file = io.BytesIO()
        Image.fromarray(cv2.cvtColor(cut, cv2.COLOR_BGR2RGB)).save(file, "PNG", compress_level=1)
        return file.getvalue()
    return None
