# SPDX-License-Identifier: Apache-2.0
"""Large files are read in pieces of whole lines that know their place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import InputError
from referee.extras.aiotbench.line_chunks import read_chunks


@given(
    st.lists(st.text("abcä,. ", max_size=30), max_size=20),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 60),
)
def test_pieces_join_to_the_file(tmp_path_factory, lines, end, size):
    """The pieces are the file with plain line ends, and each names its first line."""
    path = tmp_path_factory.mktemp("chunks") / "file.csv"
    path.write_bytes(end.join(lines).encode())
    joined = ""
    for first, text in read_chunks(path, size):
        assert 1 + joined.count("\n") == first
        assert text.endswith("\n")
        joined += text
    assert "\n".join(lines) == joined.removesuffix("\n") or "\n".join(lines) == joined


def test_a_piece_is_no_longer_than_it_must_be(tmp_path):
    """A long file is not in memory as a whole: no piece has two times the size asked for."""
    path = tmp_path / "file.csv"
    path.write_bytes(b"a line of 24 characters\n" * 1000)
    lengths = [len(text) for _, text in read_chunks(path, 240)]
    assert (24000, True) == (sum(lengths), max(lengths) < 480)


@pytest.mark.parametrize("size", [1, 5, 100])
def test_the_line_that_is_no_text_is_named(size, tmp_path):
    """Wherever a piece ends, the error has the line's number in the file."""
    path = tmp_path / "file.csv"
    path.write_bytes(b"one\ntwo\nthr\xffee\n")
    with pytest.raises(InputError, match="line 3 is not text"):
        list(read_chunks(path, size))
