# SPDX-License-Identifier: Apache-2.0
"""A live session looks at the screen until two pictures agree, and never posts a stale image."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from client_sample.camera.live import look, take_part
from client_sample.camera.reading import Unread
from client_sample.client import ClientError
from referee.tracks.camera.code import FrameLabel
from tests.support.frames import chance_frame, plain

pytestmark = pytest.mark.slow

TAG = 77


class FakeSource:
    """Pictures in their order; each takes a tenth of a second."""

    def __init__(self, *pictures) -> None:
        self.pictures = list(pictures)
        self.now = 100.0
        self.asked: list[float] = []

    def clock(self) -> float:
        """Return the time that the pictures took."""
        return self.now

    def newest(self, after_s: float, timeout_s: float):
        """Return the next picture."""
        self.now += 0.1
        self.asked.append(after_s)
        if not self.pictures:
            raise ClientError("The camera has ended.")
        picture = self.pictures.pop(0)
        if picture is None:
            self.now += timeout_s
            raise Unread("the camera gave no picture")
        return picture

    def close(self) -> None:
        """Do nothing."""


@pytest.fixture(scope="module")
def shown():
    """Return photographs of the images 1 and 2, and one of image 2 of another session."""
    made = {}
    for name, label in (
        ("one", FrameLabel(1, 300, 200, TAG)),
        ("two", FrameLabel(2, 400, 300, TAG)),
        ("stale", FrameLabel(2, 400, 300, TAG + 1)),
    ):
        made[name] = plain(chance_frame(label, np.random.default_rng(1)))
    return SimpleNamespace(**made, wall=np.full((480, 640, 3), 80, dtype=np.uint8))


def test_two_pictures_must_agree(shown) -> None:
    """The image is taken from the second of two pictures that say the same."""
    source = FakeSource(shown.one, shown.wall, shown.two, shown.two)
    reading, photo = look(source, 2, TAG, 100.0, 3.0, source.clock)
    assert 2 == reading.label.image_id
    assert photo is shown.two
    assert [] == source.pictures
    # Each picture was taken after the one before had been read.
    assert source.asked == sorted(set(source.asked))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("wall", "no screen"),
        ("stale", "stale: another session's frame"),
        ("one", "stale: the screen still shows image 1"),
    ],
)
def test_the_last_reason_is_told_when_the_time_is_over(shown, name, reason) -> None:
    """A look ends after its time, and says why nothing was read."""
    source = FakeSource(*[getattr(shown, name)] * 4)
    with pytest.raises(Unread, match=reason):
        look(source, 2, TAG, 100.0, 0.25, source.clock)


class FakeLink:
    """A referee that shows two images; it records what the client posts."""

    def __init__(self, refuses: str = "") -> None:
        self.asked: list[str] = []
        self.posted: list[tuple] = []
        self.refuses = refuses

    def ask(self, method: str, path: str) -> bytes:
        """Answer as the referee does when the image is on the screen."""
        self.asked.append(path)
        if path == self.refuses:
            raise ClientError("The referee refused it with status 503: no display")
        return b"Display success"

    def post(self, answers) -> None:
        """Take an answer."""
        self.posted += [(image_id, list(rows)) for image_id, rows in answers]

    def logout(self) -> None:
        """End the session."""
        self.asked.append("/logout")


def size_of(image_id: int, jpeg_bytes: bytes):
    """Detect one box, which is as large as the image."""
    with Image.open(io.BytesIO(jpeg_bytes)) as picture:
        assert "JPEG" == picture.format
        width, height = picture.size
    return [(7, 0.5, 0.0, 0.0, width - 1.0, height - 1.0)]


def test_a_session_posts_boxes_in_source_pixels(shown) -> None:
    """Each image is asked for, seen, given to the detector in its own size, and posted."""
    link, session = FakeLink(), SimpleNamespace(images=2, frame_tag=TAG)
    source = FakeSource(shown.one, shown.one, shown.two, shown.two)
    assert 2 == take_part(session, link, source, size_of, clock=source.clock)
    expected = [
        (1, [(7, 0.5, 0.0, 0.0, 299.0, 199.0)]),
        (2, [(7, 0.5, 0.0, 0.0, 399.0, 299.0)]),
    ]
    assert expected == link.posted
    paths = [f"/image_camera?image_name={number}" for number in (1, 2)]
    assert [*paths, "/logout"] == link.asked


def test_an_image_that_the_referee_cannot_show_is_passed_over(shown, capsys) -> None:
    """A display that fails for one image costs that image alone, and is told."""
    link = FakeLink(refuses="/image_camera?image_name=1")
    source = FakeSource(shown.two, shown.two)
    session = SimpleNamespace(images=2, frame_tag=TAG)
    assert 1 == take_part(session, link, source, size_of, clock=source.clock)
    assert [2] == [image_id for image_id, _ in link.posted]
    assert "image 1: The referee refused it" in capsys.readouterr().err


def test_a_camera_that_is_silent_for_an_image_costs_that_image_alone(shown, capsys) -> None:
    """The session goes on when a camera, or the program that fills a folder, pauses."""
    link = FakeLink()
    source = FakeSource(None, shown.two, shown.two)
    session = SimpleNamespace(images=2, frame_tag=TAG)
    assert 1 == take_part(session, link, source, size_of, clock=source.clock)
    assert [2] == [image_id for image_id, _ in link.posted]
    assert "image 1: the camera gave no picture" in capsys.readouterr().err


def test_silence_does_not_hide_what_the_pictures_showed(shown) -> None:
    """What was wrong with the last picture is told, rather than that no more came."""
    source = FakeSource(shown.wall, None)
    with pytest.raises(Unread, match="no screen"):
        look(source, 2, TAG, 100.0, 3.0, source.clock)
