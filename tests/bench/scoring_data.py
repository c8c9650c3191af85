# SPDX-License-Identifier: Apache-2.0
"""A contest of full size from a seeded generator: ground truth and a million detections."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.formats.number_text import detection_lines

IMAGES, CLASSES, BOXES, DETECTIONS = 20_000, 200, 55_000, 1_000_000
WIDTH, HEIGHT = 500, 375


def generate(detections=DETECTIONS, seed=1):
    """Return ground truth and detections of 20,000 images and 200 classes.

    Classes are unevenly frequent and cluster in images; box sizes are log-normal. Of the
    detections 40 % are near a truth box, half of these well placed, three quarters with its
    class; the others are anywhere, with low confidence. Images come in order, as a contestant
    would answer them.
    """
    chance = np.random.default_rng(seed)
    frequency = 1 / np.arange(1, CLASSES + 1) ** 0.6
    frequency /= frequency.sum()
    image = np.sort(chance.integers(1, IMAGES + 1, BOXES))
    main_class = chance.choice(CLASSES, IMAGES + 1, p=frequency) + 1
    alone = chance.random(BOXES) < 0.3
    klass = np.where(alone, chance.choice(CLASSES, BOXES, p=frequency) + 1, main_class[image])
    box = np.round(_boxes(chance, BOXES, 4.6))
    truth = GroundTruth(
        image_ids=np.arange(1, IMAGES + 1),
        class_ids=np.arange(1, CLASSES + 1),
        box_image_id=image,
        box_class_id=klass,
        box=box,
        blacklist=np.empty((0, 2), dtype=np.int64),
        class_names={},
    )
    near = int(0.4 * detections)
    source = chance.integers(0, BOXES, near)
    spread = np.where(chance.random(near) < 0.5, 0.06, 0.3)
    extent = np.tile(box[source, 2:] - box[source, :2], 2)
    near_box = box[source] + chance.normal(0, 1, (near, 4)) * spread[:, np.newaxis] * extent
    right = chance.random(near) < 0.75
    near_class = np.where(right, klass[source], chance.integers(1, CLASSES + 1, near))
    near_confidence = np.clip(chance.beta(2, 2, near) * (1.3 - 2 * spread) / 1.2, 0, 1)
    far = detections - near
    all_images = np.concatenate([image[source], chance.integers(1, IMAGES + 1, far)])
    order = np.argsort(all_images, kind="stable")
    found = Detections(
        all_images,
        np.concatenate([near_class, chance.choice(CLASSES, far, p=frequency) + 1]),
        np.round(np.concatenate([near_confidence, chance.beta(0.6, 6, far)]), 6),
        np.round(np.concatenate([near_box, _boxes(chance, far, 4.4)]), 2),
    )
    return truth, found.select(order)


def write_files(folder, truth, detections):
    """Write the contest as CSV and as COCO JSON: the same boxes with inclusive corners."""
    folder = Path(folder)
    rows = zip(
        truth.box_image_id.tolist(),
        truth.box_class_id.tolist(),
        truth.box.astype(int).tolist(),
        strict=True,
    )
    lines = [f"{image},{klass},{','.join(map(str, box))}\n" for image, klass, box in rows]
    (folder / "truth.csv").write_text("".join(lines))
    sizes = [f"{image},{WIDTH},{HEIGHT}\n" for image in truth.image_ids.tolist()]
    (folder / "images.csv").write_text("".join(sizes))
    with (folder / "detections.csv").open("w") as file:
        for image, klass, confidence, box in _rows(detections, detections.box):
            corners = ",".join(f"{edge:g}" for edge in box)
            file.write(f"{image},{klass},{confidence:g},{corners}\n")
    (folder / "truth.json").write_text(json.dumps(_instances(truth)))
    # Peers refuse boxes without extent, so these get one pixel.
    sized = _with_size(detections.box)
    results = [
        {"image_id": image, "category_id": klass, "bbox": box, "score": confidence}
        for image, klass, confidence, box in _rows(detections, sized)
    ]
    (folder / "detections.json").write_text(json.dumps(results))


def write_lines(path, detections):
    """Write detections as lines, with all their digits."""
    Path(path).write_bytes(detection_lines(detections))


def _boxes(chance, count, log_extent):
    """Return boxes of log-normal extent inside the picture."""
    limit = np.array([WIDTH - 20, HEIGHT - 15])
    extent = np.clip(np.exp(chance.normal(log_extent, 0.8, (count, 2))), 5, limit)
    corner = chance.random((count, 2)) * (np.array([WIDTH, HEIGHT]) - extent)
    return np.concatenate([corner, corner + extent], axis=1)


def _with_size(box):
    sized = box.copy()
    sized[:, 2:] = np.round(np.maximum(box[:, 2:] - box[:, :2] + 1, 1), 2)
    return sized


def _rows(detections, box):
    columns = (detections.image_id, detections.class_id, detections.confidence, box)
    return zip(*(column.tolist() for column in columns), strict=True)


def _instances(truth):
    """Return COCO instances."""
    sized = _with_size(truth.box)
    columns = (truth.box_image_id, truth.box_class_id, sized, sized[:, 2] * sized[:, 3])
    names = ("image_id", "category_id", "bbox", "area")
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {
        "images": [
            {"id": image, "width": WIDTH, "height": HEIGHT} for image in truth.image_ids.tolist()
        ],
        "categories": [{"id": klass, "name": str(klass)} for klass in truth.class_ids.tolist()],
        "annotations": [
            {"id": number, "iscrowd": 0, **dict(zip(names, row, strict=True))}
            for number, row in enumerate(rows, start=1)
        ],
    }
