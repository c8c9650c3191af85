# SPDX-License-Identifier: Apache-2.0
"""Read the frames in photographs, and print what they say, one line for each photograph."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

import cv2

from client_sample.camera.frame import Label, session_tag
from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from client_sample.camera.source import Pixels, read_picture
from client_sample.client import ClientError

_LARGE_ERROR_PX = 2.0  # of the image as it is stored


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
    unknown = {"corners": None, "error_px": None, "warning": None}
    try:
        photo = read_picture(Path(file))
        reading = read(photo, tag)
    except (OSError, Unread) as error:
        why = getattr(error, "strerror", None) or str(error)
        others = _told(getattr(error, "others", ()))
        return {**facts, "reason": why, **unknown, "others": others}
    label = reading.label
    if out is not None:
        _write(Path(out) / f"{Path(file).stem}.png", reading.cut_out(photo))
    facts.update(image_id=label.image_id, width=label.width, height=label.height)
    corners = [[round(float(x), 2), round(float(y), 2)] for x, y in reading.corners]
    return {
        **facts,
        "reason": None,
        "corners": corners,
        "error_px": round(reading.error_px, 2) if math.isfinite(reading.error_px) else None,
        "warning": _warning(reading.error_px),
        "others": _told(reading.others),
    }


def _told(labels: Sequence[Label]) -> List[Dict[str, int]]:
    """Return what other frames in the photograph say."""
    return [{"image_id": label.image_id, "tag": label.tag} for label in labels]


def _warning(error_px: float) -> Optional[str]:
    if error_px <= _LARGE_ERROR_PX:
        return None
    about = f"about {error_px:.1f}" if math.isfinite(error_px) else "an unknown number of"
    return f"boxes may miss by {about} pixels of the image: the lens bends the picture too much"


def _write(path: Path, picture: Pixels) -> None:
    try:
        path.write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    except OSError as error:
        raise ClientError(f"Cannot write {path}: {error.strerror}.") from error


def _line(facts: Dict[str, Any]) -> str:
    others = "".join(
        f"; also in view: image {other['image_id']} of the tag {other['tag']}"
        for other in facts["others"]
    )
    if facts["reason"] is not None:
        return f"{facts['file']}: not read: {facts['reason']}{others}"
    warning = f"; {facts['warning']}" if facts["warning"] else ""
    line = f"{facts['file']}: image {facts['image_id']}, {facts['width']}x{facts['height']}"
    return line + warning + others
