# SPDX-License-Identifier: Apache-2.0
"""A model is measured on images that are each one file, found by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import InputError
from referee.extras.ovic.judging.dataset import Dataset, images_of_truth, labelled_images
from tests.support.contests import write_images, write_truth


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with images of one name in two folders."""
    for home in ("Test", "Train"):
        (tmp_path / "images" / home).mkdir(parents=True)
        write_images(tmp_path / "images" / home, ["a.jpg", "b.jpg"])
    return tmp_path / "images"


def test_labels_name_images_in_folders(tmp_path: Path, folder: Path) -> None:
    """Each line has the file of its folder, in the order of the lines."""
    labels = tmp_path / "labels.csv"
    labels.write_text("file,label\nTrain\\a.jpg,7\nTest/a.JPG,3\n")
    found = [(image.path, image.label) for image in labelled_images(Dataset(folder, labels))]
    assert [(folder / "Train/a.jpg", 7), (folder / "Test/a.jpg", 3)] == found


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("Test/a.jpg,1\nTest/a,2\n", r"'Test/a\.jpg' \(line 1\) and 'Test/a' \(line 2\)"),
        ("a.jpg,1\n", r"'a\.jpg' \(line 1\) could be each"),
        ("c.jpg,1\n", "1 of 1 image is not there: c.jpg"),
    ],
)
def test_a_line_that_means_no_file_of_its_own_is_refused(
    tmp_path: Path, folder: Path, lines: str, message: str
) -> None:
    """No image is measured under the label of another."""
    (tmp_path / "labels.csv").write_text(lines)
    with pytest.raises(InputError, match=message):
        labelled_images(Dataset(folder, tmp_path / "labels.csv"))


def test_the_images_of_a_truth_are_each_one_file(tmp_path: Path, folder: Path) -> None:
    """COCO's entries with one base name are two images, and the folder may hold more."""
    write_truth(tmp_path / "truth.json", [(5, "Train/a.jpg"), (9, "Test/a.jpg")])
    paths = images_of_truth(Dataset(folder, tmp_path / "truth.json"))[1]
    assert {5: folder / "Train/a.jpg", 9: folder / "Test/a.jpg"} == paths
