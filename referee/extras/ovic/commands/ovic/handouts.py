# SPDX-License-Identifier: Apache-2.0
"""`referee ovic minival`, `labels` and `samples`: what an organiser gives to participants."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from pathlib import Path
from typing import Any

from power.commands.written_file import file_to_write
from referee.core.counts import counted
from referee.core.spreadsheet import plain_cell
from referee.errors import InputError
from referee.extras.ovic.commands.ovic.entry_text import figure, table
from referee.extras.ovic.commands.ovic.model_options import (
    add_board,
    add_plan,
    place_of,
    plan_of,
)
from referee.extras.ovic.commands.ovic.options import add_action, add_json, add_task
from referee.extras.ovic.judging.machine import build_of
from referee.extras.ovic.rules.score import RULES
from referee.formats.json_fields import load_json
from referee.formats.text import cells, parse_cell, read_bytes, require_width
from referee.programs.progress import progress_bar

_LABELS = """\
Print the full list of labels from COCO ground truth, as CSV: the class index that a model answers,
the category id, and the name. An index without a category is left out: COCO has 80 names for the
indices 0 to 89. The ground truth of classification has no names, so its list is the organiser's.

  referee ovic labels --ground-truth instances_minival.json > labels.csv
"""

_MINIVAL = """\
Write COCO ground truth of chosen images alone, as the challenge's leaderboard did with COCO's
minival: a part of val2014. --image-ids is a file with one image id a line, such as TensorFlow's
mscoco_minival_ids.txt. The categories stay all. A contest and 'referee ovic run' take the file as
their ground truth; the folder of images may hold more images.

  referee ovic minival --ground-truth instances_val2014.json --image-ids mscoco_minival_ids.txt \\
    --out instances_minival.json
