# SPDX-License-Identifier: Apache-2.0
"""A contest is prepared before it runs, and keeps its images."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from referee.errors import InputError
from referee.formats.hashed_reads import HashedReads
from referee.service.preflight.contest_checks import changed_images, images_finding
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.preparation import prepare_contest, require_showable
from referee.store.database import Database
from referee.store.images import ImageCounts, load_counts, load_manifest
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


def test_what_came_and_what_is_used_is_stored(contest, tmp_path):
    """The counts are those of the newest preparation, also under sessions."""
    assert ImageCounts(4, 4, 4, 0) == load_counts(contest.database.connection)
    add_session(contest)
    (tmp_path / "images" / "notes.txt").write_text("")
    prepare(tmp_path)
    assert ImageCounts(4, 4, 4, 1) == load_counts(contest.database.connection)
    text = images_finding(contest).text
    assert "4 of 4 images of the ground truth; 1 other file" in text


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
