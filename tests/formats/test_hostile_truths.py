# SPDX-License-Identifier: Apache-2.0
"""A ground truth of a stranger chooses neither memory nor a file: it is read, or one sentence."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest

from referee.core import bounds
from referee.errors import InputError
from referee.formats.ground_truth import read_ground_truth
from referee.formats.lines import LONGEST_LINE
from referee.formats.text import read_bytes

BOX = b"1,1,2,2,9,9\n"
OBJECT = (
    "<object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>5</xmax><ymax>5</ymax>"
    "</bndbox></object>"
)


@pytest.mark.slow
def test_a_bomb_of_gzip_takes_no_memory(tmp_path):
    """A megabyte that would become a gigabyte is refused when it has become 200 times as long."""
    path = tmp_path / "truth.csv.gz"
    path.write_bytes(gzip.compress(BOX) + gzip.compress(b"\n" * 2**27) * 8)
    most = bounds.most_unpacked(path.stat().st_size)
    assert most < 300 * 2**20 < 8 * 2**27
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=f"unpack to more than {most}: unpack it"):
            read_ground_truth(path)
        assert tracemalloc.get_traced_memory()[1] < 3 * most
    finally:
        tracemalloc.stop()


def test_a_packed_file_that_is_no_bomb_is_read(tmp_path):
    """Equal lines pack to a hundredth, and several members of gzip are one file."""
    path = tmp_path / "truth.csv.gz"
    path.write_bytes(gzip.compress(BOX * 50_000) + gzip.compress(BOX))
    assert BOX * 50_001 == read_bytes(path)
    assert 50_001 == len(read_ground_truth(path).truth.box)


@pytest.mark.parametrize("what", ["truth", "images", "blacklist", "an XML folder's list"])
@pytest.mark.parametrize("filling", [b",", b"7", b" 1"])
def test_a_line_without_end_is_refused_before_it_is_split(tmp_path, what, filling):
    """A line of cells or of digits that is far longer than any is named, in each kind of list."""
    boxes, odd = tmp_path / "truth.csv", tmp_path / "odd.csv"
    boxes.write_bytes(BOX)
    odd.write_bytes(b"\n" + filling * (LONGEST_LINE + 1) + b"\n")
    (tmp_path / "xml").mkdir()
    (tmp_path / "xml" / "1.xml").write_text(f"<annotation>{OBJECT}</annotation>")
    arguments = {
        "truth": {"path": odd},
        "images": {"path": boxes, "images": odd},
        "blacklist": {"path": boxes, "blacklist": odd},
        "an XML folder's list": {"path": tmp_path / "xml", "images": odd},
    }
    with pytest.raises(InputError, match=r"odd\.csv: line 2 has more than 10000 bytes"):
        read_ground_truth(**arguments[what])


@pytest.mark.parametrize(
    "doctype",
    [
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        f'<!ENTITY a "{"x" * 200_000}">',
        '<!ENTITY z "zzzzzzzzzzzzzzzzzzzz"><!ENTITY a "' + "&z;" * 20_000 + '">',
    ],
)
def test_entities_of_xml_open_no_file_and_fill_no_memory(tmp_path, doctype):
    """An entity that names a file, or that grows a thousandfold, is a fault of its file."""
    text = f"<!DOCTYPE a [{doctype}]><annotation><filename>{'&a;' * 2000}</filename>{OBJECT}"
    (tmp_path / "1.xml").write_text(f"{text}</annotation>")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"1\.xml, line 1, column \d+: not XML"):
            read_ground_truth(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 50 * 2**20
    finally:
        tracemalloc.stop()
