# SPDX-License-Identifier: Apache-2.0
"""Write a frame of the camera track as a picture, or check photographs of one.

A frame has the pixels that the display page shows. For example:

  referee camera frame --image photo.jpg --id 17 --out frame.png
  referee camera frame --image photo.jpg --id 17 --out frame.png --screen 3840x2160 --tag session-3
  referee camera test-card --out card.png
  referee camera check --image photo.jpg --id 17 photographs/*.jpg

Show the picture full screen on a monitor of exactly this size and photograph it. A decoder must
find the id, width and height of the image in the photograph, as 'check' does. docs/camera.md
specifies the frame.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import picture_to_write
from referee.errors import InputError, needing

if TYPE_CHECKING:
    from PIL import Image

    from referee.service.display.photograph import PhotographCheck

_SCREEN = "1920x1080"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    frame = actions.add_parser(
        "frame",
        help="write the frame of one image",
        example="referee camera frame --image photo.jpg --id 17 --out frame.png",
    )
    add = frame.add_argument
    add("--image", type=Path, required=True, metavar="FILE", help="image to show")
    add("--id", type=int, required=True, metavar="N", help="the image's number, 0 to 1048575")
    _add_output(frame)
    add(
        "--tag",
        default="",
        metavar="TEXT",
        help="any text that names the session; a reader that is given another refuses the frame",
    )
    add(
        "--parity",
        type=int,
        choices=(0, 1),
        default=0,
        help="the bit that alternates from frame to frame (default: %(default)s)",
    )
    add(
        "--enlarge",
        action="store_true",
        help="also scale up an image that is smaller than the room between the margins",
    )
    card = actions.add_parser(
        "test-card",
        help="write a card for adjusting the screen and the camera",
        example="referee camera test-card --out card.png",
    )
    _add_output(card)
    check = actions.add_parser(
        "check",
        help="say how well a monitor and a camera show a frame",
        example="referee camera check --image photo.jpg --id 17 photographs/*.jpg",
    )
    add = check.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="photographs of the frame")
    add("--image", type=Path, metavar="FILE", help="the image that was shown, to compare with")
    add("--id", type=int, metavar="N", help="the number that was shown")
    add("--json", action="store_true", help="print one JSON object a line")


def run(args: argparse.Namespace) -> int:
    """Write the picture, or check photographs."""
    return _check(args) if args.action == "check" else _draw(args)


def _draw(args: argparse.Namespace) -> int:
    from referee.formats.image_file import open_image
    from referee.tracks.camera.card import test_card
    from referee.tracks.camera.code import FrameLabel, session_tag
    from referee.tracks.camera.compose import compose
    from referee.tracks.camera.geometry import Screen

    screen = Screen.parse(args.screen)
    if args.action == "test-card":
        _write(test_card(screen), args.out)
        return 0
    picture = open_image(args.image)
    label = FrameLabel(args.id, *picture.size, session_tag(args.tag))
    _write(compose(picture, label, screen, args.parity, enlarge=args.enlarge), args.out)
    return 0


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=picture_to_write, required=True, metavar="FILE.png", help="PNG file to write"
    )
    parser.add_argument(
        "--screen",
        default=_SCREEN,
        metavar="WxH",
        help="the screen's size in its own pixels (default: %(default)s)",
    )


def _write(picture: Image.Image, path: Path) -> None:
    try:
        picture.save(path, "PNG")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error


def _check(args: argparse.Namespace) -> int:
    """Print a line for each photograph; return 1 if one was not read, or says another number."""
    with needing("a photograph", "opencv-python-headless", "camera"):
        from referee.service.display.photograph import check_photograph, read_pixels
    shown = None if args.image is None else read_pixels(args.image)
    good = True
    for path in args.files:
        found = check_photograph(read_pixels(path), shown)
        right = found.reason is None and args.id in (None, found.image_id)
        good = good and right
        if args.json:
            print(json.dumps({"file": str(path), "right": right, **asdict(found)}), flush=True)
        else:
            print(f"{path}: {_line(found, args.id)}", flush=True)
    return 0 if good else 1


def _line(found: PhotographCheck, wanted: int | None) -> str:
    if found.reason is not None or found.size is None:
        return f"not read: {found.reason}"
    width, height = found.size
    parts = [f"image {found.image_id}, {width}x{height}"]
    if wanted not in (None, found.image_id):
        parts.append(f"but {wanted} was shown")
    parts.append(f"{found.scale:.2f} pixels of the camera for one of the image")
    parts.append(f"{found.column_px:.1f} for a column of the code")
    if found.likeness is not None:
        parts.append(f"likeness {found.likeness:.3f}")
    return ", ".join(parts)
