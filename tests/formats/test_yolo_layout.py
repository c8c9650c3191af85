# SPDX-License-Identifier: Apache-2.0
"""Which label file of a YOLO data set belongs to which image."""

from __future__ import annotations

import unicodedata

import pytest

from referee.errors import InputError
from referee.formats.yolo_layout import (
    files_under,
    holds_labels,
    images_beside,
    key_of,
    label_texts,
    matched,
    paired,
    pictures_under,
)
from tests.support.yolo_data import write_image, write_text


def pair(labels, pictures):
    """Return the label file of each image."""
    return dict(paired(labels, pictures, "labels", "images").label_of)


@pytest.mark.parametrize(
    ("label", "picture"),
    [
        ("a.txt", "a.jpg"),
        ("train/a.txt", "train/a.jpg"),
        ("labels/train/a.txt", "images/train/a.jpg"),
        ("train/labels/a.txt", "train/images/a.jpg"),
        ("obj_train_data/a.txt", "obj_train_data/a.png"),
        ("dog_jpg.rf.1a2b.txt", "dog_jpg.rf.1a2b.jpg"),
        ("train/a.txt", "a.jpg"),
        ("a.txt", "some/where/a.jpg"),
        (unicodedata.normalize("NFD", "é.txt"), unicodedata.normalize("NFC", "é.jpg")),
        ("test.txt", "test.jpg"),
    ],
)
def test_layouts_of_the_tools(label, picture):
    """A label file is found by its path, or by its name where folders differ."""
    assert {picture: label} == pair([label], [picture])


def test_equal_names_in_several_folders_are_kept_apart():
    """Files of one name are matched by their folders."""
    labels = ["labels/train/a.txt", "labels/val/a.txt"]
    pictures = ["images/val/a.jpg", "images/train/a.jpg"]
    assert {pictures[0]: labels[1], pictures[1]: labels[0]} == pair(labels, pictures)


@pytest.mark.parametrize(
    ("labels", "pictures", "said"),
    [
        (["a.txt"], ["a.jpg", "a.jpeg"], "images: a.jpg and a.jpeg have one name: keep one image"),
        (["a.txt", "a.TXT"], ["a.jpg"], "labels: a.txt and a.TXT have one name"),
        (["a.txt", "b.txt"], ["a.jpg"], "1 of 2 label files belong to no image of images: b.txt"),
        (["a.txt"], ["b.jpg"], "give the folder of the images of these labels"),
        (["x/a.txt", "y/a.txt"], ["a.jpg"], "2 of 2 label files belong to no image"),
        (["a.jpg.txt"], ["a.jpg"], "belong to no image"),
    ],
)
def test_a_label_file_belongs_to_exactly_one_image(labels, pictures, said):
    """Twins, and label files without an image, are refused by name."""
    with pytest.raises(InputError) as error:
        pair(labels, pictures)
    assert said in str(error.value)


def test_lists_of_images_are_no_labels():
    """The lists and read-mes that tools put beside labels are counted, and not taken."""
    texts = ["a.txt", "train.txt", "valid.txt", "README.roboflow.txt"]
    pairing = paired(texts, ["a.jpg", "b.jpg"], "labels", "images")
    assert ({"a.jpg": "a.txt"}, 3) == (pairing.label_of, pairing.others)


def test_detections_of_other_images_are_left_over():
    """Files that belong to no image do not keep the others from being matched."""
    assert {"a.jpg": "a.txt"} == matched(["a.txt", "b.txt"], ["a.jpg", "c.jpg"], "", "")


def test_hidden_files_do_not_count(tmp_path):
    """What a Mac puts into an archive is no label."""
    for name in ("a.txt", "._a.txt", "__MACOSX/._a.txt", "classes.txt", ".git/b.txt"):
        write_text(tmp_path / name, "")
    assert ["a.txt"] == label_texts(tmp_path)
    assert ["a.txt", "classes.txt"] == files_under(tmp_path, (".txt",))


def test_images_in_folders_count_where_labels_lie_in_folders(tmp_path):
    """Thumbnails in a folder below flat images are no images of flat labels."""
    for name in ("a.jpg", "thumbs/a.jpg"):
        write_text(tmp_path / name, "")
    assert ["a.jpg"] == pictures_under(tmp_path, ["a.txt"])
    assert ["a.jpg", "thumbs/a.jpg"] == pictures_under(tmp_path, ["a.txt", "thumbs/a.txt"])


@pytest.mark.parametrize(
    ("labels", "images"),
    [
        ("labels", "images"),
        ("labels/train", "images/train"),
        ("train/labels", "train/images"),
        ("obj_train_data", "obj_train_data"),
        ("Labels", "Images"),
    ],
)
def test_images_are_found_beside_their_labels(tmp_path, labels, images):
    """The images lie where the tool that wrote the labels keeps them."""
    write_text(tmp_path / labels / "a.txt", "")
    picture = write_image(tmp_path / images / "a.png")
    assert picture.parent == images_beside(tmp_path / labels)


def test_images_elsewhere_are_not_guessed(tmp_path):
    """Labels alone have no images."""
    write_text(tmp_path / "annotations/a.txt", "")
    assert None is images_beside(tmp_path / "annotations")


def test_a_folder_with_two_kinds_of_annotations_is_refused(tmp_path):
    """XML and a label file of one image: nobody can say which is the truth."""
    write_text(tmp_path / "a.xml", "<annotation/>")
    write_text(tmp_path / "classes.txt", "cat")
    assert not holds_labels(tmp_path)
    write_text(tmp_path / "a.txt", "")
    with pytest.raises(InputError, match=r"has a.xml and a.txt: give a folder"):
        holds_labels(tmp_path)


def test_a_key_is_a_path_without_the_tools_folders():
    """Only folders named labels and images are left out."""
    assert "train/labels" == key_of("labels/train/labels.txt")
