# SPDX-License-Identifier: Apache-2.0
"""Read the frames in photographs, and print what they say, one line for each photograph."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Dict, Optional

import cv2

from client_sample.camera.frame import session_tag
from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from client_sample.camera.source import Pixels, read_picture
from client_sample.client import ClientError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="photographs")
    add("--json", action="store_true", help="print one JSON object a line")
    add("--tag", metavar="TEXT", help="refuse the frames of other sessions than this one's")
    add("--out", metavar="DIR", help="write each image, cut out in its own pixels, as FILE.png")


def run(args: argparse.Namespace) -> int:
    """Read all files; return 1 if any was not read."""
    tag = None if args.tag is None else session_tag(args.tag)
    if args.out is not None:
        try:
            Path(args.out).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ClientError(f"Cannot use --out {args.out}: {error.strerror}.") from error
    unread = 0
    for file in args.files:
        facts = _read(file, tag, args.out)
        unread += facts["reason"] is not None
        print(json.dumps(facts) if args.json else _line(facts), flush=True)
    return 1 if unread else 0


def _read(file: str, tag: Optional[int], out: Optional[str]) -> Dict[str, Any]:
    """Return the facts of one photograph, and write its image."""
    facts: Dict[str, Any] = {"file": file, "image_id": None, "width": None, "height": None}
    try:
        photo = read_picture(Path(file))
        reading = read(photo, tag)
    except (OSError, Unread) as error:
        why = getattr(error, "strerror", None) or str(error)
        return {**facts, "reason": why, "corners": None}
    label = reading.label
    if out is not None:
        _write(Path(out) / f"{Path(file).stem}.png", reading.cut_out(photo))
    facts.update(image_id=label.image_id, width=label.width, height=label.height)
    corners = [[round(float(x), 2), round(float(y), 2)] for x, y in reading.corners]
    return {**facts, "reason": None, "corners": corners}


def _write(path: Path, picture: Pixels) -> None:
    try:
        path.write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    except OSError as error:
        raise ClientError(f"Cannot write {path}: {error.strerror}.") from error


def _line(facts: Dict[str, Any]) -> str:
    if facts["reason"] is not None:
        return f"{facts['file']}: not read: {facts['reason']}"
    return f"{facts['file']}: image {facts['image_id']}, {facts['width']}x{facts['height']}"
