# SPDX-License-Identifier: Apache-2.0
"""A file that a command writes replaces nobody's file of another form."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from power.commands.written_file import (
    FileOfForm,
    class_table_to_write,
    file_to_write,
    page_to_write,
    picture_to_write,
    plot_to_write,
    workbook_to_write,
)

PAGE, PNG = b"\n<!DOCTYPE html>\n<html>", b"\x89PNG\r\n\x1a\n"
SVG, WORKBOOK = b"<?xml version='1.0'?><svg>", b"PK\x03\x04" + b"\0" * 26 + b"[Content_Types].xml"
BUNDLE, TABLE = b"PK\x03\x04" + b"\0" * 26 + b"manifest.json", b"class_id,name\n1,cat\n"
CONFIGURATION, TRUTH, TEAMS = b"[contest]\n", b'{"images": []}', b"team,lane\nants,\n"
KINDS = {
    page_to_write: (PAGE,),
    picture_to_write: (PNG, SVG, b"%PDF-1.7"),
    plot_to_write: (PAGE, PNG, SVG),
    workbook_to_write: (WORKBOOK,),
    class_table_to_write: (TABLE,),
}
ALL = (PAGE, PNG, SVG, WORKBOOK, BUNDLE, TABLE, CONFIGURATION, TRUTH, TEAMS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.form)
def test_a_file_replaces_one_of_its_form_alone(tmp_path: Path, kind: FileOfForm) -> None:
    """A configuration, a truth, a bundle or a list of teams stays, whatever it is called."""
    path = tmp_path / "out.html"
    assert path == kind(str(path))
    for content in (b"", *KINDS[kind]):
        path.write_bytes(content)
        assert path == kind(str(path))
    for content in set(ALL) - set(KINDS[kind]):
        path.write_bytes(content)
        with pytest.raises(argparse.ArgumentTypeError, match=f"is no {kind.form}: it stays"):
            kind(str(path))
        assert content == path.read_bytes()


def test_a_folder_is_left_to_the_writer_and_a_device_is_refused(tmp_path: Path) -> None:
    """No pipe is read, so none can hold the command."""
    assert tmp_path == page_to_write(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    for kind in (page_to_write, file_to_write):
        with pytest.raises(argparse.ArgumentTypeError, match="a device or a pipe"):
            kind(str(tmp_path / "pipe"))
