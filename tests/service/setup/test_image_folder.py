# SPDX-License-Identifier: Apache-2.0
"""A folder of images is listed with its subfolders, within bounds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from referee.errors import InputError
from referee.service.setup import image_folder
from referee.service.setup.image_folder import FolderFiles, list_folder


def put(folder: Path, *names: str) -> None:
    """Write empty files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_files_are_told_apart_by_their_suffix(tmp_path: Path) -> None:
    """Capitals do not matter, and other files are listed beside."""
    put(tmp_path, "b.JPG", "a.jpeg", "Test/c.Png", "notes.txt", "Test/d.gif", "README")
    expected = FolderFiles(("Test/c.Png", "a.jpeg", "b.JPG"), ("README", "Test/d.gif", "notes.txt"))
    assert expected == list_folder(tmp_path)


def test_what_is_hidden_is_not_there(tmp_path: Path) -> None:
    """A Mac's zip has a second file beside each image, and programs keep folders of their own."""
    put(tmp_path, "1.jpg", "._1.jpg", "__MACOSX/._1.jpg", ".DS_Store", ".cache/1.jpg")
    assert FolderFiles(("1.jpg",), ()) == list_folder(tmp_path)


def test_links_are_followed_once(tmp_path: Path) -> None:
    """A folder that links to itself has an end; a folder elsewhere is read."""
    put(tmp_path / "elsewhere", "x.jpg")
    put(tmp_path / "images", "1.jpg")
    (tmp_path / "images" / "val").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "images" / "round").symlink_to(tmp_path / "images")
    (tmp_path / "images" / "gone.jpg").symlink_to(tmp_path / "nowhere.jpg")
    assert ("1.jpg", "gone.jpg", "val/x.jpg") == list_folder(tmp_path / "images").images


def test_what_is_no_file_is_no_image(tmp_path: Path) -> None:
    """Nobody waits for a pipe with the name of an image."""
    put(tmp_path, "1.jpg")
    os.mkfifo(tmp_path / "2.jpg")
    assert FolderFiles(("1.jpg",), ()) == list_folder(tmp_path)


def test_a_folder_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many files, or folders too deep, are told as soon as they are met."""
    put(tmp_path, "1.jpg", "a/b/c/d/2.jpg")
    monkeypatch.setattr(image_folder, "MOST_FOLDERS", 3)
    with pytest.raises(InputError, match="more than 3 deep"):
        list_folder(tmp_path)
    monkeypatch.setattr(image_folder, "_MOST_FILES", 0)
    with pytest.raises(InputError, match="more than 0 files"):
        list_folder(tmp_path)