"""
_LISTED = 5

_SAMPLES = """\
Measure sample models one after the other, and print the table of their latencies that participants
choose their networks by. Name files, or folders of .tflite files. A measurement that is not stable,
and a model that fails, are told, and the others go on; the exit code is then 1.

  referee ovic samples mobilenets mnasnet.tflite --images photos --task classification
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parsers of the actions."""
    _add_minival(actions)
    _add_labels(actions)
    _add_samples(actions)


def _add_labels(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(
        actions,
        "labels",
        "an organiser: print the full list of labels for participants",
        _LABELS,
        _print_labels,
    )
    parser.add_argument(
        "--ground-truth", type=Path, required=True, metavar="FILE", help="COCO instances JSON"
    )


def _print_labels(args: argparse.Namespace) -> int:
    """Print the list."""
    names = category_names(args.ground_truth)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("class", "category_id", "name"))
    writer.writerows((number - 1, number, plain_cell(names[number])) for number in sorted(names))
    return 0


def category_names(truth: Path) -> dict[int, str]:
    """Return the names of COCO's categories by their ids.

    Raises InputError for a file of another form, and for an id that no model can answer.
    """
    from referee.extras.ovic.rules.model_rules import COCO_CLASSES

    content = load_json(truth, read_bytes(truth))
    try:
        categories = [(one["id"], one["name"]) for one in content["categories"]]
    except (KeyError, TypeError):
        categories = []
    right = all(type(number) is int and type(name) is str for number, name in categories)
    if not categories or not right or len(dict(categories)) < len(categories):
        raise InputError(
            f"{truth} is not COCO instances JSON with categories, each with an id of its own and a "
            "name"
        )
    beyond = sorted({number for number, _ in categories} - set(range(1, COCO_CLASSES + 1)))
    if beyond:
        raise InputError(
            f"{truth}: category {beyond[0]} is not 1 to {COCO_CLASSES}, so no model can answer it"
        )
    return dict(categories)


def _add_minival(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(
        actions,
        "minival",
        "an organiser: write the ground truth of chosen images alone",
        _MINIVAL,
        _write_minival,
    )
    add = parser.add_argument
    add("--ground-truth", type=Path, required=True, metavar="FILE", help="COCO instances JSON")
    add("--image-ids", type=Path, required=True, metavar="FILE", help="one image id a line")
    add(
        "--out", type=file_to_write, required=True, metavar="FILE", help="the ground truth to write"
    )


def _write_minival(args: argparse.Namespace) -> int:
    """Write the chosen part, and say how much it is."""
    chosen = chosen_part(args.ground_truth, read_image_ids(args.image_ids))
    try:
        args.out.write_text(json.dumps(chosen) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{args.out} cannot be written: {error.strerror}") from None
    images, boxes = (len(chosen[name]) for name in ("images", "annotations"))
    print(f"{args.out}: {counted(images, 'image')}, {counted(boxes, 'annotation')}")
    return 0


def read_image_ids(path: Path) -> set[int]:
    """Read image ids, one a line; raise InputError for anything else, and for an empty file."""
    image_ids = set()
    for place, row in cells(path, read_bytes(path)):
        require_width(path, place, row, ("image id",))
        image_ids.add(parse_cell(path, place, "image id", row[0], int, "a whole number"))
    if not image_ids:
        raise InputError(f"{path} has no image id: write one a line")
    return image_ids


def chosen_part(truth: Path, image_ids: set[int]) -> dict[str, Any]:
    """Return COCO's ground truth with these images and their annotations alone.

    Raises InputError for a file of another form, and for an id that it does not have.
    """
    content = load_json(truth, read_bytes(truth))
    try:
        images = [image for image in content["images"] if image["id"] in image_ids]
        annotations = [
            annotation
            for annotation in content["annotations"]
            if annotation["image_id"] in image_ids
        ]
    except (KeyError, TypeError):
        raise InputError(
            f"{truth} is not COCO instances JSON with images and annotations, each with its "
            "image id"
        ) from None
    missing = sorted(image_ids - {image["id"] for image in images})
    if missing:
        listed = ", ".join(map(str, missing[:_LISTED]))
        more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        raise InputError(
            f"{truth}: {len(missing)} of {counted(len(image_ids), 'image is', 'images are')}"
            f" not there: {listed}{more}"
        )
    return {**content, "images": images, "annotations": annotations}


def _add_samples(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(
        actions,
        "samples",
        "print a table of the latencies of sample models on this device",
        _SAMPLES,
        _measure_samples,
    )
    parser.add_argument(
        "models", type=Path, nargs="+", metavar="MODEL", help=".tflite files, or folders of them"
    )
    add_task(parser)
    parser.add_argument(
        "--images", type=Path, required=True, metavar="DIR", help="images, which take turns"
    )
    add_json(parser)
    add_board(parser)
    add_plan(parser)


def _measure_samples(args: argparse.Namespace) -> int:
    """Measure and print; return 0, or 1 if a model has no stable latency."""
    from referee.extras.ovic.judging.dataset import images_in
    from referee.extras.ovic.judging.entry import Timing, measure_until_stable

    images, place = images_in(args.images), place_of(args)
    timing, rows = Timing(plan_of(args)), []
    for model in models_in(args.models):
        with progress_bar(model.name) as progress:
            try:
                measurement = measure_until_stable(model, images, timing, progress, place)
            except InputError as error:
                rows.append(_sample_row(model, reasons=[str(error)]))
                continue
        reasons = list(measurement.stability.reasons)
        latency_ms = None if reasons else measurement.latency.mean
        rows.append(_sample_row(model, latency_ms, build_of(measurement.machine), reasons))
    for row in rows:
        for reason in row["reasons"]:
            print(f"referee ovic: {row['name']}: {reason}", file=sys.stderr)
    report = {"task": args.task, "target_ms": RULES[args.task].target_ms, "models": rows}
    print(json.dumps(report) if args.json else _samples_text(report))
    return 1 if any(row["latency_ms"] is None for row in rows) else 0


def models_in(paths: list[Path]) -> list[Path]:
    """Return the files, and those of folders by name; raise InputError for an empty folder."""
    models = []
    for path in paths:
        inside = sorted(path.glob("*.tflite")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path} has no .tflite file: name a folder with models")
        models += inside
    return models


def _sample_row(
    model: Path,
    latency_ms: float | None = None,
    build: str | None = None,
    reasons: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "name": model.stem,
        "latency_ms": latency_ms,
        "build": build,
        "reasons": reasons or [],
    }


def _samples_text(report: dict[str, Any]) -> str:
    """Return the table by latency; the share of the target tells which models fit the task."""
    rows = [("latency ms", "of target", "model")]
    order = sorted(report["models"], key=lambda model: model["latency_ms"] or math.inf)
    for row in order:
        latency_ms = row["latency_ms"]
        of_target = figure(None, "")
        if latency_ms is not None:
            of_target = f"{100 * latency_ms / report['target_ms']:.0f} %"
        rows.append((figure(latency_ms, ".3f"), of_target, row["name"]))
    builds = {row["build"] for row in order if row["build"] is not None}
    return "\n".join([*table(rows), *sorted(builds)])
