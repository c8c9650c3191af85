# SPDX-License-Identifier: Apache-2.0
"""An image is found under the name that another program or another system gave it."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from referee.service.setup.image_names import ImageNames

FILES = (
    "a.jpg",
    "B C.PNG",
    "img#1.jpg",
    "100%.jpg",
    "tie\\break.jpg",
    "deep/er/e.jpeg",
    "Test/img0.jpg",
    "Train/img0.jpg",
    normalize("NFD", "Zürich/größe.jpg"),
    "한글.jpg",
    "v1.2.jpg",
    "x.jpg.jpg",
)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("a.jpg", "a.jpg"),
        ("./a.jpg", "a.jpg"),
        ("../images/./a.jpg", "a.jpg"),
        ("/home/me/data/a.jpg", "a.jpg"),
        ("val2017//a.jpg", "a.jpg"),
        ("  a.jpg\n", "a.jpg"),
        # Windows
        ("images\\a.jpg", "a.jpg"),
        ("C:\\data\\a.jpg", "a.jpg"),
        ("C:a.jpg", "a.jpg"),
        ("\\\\server\\share\\Test\\img0.jpg", "Test/img0.jpg"),
        ("images\\Train/img0.jpg", "Train/img0.jpg"),
        ("tie\\break.jpg", "tie\\break.jpg"),
        ("A.JPG", "a.jpg"),
        ("b c.png", "B C.PNG"),
        # Addresses
        ("B%20C.PNG", "B C.PNG"),
        ("img%231.jpg", "img#1.jpg"),
        ("img#1.jpg", "img#1.jpg"),
        ("100%.jpg", "100%.jpg"),
        ("https://example.org/data/a.jpg?size=large#top", "a.jpg"),
        ("s3://bucket/Train/img0.jpg", "Train/img0.jpg"),
        ("file:///C:/data/Test/img0.jpg", "Test/img0.jpg"),
        ("/data/local-files/?d=Test%2Fimg0.jpg", "Test/img0.jpg"),
        ("%ED%95%9C%EA%B8%80.jpg", "한글.jpg"),
        # Without the suffix, and with a dot in the stem
        ("a", "a.jpg"),
        ("Test/img0", "Test/img0.jpg"),
        ("v1.2", "v1.2.jpg"),
        ("x.jpg", "x.jpg.jpg"),
        ("e.JPEG", "deep/er/e.jpeg"),
        ("er/e.jpeg", "deep/er/e.jpeg"),
        # A Mac's disk
        (normalize("NFC", "größe.jpg"), FILES[8]),
        (normalize("NFC", "Zürich\\größe.jpg"), FILES[8]),
        (normalize("NFD", "한글.jpg"), "한글.jpg"),
    ],
)
def test_a_name_of_another_program_means_its_file(name: str, file: str) -> None:
    """Folders, separators, escapes, capitals and missing suffixes hide no image."""
    assert [file] == list(ImageNames(FILES).files_of(name))


@pytest.mark.parametrize(
    "name", ["b.jpg", "img.jpg", "img#2.jpg", "a.png", "a.jpg.txt", "", "/", "..", "jpg", "\\"]
)
def test_a_name_that_no_file_has_means_none(name: str) -> None:
    """What only looks like a name of a file is not taken for it."""
    assert [] == list(ImageNames(FILES).files_of(name))


@pytest.mark.parametrize(
    ("name", "files", "found"),
    [
        ("img0.jpg", ["Test/img0.jpg", "Train/img0.jpg"], ["Test/img0.jpg", "Train/img0.jpg"]),
        ("img0.jpg", ["img0.jpg", "thumbs/img0.jpg"], ["img0.jpg"]),
        ("val/img0.jpg", ["img0.jpg", "thumbs/img0.jpg"], ["img0.jpg"]),
        ("Test/a.JPG", ["Test/a.jpg", "Train/a.JPG"], ["Test/a.jpg"]),
        ("a.jpg", ["A.jpg", "a.jpg"], ["a.jpg"]),
        ("a.JPG", ["A.jpg", "a.jpg"], ["A.jpg", "a.jpg"]),
        ("a", ["a.jpg", "a.png"], ["a.jpg", "a.png"]),
        ("ä.jpg", [normalize("NFC", "ä.jpg"), normalize("NFD", "ä.jpg")], ["ä.jpg"]),
    ],
)
def test_the_nearest_files_are_found(name: str, files: list[str], found: list[str]) -> None:
    """The longest end counts, then the exact spelling; what is equally near is all told."""
    assert found == list(ImageNames(files).files_of(name))


def test_a_million_parts_are_no_burden() -> None:
    """A name as long as a hostile file makes it is looked up like any other."""
    assert ["a.jpg"] == list(ImageNames(["a.jpg"]).files_of("x/" * 1_000_000 + "a.jpg"))
