# SPDX-License-Identifier: Apache-2.0
"""Sources give only pictures that were taken after a moment."""

from __future__ import annotations

import os
import queue

import cv2
import numpy as np
import pytest

from client_sample.camera.reading import Unread
from client_sample.camera.source import CameraSource, FolderSource
from client_sample.client import ClientError


class FakeCamera:
    """A camera that delivers what the test gives it, one picture at a time."""

    def __init__(self) -> None:
        self.pictures: queue.Queue[int | None] = queue.Queue()
        self.released = False

    def read(self):
        """Wait for a picture, as a driver does; None is the end."""
        value = self.pictures.get(timeout=180)
        return value is not None, np.full((2, 2, 3), value or 0, dtype=np.uint8)

    def release(self) -> None:
        """Note the end."""
        self.released = True


@pytest.fixture
def camera():
    """Return a camera whose thread ends with the test."""
    fake = FakeCamera()
    yield fake
    fake.pictures.put(None)


def test_a_camera_gives_the_newest_picture_only(camera) -> None:
    """A picture that was taken too early is dropped, even if it comes out later."""
    times = iter([10.0, 11.0, 12.0])
    source = CameraSource(camera, delay_s=0.5, clock=lambda: next(times))
    for value in (1, 2, 3):
        camera.pictures.put(value)
    # Taken at 9.5, 10.5 and 11.5: only the third is later than 11.
    assert 3 == source.newest(11.0, 10.0)[0, 0, 0]
    camera.pictures.put(None)
    source.close()
    assert camera.released


def test_a_camera_that_ends_is_named(camera) -> None:
    """A camera that was unplugged ends the wait at once."""
    source = CameraSource(camera)
    camera.pictures.put(None)
    with pytest.raises(ClientError, match="The camera has ended"):
        source.newest(0.0, 10.0)
    source.close()


def test_a_camera_that_gives_nothing_has_a_bound(camera) -> None:
    """The wait for a picture ends by itself."""
    source = CameraSource(camera)
    with pytest.raises(Unread, match="no picture within 0.01 s"):
        source.newest(0.0, 0.01)
    camera.pictures.put(None)
    source.close()


def write(folder, name: str, value: int, written: float) -> None:
    """Write a picture of one value, as if at that moment."""
    cv2.imwrite(str(folder / name), np.full((4, 4, 3), value, dtype=np.uint8))
    os.utime(folder / name, (written, written))


def test_a_folder_gives_the_newest_file_after_the_moment(tmp_path) -> None:
    """Files from before the moment do not count, nor files that are no pictures."""
    write(tmp_path, "a.png", 1, 1000.0)
    write(tmp_path, "b.png", 2, 1005.0)
    write(tmp_path, "c.png", 3, 1004.0)
    (tmp_path / "note.txt").write_text("no picture")
    # The monotonic clock shows 50 when the wall clock shows 1006.
    source = FolderSource(tmp_path, clock=lambda: 50.0, wall_clock=lambda: 1006.0)
    assert 2 == source.newest(46.0, 0.0)[0, 0, 0]
    with pytest.raises(Unread, match="no new picture"):
        source.newest(49.5, 0.0)


def test_a_folder_waits_for_an_unfinished_file(tmp_path) -> None:
    """A file that another program is still writing is read when it is whole."""
    clock = [50.0]
    write(tmp_path, "a.png", 7, 1005.0)
    whole = (tmp_path / "a.png").read_bytes()
    (tmp_path / "a.png").write_bytes(whole[:20])
    os.utime(tmp_path / "a.png", (1005.0, 1005.0))

    def pause(seconds: float) -> None:
        clock[0] += seconds
        (tmp_path / "a.png").write_bytes(whole)
        os.utime(tmp_path / "a.png", (1005.0, 1005.0))

    source = FolderSource(tmp_path, lambda: clock[0], lambda: clock[0] + 954.0, pause)
    assert 7 == source.newest(49.0, 5.0)[0, 0, 0]


def test_a_folder_must_exist(tmp_path) -> None:
    """A folder that is not there is named before anything starts."""
    with pytest.raises(ClientError, match="is not a folder"):
        FolderSource(tmp_path / "nowhere")
