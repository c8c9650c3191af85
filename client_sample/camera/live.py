# SPDX-License-Identifier: Apache-2.0
"""Take part in a session of the camera track: ask, look at the screen, detect, post."""

from __future__ import annotations

import argparse
import contextlib
import time
from pathlib import Path
from typing import Callable, Optional, Tuple

import cv2
import numpy as np

from client_sample.camera.reader import read
from client_sample.camera.reading import FrameReading, Unread
from client_sample.camera.source import CameraSource, FolderSource, PictureSource, Pixels
from client_sample.client import (
    ClientError,
    Detector,
    Unauthorised,
    WrongUse,
    add_server_options,
    load_detector,
    rows_of,
    say,
)
from client_sample.models.command import add_model_options, open_model
from client_sample.session import ContestSession, SessionConnection

_JPEG_QUALITY = 95
_PROGRESS_S = 2.0

Clock = Callable[[], float]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_server_options(parser)
    add_model_options(parser)
    add = parser.add_argument
    add("--detector", metavar="MODULE:FUNCTION", help="detect with this function")
    add("--camera", type=int, default=0, metavar="N", help="number of the camera (%(default)s)")
    add("--size", default="1280x720", metavar="WxH", help="size to ask of it (%(default)s)")
    add("--delay", type=float, default=0.1, help="seconds that its pictures are old (%(default)s)")
    add("--folder", type=Path, metavar="DIR", help="take the newest picture of a folder instead")
    add("--seconds", type=float, help="stop and log out after this time")
    add("--timeout", type=float, default=30.0, help="seconds to wait for each answer")
    add("--patience", type=float, default=60.0, help="seconds to try to reach a lost referee")
    add("--no-logout", action="store_true", help="leave the session running at the end")


def run(args: argparse.Namespace) -> int:
    """Run a session to its end and return the exit code."""
    # The login starts clock and meter. So slow steps and steps that can fail come before it.
    session = ContestSession(args.url, args.timeout, args.patience, args.ca_file)
    detector = _detector(args, session)
    with contextlib.closing(_source(args)) as source:
        session.login(args.user, args.password)
        with contextlib.closing(SessionConnection(session)) as link:
            take_part(
                session,
                link,
                source,
                detector,
                seconds=args.seconds,
                log_out=not args.no_logout,
            )
    return 0


def take_part(
    session: ContestSession,
    link: SessionConnection,
    source: PictureSource,
    detector: Detector,
    *,
    look_s: float = 3.0,
    seconds: Optional[float] = None,
    log_out: bool = True,
    clock: Clock = time.monotonic,
) -> int:
    """Go through the images of a running session; return how many were read."""
    started = reported = clock()
    images = boxes = 0
    try:
        for image_id in range(1, session.images + 1):
            picture = _see(link, source, image_id, session.frame_tag, look_s, clock)
            if picture is not None:
                rows = rows_of(detector, image_id, picture)
                if rows:
                    link.post([(image_id, rows)])
                images, boxes = images + 1, boxes + len(rows)
            now = clock()
            if now - reported >= _PROGRESS_S:
                reported = now
                say(
                    f"{images} of {image_id} images read, {image_id / (now - started):.1f} a second"
                )
            if seconds is not None and now - started >= seconds:
                break
        if log_out:
            link.logout()
    except Unauthorised:
        say("the session's time has run out")
    say(f"{images} of {session.images} images read, {boxes} boxes, {clock() - started:.1f} s")
    return images


def look(
    source: PictureSource,
    image_id: int,
    tag: Optional[int],
    after_s: float,
    look_s: float,
    clock: Clock,
) -> Tuple[FrameReading, Pixels]:
    """Return a reading of this image and its picture, once two pictures agree.

    Both are taken after the moment `after_s`, at which the screen showed the image. Raises `Unread`
    with the last reason if that does not happen within `look_s`.
    """
    give_up = after_s + look_s
    before: Optional[FrameReading] = None
    reason: Optional[Unread] = None
    while clock() < give_up:
        try:
            photo = source.newest(after_s, max(0.0, give_up - clock()))
        except Unread as late:
            raise (reason or late) from None
        after_s = clock()
        try:
            reading = read(photo, tag)
        except Unread as error:
            reason = error
            continue
        if reading.label.image_id != image_id:
            reason = Unread(f"stale: the screen still shows image {reading.label.image_id}")
        elif before is not None and before.label == reading.label:
            return reading, photo
        else:
            before = reading
            reason = Unread("only one picture was read, and two must agree")
    raise reason or Unread("no picture came in time")


def _see(
    link: SessionConnection,
    source: PictureSource,
    image_id: int,
    tag: Optional[int],
    look_s: float,
    clock: Clock,
) -> Optional[bytes]:
    """Have an image shown and return it as a JPEG in its own pixels, or None."""
    try:
        link.ask("GET", f"/image_camera?image_name={image_id}")
    except Unauthorised:
        raise
    except ClientError as error:
        say(f"image {image_id}: {error}")
        return None
    try:
        reading, photo = look(source, image_id, tag, clock(), look_s, clock)
    except Unread as reason:
        say(f"image {image_id}: {reason}")
        return None
    picture = np.ascontiguousarray(reading.cut_out(photo))
    quality = [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY]
    return bytes(cv2.imencode(".jpg", picture, quality)[1].tobytes())


def _source(args: argparse.Namespace) -> PictureSource:
    if args.folder is not None:
        return FolderSource(args.folder)
    width, _, height = args.size.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise WrongUse(f"--size {args.size} is no size like 1280x720.")
    return CameraSource.open(args.camera, int(width), int(height), args.delay)


def _detector(args: argparse.Namespace, session: ContestSession) -> Detector:
    if args.detector:
        return load_detector(str(args.detector))
    if not args.model:
        raise WrongUse("There is nothing to post. Give --model FILE or --detector MODULE:FUNCTION.")
    return open_model(args, session, 1)[0]
