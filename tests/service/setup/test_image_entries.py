# SPDX-License-Identifier: Apache-2.0
"""The images of a contest are found, looked at and described."""

from __future__ import annotations

import hashlib
import os
import shutil

import numpy as np
import pytest
from PIL import Image

from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.formats.truth_file import GroundTruthFile
from referee.service.setup import image_entries
from referee.service.setup.image_entries import find_images, read_images
from tests.support.contests import write_images, write_truth


def build_images(folder, truth, **options):
    """Return the entries of all images of a ground truth."""
    return read_images(find_images(folder, truth), truth.sizes, **options)


def truth_of(tmp_path, images, size=(32, 24)):
    """Return COCO ground truth that lists these images."""
    write_truth(tmp_path / "truth.json", images, size)
    return read_ground_truth(tmp_path / "truth.json")


def truth_of_ids(*ids):
    """Return ground truth with ids and without file names, like a CSV's."""
    return GroundTruthFile(
        GroundTruth(
            image_ids=np.asarray(ids),
            class_ids=np.asarray([1]),
            box_image_id=np.asarray(ids),
            box_class_id=np.ones(len(ids), dtype=np.int64),
            box=np.zeros((len(ids), 4)),
            blacklist=np.empty((0, 2), dtype=np.int64),
            class_names={},
        )
    )


def numbers(entries):
    """Return (image id, source id, file name) of each entry."""
    return [(entry.image_id, entry.source_id, entry.path.rpartition("/")[2]) for entry in entries]


@pytest.fixture
def folder(tmp_path):
    """Return the folder of the images."""
    return tmp_path / "images"


def test_numbered_folder_keeps_its_numbers(tmp_path, folder):
    """1.jpg…N.jpg are images 1…N in any order of the ground truth."""
    write_images(folder, [f"{n}.jpg" for n in range(1, 13)])
    truth = truth_of(tmp_path, [(100 - n, f"{n}.jpg") for n in range(1, 13)])
    expected = [(n, 100 - n, f"{n}.jpg") for n in range(1, 13)]
    assert expected == numbers(build_images(folder, truth))


def test_numbered_folder_may_hold_images_without_a_box(tmp_path, folder):
    """A numbered folder may hold images that the ground truth does not list."""
    write_images(folder, ["1.jpg", "2.png", "3.JPG"])
    expected = [(1, 1, "1.jpg"), (2, 2, "2.png"), (3, 3, "3.JPG")]
    assert expected == numbers(build_images(folder, truth_of_ids(1, 3)))


def test_other_names_are_numbered_by_ascending_id(tmp_path, folder):
    """Image k is the k-th in ascending order of the ground truth's own ids."""
    write_images(folder, ["dog.jpg", "cat.jpg", "eel.jpg", "not in the contest.jpg"])
    truth = truth_of(tmp_path, [(70, "dog.jpg"), (5, "cat.jpg"), (100, "eel.jpg")])
    expected = [(1, 5, "cat.jpg"), (2, 70, "dog.jpg"), (3, 100, "eel.jpg")]
    assert expected == numbers(build_images(folder, truth))


def test_file_names_with_folders(tmp_path, folder):
    """A ground truth's name with a folder means the file of that name."""
    write_images(folder, ["cat.jpg"])
    truth = truth_of(tmp_path, [(5, "val2017/cat.jpg")])
    assert [(1, 5, "cat.jpg")] == numbers(build_images(folder, truth))


def test_files_named_by_their_ids(tmp_path, folder):
    """Numbers that do not run from 1 to N are names: the k-th image is image k."""
    write_images(folder, ["5.jpg", "70.jpg", "99999999999.jpg"])
    truth = truth_of_ids(5, 70, 99999999999)
    expected = [(1, 5, "5.jpg"), (2, 70, "70.jpg"), (3, 99999999999, "99999999999.jpg")]
    assert expected == numbers(build_images(folder, truth))


@pytest.mark.parametrize("name", ["01.jpg", "0.jpg", "x1.jpg"])
def test_folder_is_numbered_only_if_every_file_is(tmp_path, folder, name):
    """One other name in a numbered folder turns all numbers into names."""
    write_images(folder, ["1.jpg", name])
    truth = truth_of(tmp_path, [(9, "1.jpg"), (3, name)])
    assert [(1, 3, name), (2, 9, "1.jpg")] == numbers(build_images(folder, truth))


