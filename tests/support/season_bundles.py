# SPDX-License-Identifier: Apache-2.0
"""Evidence bundles for a season, written straight from detections: no server, no database.

They have the members that a score needs, as the exporter writes them. A score and an energy are
told, so that old and new can stand side by side.
"""

from __future__ import annotations

import json
from hashlib import sha256

import numpy as np

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.formats.number_text import csv_lines, detection_lines
from referee.scoring.ilsvrc import evaluate
from referee.scoring.lpirc import score
from referee.service.evidence.encoding import json_bytes
from tests.support.packed_bundles import pack

WHEN = "2026-06-07T12:00:{:02d}+00:00"


def members_of(
    truth,
    detections,
    *,
    session=1,
    team="ants",
    event="LPIRC Tokyo",
    energy_wh=0.5,
    verdict="VALID",
    mean_ap=None,
    rows=None,
    images=None,
):
    """Return the members of a bundle whose session showed the images in their order.

    `detections` have the ground truth's own ids. `mean_ap` is the old mAP, computed without it.
    `rows` and `images` are the bytes of two members that many bundles share.
    """
    if mean_ap is None:
        mean_ap = evaluate(truth, detections).mean_ap
    moment = {"monotonic_s": 1.0, "utc": WHEN.format(session % 60), "boot_id": "b"}
    told = {
        "session": session,
        "team": team,
        "lane": 1,
        "track": "network",
        "moments": {"started": moment, "voided": None},
        "classes": {str(number): "" for number in truth.class_ids.tolist()},
        "inputs": {"ground_truth": {"path": "truth.json", "sha256": "0" * 64}},
    }
    old = {
        "mean_ap": mean_ap,
        "rules": "ilsvrc-devkit",
        "rules_version": "2014",
        "score": score(mean_ap, energy_wh),
        "energy_wh": energy_wh,
        "uncertainty_wh": 0.01,
        "verdict": verdict,
        "images_fetched": len(truth.image_ids),
        "detections": len(detections),
    }
    return {
        "config.toml": f"[contest]\nname = {json.dumps(event)}\n".encode(),
        "detections.csv": rows_of(truth, detections) if rows is None else rows,
        "images.csv": images_of(truth) if images is None else images,
        "score.json": json.dumps(old, indent=2).encode(),
        "session.json": json.dumps(told, indent=2).encode(),
    }


def small_truth(images=60, classes=4, seed=1):
    """Return ground truth with odd image ids and three boxes an image."""
    chance = np.random.default_rng(seed)
    corner = chance.integers(0, 200, (3 * images, 2)).astype(float)
    return GroundTruth.from_arrays(
        image_id=np.repeat(np.arange(images) * 7 + 3, 3),
        class_id=chance.integers(1, classes + 1, 3 * images),
        box=np.hstack([corner, corner + chance.integers(20, 120, (3 * images, 2))]),
        classes=range(1, classes + 1),
    )


def write_truth(path, truth):
    """Write ground truth as CSV; its boxes are whole pixels."""
    columns = (truth.box_image_id.tolist(), truth.box_class_id.tolist(), truth.box.astype(int))
    rows = zip(*columns, strict=True)
    path.write_bytes(csv_lines([image, klass, *box.tolist()] for image, klass, box in rows))


def images_of(truth):
    """Return `images.csv` of a session that showed the images in ascending order of their ids."""
    header = ("number", "image_id", "source_id", "file")
    own = enumerate(truth.image_ids.tolist(), start=1)
    return csv_lines([header, *((number, number, name, f"{name}.jpg") for number, name in own)])


def rows_of(truth, detections):
    """Return `detections.csv` under the numbers of such a session."""
    numbers = np.searchsorted(truth.image_ids, detections.image_id) + 1
    return detection_lines(detections.with_image_ids(numbers))


def write(path, members, *, fit=True):
    """Write members as a bundle; with `fit` the manifest has their hashes."""
    digests = {name: sha256(members[name]).hexdigest() for name in sorted(members)}
    manifest = {"session": 1, "referee_version": "0", "sha256": digests}
    if fit:
        members = members | {"manifest.json": json_bytes(manifest)}
    return pack(path, members)


def shaken(truth, chance, count):
    """Return `count` detections: truth boxes moved at random, some under the wrong class."""
    source = chance.integers(0, len(truth.box), count)
    wrong = chance.random(count) < 0.2
    strange = chance.choice(truth.class_ids, count)
    return Detections(
        truth.box_image_id[source],
        np.where(wrong, strange, truth.box_class_id[source]),
        chance.random(count),
        truth.box[source] + chance.normal(0, 4, (count, 4)),
    )
