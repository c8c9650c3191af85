# SPDX-License-Identifier: Apache-2.0
"""A contest is prepared before it runs, and keeps its images."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from referee.core.ground_truth import GroundTruth
from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.formats.hashed_reads import HashedReads
from referee.formats.truth_file import GroundTruthFile
from referee.service.preflight.contest_checks import changed_images
from referee.service.setup import preparation
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.preparation import build_images, prepare_contest, require_showable
from referee.store.database import Database
from referee.store.images import load_manifest
from referee.store.sessions import all_sessions, create_session
from tests.support.contests import write_config, write_images, write_truth


def prepare(folder):
    """Prepare the contest of a folder and return its manifest."""
    database, manifest = prepare_contest(load_config(folder / "contest.toml"))
    database.close()
    return manifest


def add_session(contest):
    """Record that a session was made."""
    with contest.database.write() as connection:
        create_session(
            connection, team="ants", length_s=1.0, order_seed=None, now=contest.clock.now()
        )


def change_truth(folder):
    """Move a box."""
    path = folder / "truth.json"
    document = json.loads(path.read_text())
    document["annotations"][0]["bbox"] = [0, 0, 5, 5]
    path.write_text(json.dumps(document))


def test_prepared_contest(contest):
    """Images, classes and digests of the inputs are stored."""
    assert 4 == contest.image_count
    assert {1: "cat", 2: "dog"} == contest.classes
    assert [1, 2] == contest.class_ids.tolist()
    assert ["ground_truth"] == list(load_manifest(contest.database.connection).inputs)


def test_preparing_again_changes_nothing(contest, tmp_path):
    """A second preparation changes nothing, with and without sessions."""
    before = load_manifest(contest.database.connection)
    assert before == prepare(tmp_path)
    add_session(contest)
    assert before == prepare(tmp_path)
    assert before == load_manifest(contest.database.connection)


CHANGES = [
    change_truth,
    lambda folder: write_images(folder / "images", ["3.jpg"]),
    lambda folder: write_truth(folder / "truth.json", [(n + 5, f"{n}.jpg") for n in range(1, 5)]),
]


@pytest.mark.parametrize("change", CHANGES)
def test_inputs_may_change_before_the_first_session(contest, tmp_path, change):
    """The next preparation takes a corrected ground truth."""
    before = load_manifest(contest.database.connection)
    change(tmp_path)
    after = prepare(tmp_path)
    assert before != after == load_manifest(contest.database.connection)


@pytest.mark.parametrize("change", CHANGES)
def test_inputs_may_not_change_under_sessions(contest, tmp_path, change):
    """Other images are refused once sessions exist, and nothing changes."""
    before = load_manifest(contest.database.connection)
    add_session(contest)
    change(tmp_path)
    with pytest.raises(InputError, match="folder of its own"):
        prepare(tmp_path)
    assert before == load_manifest(contest.database.connection)
    assert 1 == len(all_sessions(contest.database.connection))


def test_a_refused_contest_leaves_no_file_open(contest, tmp_path):
    """Who catches the refusal and goes on, as a check does, has no connection to the database."""
    add_session(contest)
    contest.database.close()
    change_truth(tmp_path)
    with pytest.raises(InputError) as refused:
        prepare(tmp_path)
    held = {Path(file.path) for file in psutil.Process().open_files()}
    assert contest.config.database.resolve() not in held, refused.value


def test_contest_may_be_moved(contest, tmp_path):
    """A contest counts as unchanged if its files' contents are, wherever the files lie."""
    add_session(contest)
    contest.database.close()
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("images", "truth.json", "contest.toml", "data"):
        shutil.move(tmp_path / name, moved / name)
    manifest = prepare(moved)
    assert {moved / "images"} == {Path(entry.path).parent for entry in manifest.images}
    database = Database(moved / "data" / "referee.db")
    assert manifest == load_manifest(database.connection)
    database.close()


def test_an_image_that_was_copied_again_is_the_same(contest, tmp_path):
    """A file with the same content and another time is known after the next start."""
    add_session(contest)
    os.utime(tmp_path / "images" / "2.jpg")
    assert ["2.jpg"] == [Path(path).name for path in changed_images(contest)]
    prepare(tmp_path)
    again = open_contest(contest.config, contest.clock)
    assert [] == changed_images(again)
    again.database.close()


def test_failed_preparation_leaves_the_old_manifest(contest, tmp_path):
    """A missing image leaves the stored manifest unchanged."""
    before = load_manifest(contest.database.connection)
    (tmp_path / "images" / "2.jpg").unlink()
    with pytest.raises(InputError, match=r"2\.jpg"):
        prepare(tmp_path)
    assert before == load_manifest(contest.database.connection)


def test_an_image_that_no_margin_can_name_is_refused_at_the_start(tmp_path):
    """A contest on a screen does not start with it; the network track takes the same one."""
    write_images(tmp_path / "images", ["1.png"], size=(16384, 1))
    write_truth(tmp_path / "truth.json", [(1, "1.png")], size=(16384, 1))
    write_config(tmp_path, track="camera")
    with pytest.raises(InputError, match=r"1\.png cannot be shown on a screen: .*16384"):
        prepare(tmp_path)
    write_config(tmp_path, track="network")
    assert 1 == len(prepare(tmp_path).images)


def test_the_id_in_the_margins_bounds_the_number_of_images(contest):
    """The last of 2^20 numbers fits into a frame, and one more does not."""
    entry = replace(contest.images[0], image_id=2**20 - 1)
    require_showable([entry])
    with pytest.raises(InputError, match="cannot be shown on a screen: .*1048576"):
        require_showable([entry, replace(entry, image_id=2**20)])


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

    class Counting(HashedReads):
        def stored(self, path):
            read.append(path.name)
            return super().stored(path)

    monkeypatch.setattr(preparation, "HashedReads", Counting)
    assert first == build_images(folder, truth, known=first)
    assert [] == read
    write_images(folder, ["2.jpg"], size=(64, 48))
    os.utime(folder / "3.jpg", ns=(1, 1))
    again = build_images(folder, truth, known=first)
    assert {"2.jpg", "3.jpg"} == set(read)
    assert first[0] == again[0]
    assert (64, 48) == (again[1].width, again[1].height)


def test_progress_is_told(folder):
    """The progress is reported for each image."""
    write_images(folder, ["1.jpg", "2.jpg"])
    told = []
    build_images(
        folder, truth_of_ids(1, 2), progress=lambda done, total: told.append((done, total))
    )
    assert [(0, 2), (1, 2), (2, 2)] == told


def test_digest_of_a_folder(tmp_path):
    """A folder's digest changes with each name and each byte, and with nothing else."""
    folder = tmp_path / "xml"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.xml").write_text("a")
    (folder / "deep" / "b.xml").write_text("b")
    first = HashedReads().sha256_of(folder)
    os.utime(folder / "a.xml", ns=(1, 1))
    assert first == HashedReads().sha256_of(folder)
    (folder / "a.xml").rename(folder / "c.xml")
    renamed = HashedReads().sha256_of(folder)
    (folder / "c.xml").write_text("c")
    assert 3 == len({first, renamed, HashedReads().sha256_of(folder)})