@pytest.mark.parametrize(
    ("names", "listed", "message"),
    [
        (["1.jpg", "3.jpg"], [(1, "1.jpg"), (2, "2.jpg")], "2.jpg"),
        (["a.jpg"], [(1, "a.jpg"), (2, "b.jpg")], "1 of 2 images are not there: b.jpg"),
        (["1.jpg", "2.jpg"], [(1, "1.jpg")], "does not list 2.jpg"),
        (["1.jpg"], [(n, f"{n}.jpg") for n in range(1, 9)], "7 of 8 .* and 2 more"),
    ],
)
def test_missing_images_are_named(tmp_path, folder, names, listed, message):
    """Missing and unlisted images are named, and a long list is cut."""
    write_images(folder, names)
    with pytest.raises(InputError, match=message):
        build_images(folder, truth_of(tmp_path, listed))


def test_hole_in_a_numbered_folder(folder):
    """A numbered folder with a hole and an unknown image is refused."""
    write_images(folder, ["1.jpg", "3.jpg", "5.jpg"])
    with pytest.raises(InputError, match="2 of 5 images are not there: 2.jpg, 4.jpg"):
        build_images(folder, truth_of_ids(1, 3))


def test_huge_number_in_a_folder_is_told_at_once(folder):
    """A stray file with a time stamp for a name is refused at once, without a count up to it."""
    write_images(folder, ["1.jpg", "20260607120000.jpg"])
    with pytest.raises(InputError, match="images are not there: 2.jpg, 3.jpg"):
        build_images(folder, truth_of_ids(1))


def test_one_number_twice(folder):
    """1.jpg beside 1.png is refused."""
    write_images(folder, ["1.jpg", "1.png", "2.jpg"])
    with pytest.raises(InputError, match=r"1\.(jpg|png) and 1\.(jpg|png)"):
        build_images(folder, truth_of_ids(1, 2))


def test_folder_without_images(tmp_path, folder):
    """A missing folder, a file, or a folder without images is refused."""
    with pytest.raises(InputError, match="is not a folder"):
        build_images(folder, truth_of_ids(1))
    folder.mkdir()
    (folder / "notes.txt").write_text("no picture")
    with pytest.raises(InputError, match="holds no image"):
        build_images(folder, truth_of_ids(1))
    with pytest.raises(InputError, match="is not a folder"):
        build_images(folder / "notes.txt", truth_of_ids(1))


