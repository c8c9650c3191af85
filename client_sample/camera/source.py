# SPDX-License-Identifier: Apache-2.0
"""Where pictures come from: a camera, or a folder that grows."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, Callable, List, Optional, Protocol, Tuple

import cv2
import numpy as np
from numpy.typing import NDArray

from client_sample.camera.reading import Unread
from client_sample.client import ClientError

Pixels = NDArray[np.uint8]

_SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
_HEIF = (b"heic", b"heix", b"heif", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1")
_POLL_S = 0.02
_CLOSE_S = 5.0  # a driver that delivers nothing may hold the thread up


class PictureSource(Protocol):
    """Something that sees the screen."""

    def newest(self, after_s: float, timeout_s: float) -> Pixels:
        """Return the newest picture, in BGR, that was taken after a moment of `time.monotonic`.

        Raises `Unread` if there is none within `timeout_s`, and `ClientError` if none will come.
        """

    def close(self) -> None:
        """Release the camera."""


def read_picture(path: Path) -> Pixels:
    """Return a picture's pixels in BGR, as they are stored; raise `OSError` if there are none."""
    stored = path.read_bytes()
    if stored[4:8] == b"ftyp" and stored[8:12] in _HEIF:
        raise OSError(
            "a HEIC file, which OpenCV cannot read: let the phone take JPEG (most compatible), "
            "or convert the file"
        )
    content = np.frombuffer(stored, dtype=np.uint8)
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
    picture = cv2.imdecode(content, flags) if len(content) else None
    if picture is None:
        raise OSError("no picture that OpenCV can read")
    return np.asarray(picture, dtype=np.uint8)


class CameraSource:
    """A camera; a thread reads it all the time and keeps the newest picture only.

    A driver keeps some pictures back, so a program that reads only when it wants one gets an old
    one. The thread empties the driver's queue. `delay_s` is how old a picture may be when it comes
    out of the driver: a picture counts as taken so much earlier. Measure it with the test card.
    """

    def __init__(
        self,
        camera: Any,
        delay_s: float = 0.1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._camera = camera
        self._delay_s = delay_s
        self._clock = clock
        self._changed = threading.Condition()
        self._picture: Optional[Pixels] = None
        self._taken_s = 0.0
        self._ended = False
        self._thread = threading.Thread(target=self._follow, name="camera", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, device: int, width: int, height: int, delay_s: float) -> CameraSource:
        """Open a camera by its number; it may deliver another size than the one asked for."""
        camera = cv2.VideoCapture(device)
        if not camera.isOpened():
            raise ClientError(f"There is no camera {device}, or another program uses it.")
        camera.set(cv2.CAP_PROP_FRAME_WIDTH, width)
        camera.set(cv2.CAP_PROP_FRAME_HEIGHT, height)
        camera.set(cv2.CAP_PROP_BUFFERSIZE, 1)  # Some drivers ignore this, hence the thread.
        return cls(camera, delay_s)

    def newest(self, after_s: float, timeout_s: float) -> Pixels:
        """Return the newest picture that was taken after a moment."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._taken_s > after_s, timeout_s)
            if self._picture is not None and self._taken_s > after_s:
                return self._picture
            if self._ended:
                raise ClientError("The camera has ended.")
            raise Unread(f"the camera gave no picture within {timeout_s:g} s")

    def close(self) -> None:
        """End the thread and release the camera."""
        with self._changed:
            self._ended = True
        self._thread.join(_CLOSE_S)
        self._camera.release()

    def _follow(self) -> None:
        while not self._ended:
            good, picture = self._camera.read()
            with self._changed:
                if good:
                    self._picture = picture
                    self._taken_s = self._clock() - self._delay_s
                else:
                    self._ended = True
                self._changed.notify_all()


class FolderSource:
    """A folder into which another program writes pictures; the newest file counts."""

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        if not folder.is_dir():
            raise ClientError(f"{folder} is not a folder.")
        self._folder = folder
        self._clock = clock
        self._wall_clock = wall_clock
        self._pause = pause

    def newest(self, after_s: float, timeout_s: float) -> Pixels:
        """Return the newest file that was written after a moment; an unfinished one has to wait."""
        give_up = self._clock() + timeout_s
        while True:
            # The times of files are wall time.
            after = self._wall_clock() - (self._clock() - after_s)
            for _, path in sorted(self._written_after(after), reverse=True):
                try:
                    return read_picture(path)
                except OSError:
                    continue
            if self._clock() >= give_up:
                raise Unread(f"no new picture came into {self._folder} within {timeout_s:g} s")
            self._pause(_POLL_S)

    def close(self) -> None:
        """Leave the folder as it is."""

    def _written_after(self, after: float) -> List[Tuple[float, Path]]:
        files = []
        for path in self._folder.iterdir():
            if path.suffix.lower() in _SUFFIXES:
                written = path.stat().st_mtime
                if written > after:
                    files.append((written, path))
        return files
