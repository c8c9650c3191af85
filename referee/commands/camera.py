# SPDX-License-Identifier: Apache-2.0
"""Write a frame of the camera track as a picture, pixel for pixel as the display page shows it.

For example:

  referee camera frame --image photo.jpg --id 17 --out frame.png
  referee camera frame --image photo.jpg --id 17 --out frame.png --screen 3840x2160 --tag session-3
  referee camera test-card --out card.png

Show the picture full screen on a monitor of exactly this size and photograph it. A decoder must
find the id, width and height of the image in the photograph: 'python -m client_sample.camera read'
does. docs/camera.md specifies the frame.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

_SCREEN = "1920x1080"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the two actions and their options."""
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
        help="write a card to adjust screen and camera by",
        example="referee camera test-card --out card.png",
    )
    _add_output(card)


def run(args: argparse.Namespace) -> int:
    """Write the picture."""
    from referee.service.display.pictures import open_picture
    from referee.tracks.camera.card import test_card
    from referee.tracks.camera.code import FrameLabel, session_tag
    from referee.tracks.camera.compose import compose
    from referee.tracks.camera.geometry import Screen

    screen = Screen.parse(args.screen)
    if args.action == "test-card":
        _write(test_card(screen), args.out)
        return 0
    picture = open_picture(args.image)
    label = FrameLabel(args.id, *picture.size, session_tag(args.tag))
    _write(compose(picture, label, screen, args.parity, enlarge=args.enlarge), args.out)
    return 0


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE.png", help="PNG file to write"
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