@pytest.mark.parametrize(
    "content", [b"", b"these are words", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"]
)
def test_file_that_is_no_image(folder, content):
    """A text file under an image's name is refused by name."""
    write_images(folder, ["1.jpg", "2.jpg"])
    (folder / "2.jpg").write_bytes(content)
    with pytest.raises(InputError, match=r"2\.jpg: is not an image that can be read"):
        build_images(folder, truth_of_ids(1, 2))


@pytest.mark.parametrize("name", ["1.jpg", "1.png"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_image_cut_short(folder, name, share):
    """A truncated image is found before the contest."""
    write_images(folder, [])
    noise = np.random.default_rng(1).integers(0, 255, (120, 160, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / name)
    whole = (folder / name).read_bytes()
    assert 1 == len(build_images(folder, truth_of_ids(1)))
    (folder / name).write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(InputError, match="is not an image that can be read"):
        build_images(folder, truth_of_ids(1))


def test_image_of_another_kind(folder):
    """A GIF under a JPEG's name is refused."""
    folder.mkdir()
    Image.new("RGB", (4, 4)).save(folder / "1.jpg", format="GIF")
    with pytest.raises(InputError, match="neither JPEG nor PNG"):
        build_images(folder, truth_of_ids(1))


def test_kind_is_what_the_file_holds(folder):
    """A PNG under a JPEG's name is served as a PNG."""
    folder.mkdir()
    Image.new("RGB", (4, 4)).save(folder / "1.jpg", format="PNG")
    assert "image/png" == build_images(folder, truth_of_ids(1))[0].media_type


def test_image_of_another_size_than_its_boxes(tmp_path, folder):
    """A picture whose size differs from the truth's is refused."""
    write_images(folder, ["1.jpg"], size=(16, 12))
    with pytest.raises(InputError, match="is 16x12 pixels, but the ground truth says 32x24"):
        build_images(folder, truth_of(tmp_path, [(1, "1.jpg")]))


def test_entry_describes_the_file(folder):
    """An entry has the file's size, digest and pixels."""
    write_images(folder, ["1.jpg"])
    (entry,) = build_images(folder, truth_of_ids(1))
    content = (folder / "1.jpg").read_bytes()
    expected = ("image/jpeg", len(content), hashlib.sha256(content).hexdigest(), 32, 24)
    assert expected == (
        entry.media_type,
        entry.size_bytes,
        entry.sha256,
        entry.width,
        entry.height,
    )


def test_unchanged_files_are_not_read_again(folder, monkeypatch):
    """A second pass reads only the files that have changed."""
    write_images(folder, ["1.jpg", "2.jpg", "3.jpg"])
    truth = truth_of_ids(1, 2, 3)
    first = build_images(folder, truth)
    read = []
    look = image_entries.read_sound_image
    monkeypatch.setattr(
        image_entries, "read_sound_image", lambda path: (read.append(path.name), look(path))[1]
    )
    assert first == build_images(folder, truth, known=first)
    assert [] == read
    write_images(folder, ["2.jpg"], size=(64, 48))
    os.utime(folder / "3.jpg", ns=(1, 1))
    again = build_images(folder, truth, known=first)
    assert {"2.jpg", "3.jpg"} == set(read)
    assert first[0] == again[0]
    assert (64, 48) == (again[1].width, again[1].height)


def test_progress_is_told(folder, monkeypatch):
    """The progress is told at the beginning, on the way and at the end."""
    write_images(folder, ["1.jpg", "2.jpg", "3.jpg", "4.jpg"])
    told = []
    monkeypatch.setattr(image_entries, "_TELL_EACH", 2)
    build_images(
        folder, truth_of_ids(1, 2, 3, 4), progress=lambda done, total: told.append((done, total))
    )
    assert [(0, 4), (1, 4), (3, 4), (4, 4)] == told


@pytest.mark.slow
def test_two_processes_find_what_one_finds(tmp_path, folder, monkeypatch):
    """Many images are shared with a second process; entries and progress are the same."""
    names = [f"{n}.png" for n in range(1, 61)]
    write_images(folder, names)
    truth = truth_of(tmp_path, list(enumerate(names, 1)))
    alone = build_images(folder, truth)
    told = []
    monkeypatch.setattr(image_entries, "_MANY", 1)
    together = build_images(folder, truth, progress=lambda done, total: told.append((done, total)))
    assert alone == together
    assert sorted(told) == told
    assert ((0, 60), (60, 60)) == (told[0], told[-1])


@pytest.mark.slow
def test_the_first_damaged_image_is_named_whoever_read_it(tmp_path, folder, monkeypatch):
    """A fault in the second process is told as one in the first is, in the order of images."""
    names = [f"{n}.png" for n in range(1, 31)]
    write_images(folder, names)
    for name in ("2.png", "29.png"):
        (folder / name).write_bytes(b"no picture")
    monkeypatch.setattr(image_entries, "_MANY", 1)
    with pytest.raises(InputError, match=r"/2\.png: is not an image"):
        build_images(folder, truth_of(tmp_path, list(enumerate(names, 1))))


def test_a_name_that_is_no_text_is_refused(tmp_path, folder):
    """A path that the database cannot hold is told with an escape."""
    inside = folder / os.fsdecode(b"caf\xe9")
    inside.mkdir(parents=True)
    write_images(inside, ["a.jpg"])
    with pytest.raises(InputError, match=r"caf.*a\.jpg: its name is not text in UTF-8"):
        build_images(folder, truth_of(tmp_path, [(1, "a.jpg")]))


def test_files_that_are_an_input_are_used(tmp_path, folder):
    """The ground truth in the folder of the images is not counted as unused."""
    write_images(folder, ["a.jpg", "b.jpg"])
    (folder / "notes.txt").write_text("")
    truth = truth_of(tmp_path, [(1, "a.jpg")])
    shutil.copy(tmp_path / "truth.json", folder)
    found = find_images(folder, truth)
    assert (1, 1, 1, 2) == tuple(vars(found.counts([folder / "truth.json"])).values())
    (tmp_path / "link").symlink_to(folder)
    assert 2 == found.counts([tmp_path / "link" / "truth.json"]).other_files
    assert 3 == found.counts([]).other_files
