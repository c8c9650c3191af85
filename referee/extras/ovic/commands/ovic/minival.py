# SPDX-License-Identifier: Apache-2.0
"""`referee ovic minival`: the ground truth of the images that a list of ids names."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from referee.errors import InputError
from referee.formats.json_fields import load_json
from referee.formats.text import cells, parse_cell, read_bytes, require_width

_DESCRIPTION = """\
Write COCO ground truth of chosen images alone, as the challenge's leaderboard did with COCO's
minival: a part of val2014. --image-ids is a file with one image id a line, such as TensorFlow's
mscoco_minival_ids.txt. The categories stay all. A contest and 'referee ovic run' take the file as
their ground truth; the folder of images may hold more images.

  referee ovic minival --ground-truth instances_val2014.json --image-ids mscoco_minival_ids.txt \\
    --out instances_minival.json
"""
_LISTED = 5


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "minival",
        help="an organiser: write the ground truth of chosen images alone",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--ground-truth", type=Path, required=True, metavar="FILE", help="COCO instances JSON")
    add("--image-ids", type=Path, required=True, metavar="FILE", help="one image id a line")
    add("--out", type=Path, required=True, metavar="FILE", help="the ground truth to write")
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Write the chosen part, and say how much it is."""
    chosen = chosen_part(args.ground_truth, read_image_ids(args.image_ids))
    try:
        args.out.write_text(json.dumps(chosen) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{args.out} cannot be written: {error.strerror}") from None
    print(f"{args.out}: {len(chosen['images'])} images, {len(chosen['annotations'])} annotations")
    return 0


def read_image_ids(path: Path) -> set[int]:
    """Read image ids, one a line; raise InputError for anything else, and for an empty file."""
    found = set()
    for place, row in cells(path, read_bytes(path)):
        require_width(path, place, row, ("image id",))
        found.add(parse_cell(path, place, "image id", row[0], int, "a whole number"))
    if not found:
        raise InputError(f"{path} has no image id: write one a line")
    return found


def chosen_part(truth: Path, image_ids: set[int]) -> dict[str, Any]:
    """Return COCO's ground truth with these images and their annotations alone.

    Raises InputError for a file of another form, and for an id that it does not have.
    """
    content = load_json(truth, read_bytes(truth))
    try:
        images = [image for image in content["images"] if image["id"] in image_ids]
        annotations = [it for it in content["annotations"] if it["image_id"] in image_ids]
    except (KeyError, TypeError):
        raise InputError(
            f"{truth} is no COCO instances JSON with images and annotations, each with its image id"
        ) from None
    missing = sorted(image_ids - {image["id"] for image in images})
    if missing:
        listed = ", ".join(map(str, missing[:_LISTED]))
        more = f" and {len(missing) - _LISTED} more" if len(missing) > _LISTED else ""
        raise InputError(
            f"{truth}: {len(missing)} of {len(image_ids)} images are not there: {listed}{more}"
        )
    return {**content, "images": images, "annotations": annotations}
