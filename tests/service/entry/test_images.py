# SPDX-License-Identifier: Apache-2.0
"""Images for contestants: the right file under each number, and archives of a hundred."""

from __future__ import annotations

import errno
import io
import os
import zipfile
from pathlib import Path

import pytest

from referee.errors import Refusal, Unavailable
from referee.service.entry.images import ImageMissing, archive_for, image_for
from referee.service.setup import image_files
from referee.service.setup.session_images import order_of
from referee.store.sessions import create_session, load_session
from tests.support.contests import make_contest

IMAGES = 203


@pytest.fixture(scope="module")
def contest(tmp_path_factory):
    """Return a contest of 203 images."""
    contest = make_contest(tmp_path_factory.mktemp("contest"), None, images=IMAGES)
    yield contest
    contest.database.close()


def session_of(contest, seed):
    """Make a session with this order of images."""
    with contest.database.write() as connection:
        session_id = create_session(
            connection, team="ants", length_s=1.0, order_seed=seed, now=contest.clock.now()
        )
    return load_session(contest.database.connection, session_id)


def content_of(contest, image_id):
    """Return the bytes of one of the manifest's images."""
    return Path(contest.images[image_id - 1].path).read_bytes()


@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize("number", [1, 7, IMAGES])
def test_number_means_the_image_of_the_order(contest, seed, number):
    """Image k is the k-th of the session's order, under the name k.jpg."""
    session = session_of(contest, seed)
    sent = image_for(contest, session, f"00{number}")
    image_id = int(order_of(IMAGES, seed)[number - 1])
    assert content_of(contest, image_id) == b"".join(sent.content)
    assert (number, 1, "image/jpeg", f"{number}.jpg") == (
        sent.first,
        sent.count,
        sent.media_type,
        sent.file_name,
    )


@pytest.mark.parametrize("text", ["0", "-1", str(IMAGES + 1), "1.5", "abc", str(10**30), ""])
def test_what_is_no_image(contest, text):
    """A number without an image is refused before any look at the disk."""
    session = session_of(contest, None)
    for ask in (image_for, archive_for):
        with pytest.raises(Refusal):
            ask(contest, session, text)


@pytest.mark.parametrize(("text", "count"), [("1", 100), ("101", 100), ("201", 3)])
def test_archive(contest, text, count):
    """Members have the images' numbers as names, and hold the images of the order."""
    session = session_of(contest, 7)
    sent = archive_for(contest, session, text)
    first = int(text)
    assert (first, count, "application/zip", f"{first}.zip") == (
        sent.first,
        sent.count,
        sent.media_type,
        sent.file_name,
    )
    order = order_of(IMAGES, 7)
    with zipfile.ZipFile(io.BytesIO(b"".join(sent.content))) as archive:
        assert archive.testzip() is None
        assert [f"{n}.jpg" for n in range(first, first + count)] == archive.namelist()
        assert {zipfile.ZIP_DEFLATED} == {info.compress_type for info in archive.infolist()}
        last = first + count - 1
        assert content_of(contest, int(order[last - 1])) == archive.read(f"{last}.jpg")


def test_archives_are_the_same_each_time(contest):
    """Two requests for an archive get the same bytes, so that they may be compared."""
    session = session_of(contest, 7)
    first, second = (archive_for(contest, session, "1") for _ in range(2))
    assert b"".join(first.content) == b"".join(second.content)
    assert first.length == second.length


@pytest.mark.parametrize("damage", ["gone", "shorter", "another"])
def test_image_that_vanished(tmp_path, clock, damage):
    """For a missing file the contestant reads the number, and the operator the file's name."""
    contest = make_contest(tmp_path, clock, images=3)
    session = session_of(contest, None)
    path = Path(contest.images[1].path)
    if damage == "gone":
        path.unlink()
    elif damage == "shorter":
        path.write_bytes(b"x")
    else:
        path.write_bytes(path.read_bytes()[::-1])
        os.utime(path, ns=(0, 1))
    assert image_for(contest, session, "1").count == 1
    with pytest.raises(ImageMissing, match="Image 2 is missing") as missing:
        image_for(contest, session, "2")
    assert str(path) not in str(missing.value)
    with pytest.raises(ImageMissing):
        archive_for(contest, session, "1")
    contest.database.close()
    assert 2 == missing.value.image_id
    assert str(path) in missing.value.alarm
    assert missing.value.alarm.endswith("Then put the same file back from the backup.")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_an_image_is_not_missing_because_no_file_can_be_opened(
    tmp_path, clock, monkeypatch, number
):
    """A machine without descriptors or memory says so, and no image is called missing."""
    contest = make_contest(tmp_path, clock, images=3)
    session = session_of(contest, None)

    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    for path in (image.path for image in contest.images):
        os.utime(path, ns=(0, 1))  # So the archive has to read them, too.
    monkeypatch.setattr(image_files, "open", refuse, raising=False)
    for find in (image_for, archive_for):
        with pytest.raises(Unavailable, match=f"{os.strerror(number)}.*not missing"):
            find(contest, session, "1")
    contest.database.close()


def test_image_that_was_copied_again(tmp_path, clock):
    """The same bytes with another time are the same image."""
    contest = make_contest(tmp_path, clock, images=3)
    session = session_of(contest, None)
    path = Path(contest.images[1].path)
    os.utime(path, ns=(0, 1))
    assert [path.read_bytes()] == list(image_for(contest, session, "2").content)
    assert 3 == archive_for(contest, session, "1").count
    contest.database.close()
