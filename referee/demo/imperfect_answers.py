# SPDX-License-Identifier: Apache-2.0
"""Answers of a mediocre detector, made from the truth by adding typical mistakes."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

_FINDS = 0.85  # share of large objects that are found
_BLIND_PX = 16.0  # an object of this size is found only 1 - 1/e times as often as a large one
_WRONG_CLASS = 0.1  # share of found objects that are taken for something else
_TWICE = 0.12  # share of found objects that are reported a second time
_GHOSTS = 1.0  # mean number of false detections in an image


def write_answers(ground_truth: Path, out: Path, *, seed: int = 2015) -> int:
    """Write COCO results for COCO ground truth and return how many detections there are.

    The simulated detector misses objects, mostly small ones. Its boxes are slightly wrong. It
    confuses classes, reports objects twice and detects objects that do not exist. Its confidence is
    usually higher for right answers. The same truth and seed give the same answers.
    """
    truth = json.loads(ground_truth.read_text(encoding="utf-8"))
    class_ids = sorted(category["id"] for category in truth["categories"])
    objects: dict[int, list[dict[str, Any]]] = {image["id"]: [] for image in truth["images"]}
    for annotation in truth["annotations"]:
        if not annotation.get("iscrowd"):
            objects[annotation["image_id"]].append(annotation)
    results = []
    for image in truth["images"]:
        chance = random.Random(f"{seed} {image['id']}")
        seen = [row for item in objects[image["id"]] for row in _look(item, class_ids, chance)]
        seen += _ghosts(image["width"], image["height"], class_ids, chance)
        results += [{"image_id": image["id"], **row} for row in seen]
    out.write_text(json.dumps(results), encoding="utf-8")
    return len(results)


def _look(
    annotation: dict[str, Any], class_ids: list[int], chance: random.Random
) -> list[dict[str, object]]:
    class_id, (x, y, width, height) = annotation["category_id"], annotation["bbox"]
    size_px = math.sqrt(width * height)
    if chance.random() > _FINDS * (1 - math.exp(-size_px / _BLIND_PX)):
        return []
    quality = chance.betavariate(4, 1.6)
    if chance.random() < _WRONG_CLASS:
        class_id, quality = chance.choice(class_ids), 0.6 * quality
    rows = [_row(class_id, quality, (x, y, width, height), chance)]
    if chance.random() < _TWICE:
        rows.append(_row(class_id, 0.5 * quality, (x, y, width, height), chance))
    return rows


def _row(
    class_id: int, quality: float, box: tuple[float, float, float, float], chance: random.Random
) -> dict[str, object]:
    x, y, width, height = box
    blur = 0.04 + 0.16 * (1 - quality)
    left, right = (chance.gauss(0, blur * width + 0.5) for _ in range(2))
    top, bottom = (chance.gauss(0, blur * height + 0.5) for _ in range(2))
    wide, tall = max(1.0, width + right - left), max(1.0, height + bottom - top)
    return {
        "category_id": class_id,
        "bbox": [round(number, 2) for number in (x + left, y + top, wide, tall)],
        "score": round(min(0.999, max(0.01, chance.gauss(0.08 + 0.88 * quality, 0.09))), 6),
    }


def _ghosts(
    width: int, height: int, class_ids: list[int], chance: random.Random
) -> list[dict[str, object]]:
    rows = []
    while chance.random() < _GHOSTS / (1 + _GHOSTS):  # geometric, with this mean
        wide, tall = (chance.uniform(0.04, 0.4) * side for side in (width, height))
        left, top = chance.uniform(0, width - wide), chance.uniform(0, height - tall)
        quality = chance.betavariate(1.5, 4)
        rows.append(_row(chance.choice(class_ids), quality, (left, top, wide, tall), chance))
    return rows
