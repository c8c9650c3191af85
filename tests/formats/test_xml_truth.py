# SPDX-License-Identifier: Apache-2.0
"""Annotations of other tools in a folder of XML: names, sizes, objects and files beside."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import InputError
from referee.formats.xml_truth import read_xml_truth

OBJECT = (
    "<object><name>dog</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>8</ymax>"
    "</bndbox></object>"
)


def write(folder: Path, **files: str) -> Path:
    """Write the content of `<annotation>` of each file; return the folder."""
    for name, content in files.items():
        (folder / f"{name}.xml").write_text(f"<annotation>{content}</annotation>")
    return folder


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("<filename>b.jpg</filename>", "b.jpg"),
        ("<filename>\n b.jpg </filename>", "b.jpg"),
        ("<folder>Test</folder><filename>b.jpg</filename>", "Test/b.jpg"),
        ("<folder> </folder><filename>b.jpg</filename>", "b.jpg"),
        ("<folder>Test</folder><filename/>", "a"),
        ("", "a"),
    ],
)
def test_the_name_of_an_image(tmp_path: Path, content: str, name: str) -> None:
    """It is the one that the file says, behind its folder, or else that of the file."""
    found = read_xml_truth(write(tmp_path, a=content + OBJECT), None)
    assert ({1: name}, {1: "a.xml"}) == (found.file_names, found.places)


@pytest.mark.parametrize(
    ("size", "known"),
    [
        ("<width>0</width><height>0</height>", {}),
        ("<width>0</width><height>9</height>", {}),
        ("<width>-1</width><height>9</height>", {}),
        ("<width/><height>9</height>", {}),
        ("<width>unknown</width><height>9</height>", {}),
        ("<height>9</height>", {}),
        ("<width>12</width><height>9</height>", {1: (12, 9)}),
    ],
)
def test_a_size_of_nothing_is_unknown(
    tmp_path: Path, size: str, known: dict[int, tuple[int, int]]
) -> None:
    """A program that did not know the image's size wrote 0, or left it out."""
    found = read_xml_truth(write(tmp_path, a=f"<size>{size}</size>{OBJECT}"), None)
    assert known == found.sizes


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("", r"object 2 has no bndbox: give the corners of its box, xmin, ymin, xmax, ymax"),
        ("<pose>Left</pose><polygon><pt/></polygon>", r"no bndbox \(it has 'polygon'\)"),
        ("<robndbox><cx>1</cx></robndbox><type>robndbox</type>", r"\(it has 'robndbox, type'\)"),
        ("<bndbox/>", "object 2, bndbox has no xmin"),
        ("<bndbox><xmin>1</xmin></bndbox>", "object 2, bndbox has no ymin"),
        ("<bndbox><xmin> </xmin></bndbox>", "bndbox/xmin: ' ' is not a number"),
    ],
)
def test_an_object_without_a_box_is_told(tmp_path: Path, parts: str, message: str) -> None:
    """The sentence names the file, the object and what is not there."""
    write(tmp_path, a=f"{OBJECT}<object><name>dog</name>{parts}</object>")
    with pytest.raises(InputError, match=rf"a\.xml, .*{message}"):
        read_xml_truth(tmp_path, None)


def test_a_suffix_in_capitals_hides_no_file(tmp_path: Path) -> None:
    """Each file of annotations is an image, whatever system wrote its name."""
    write(tmp_path, a=OBJECT)
    (tmp_path / "a.xml").rename(tmp_path / "B.XML")
    write(tmp_path, a=OBJECT, c="")
    (tmp_path / "._a.xml").write_bytes(b"\0\5\x16\7")
    found = read_xml_truth(tmp_path, None)
    assert ({1: "B", 2: "a", 3: "c"}, 2) == (found.file_names, len(found.truth.box))
    (tmp_path / "c.XML").write_text("<annotation/>")
    with pytest.raises(InputError, match=r"has c\.XML and c\.xml: keep one"):
        read_xml_truth(tmp_path, None)


@pytest.mark.parametrize("name", ["00_export", "zz"])
def test_a_foreign_file_moves_no_number(tmp_path: Path, name: str) -> None:
    """An export of another tool beside the annotations is refused by its name."""
    write(tmp_path, a=OBJECT)
    (tmp_path / f"{name}.xml").write_text("<annotations><image id='0'/></annotations>")
    with pytest.raises(InputError, match=rf"{name}\.xml has the root 'annotations'"):
        read_xml_truth(tmp_path, None)
    (tmp_path / f"{name}.xml").unlink()
    assert [1] == read_xml_truth(tmp_path, None).truth.image_ids.tolist()
