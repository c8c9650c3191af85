# SPDX-License-Identifier: Apache-2.0
"""Ground truths and images as people reported them: each is whole, or refused by name."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from referee.cli import main
from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.service.setup.image_entries import FoundImages, find_images, read_images

DATA = Path(__file__).parents[3] / "../shared/data"
FILES = DATA / "field" / "files"

pytestmark = pytest.mark.skipif(not FILES.is_dir(), reason="needs shared/data/field beside us")


def found(images: Path, truth: Path) -> FoundImages:
    """Match images and look into each of them."""
    source = read_ground_truth(truth)
    matched = find_images(images, source)
    assert len(matched.matching.images) == len(read_images(matched, source.sizes))
    return matched


def score(truth: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Score the one detection of the field's files; return exit code, output and errors."""
    detections = FILES / "one.txt"
    code = main(["score", "--ground-truth", str(truth), "--detections", str(detections), "--json"])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_two_entries_of_one_file_are_refused() -> None:
    """Six entries for three files serve no three images."""
    with pytest.raises(InputError, match=r"(img\d\.jpg) is the only file.*Test/\1.*Train/\1"):
        found(FILES / "collide_coco" / "images", FILES / "collide_coco" / "gt.json")


def test_folders_keep_six_images_apart(tmp_path: Path) -> None:
    """With the files in folders of the names, each of the six entries has its own."""
    truth = FILES / "collide_coco" / "gt.json"
    photos = {photo.name: photo for photo in (DATA / "coco-tiny" / "images").iterdir()}
    for image in json.loads(truth.read_text())["images"]:
        path = tmp_path / "images" / image["file_name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(photos[image["coco_url"].rpartition("/")[2]], path)
    source = read_ground_truth(truth)
    matched = find_images(tmp_path / "images", source)
    assert Counter({"Test": 3, "Train": 3}) == Counter(
        image.file.partition("/")[0] for image in matched.matching.images
    )
    assert 6 == matched.counts(()).used_listed


def test_names_of_windows_are_found() -> None:
    """Six images are found under `images\\…`, and the others in the folder are counted."""
    folder = DATA / "coco-tiny" / "images"
    counts = found(folder, FILES / "windows_backslash_coco.json").counts(())
    files = sum(1 for file in folder.iterdir() if not file.name.startswith("."))
    assert (6, 6, 6, files - 6) == tuple(vars(counts).values())


def test_an_export_of_another_tool_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it, the same folder scores 1."""
    folder = tmp_path / "xml"
    shutil.copytree(FILES / "xml_foreign_root", folder, copy_function=shutil.copyfile)
    folder.chmod(0o700)
    code, _, errors = score(folder, capsys)
    assert 2 == code
    assert "00_export.xml" in errors
    (folder / "00_export.xml").unlink()
    code, out, _ = score(folder, capsys)
    assert (0, 1.0) == (code, json.loads(out)["mean_ap"])


@pytest.mark.parametrize("name", ["xml_gbk", "xml_size0"])
def test_annotations_of_other_tools_score_as_they_stand(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An encoding of several bytes and a size of 0 change no score."""
    code, out, _ = score(FILES / name, capsys)
    assert (0, 1.0) == (code, json.loads(out)["mean_ap"])


def test_a_size_of_0_is_no_size() -> None:
    """Nothing is known of it."""
    assert {} == read_ground_truth(FILES / "xml_size0").sizes
