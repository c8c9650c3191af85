# SPDX-License-Identifier: Apache-2.0
"""Multipart forms: what was sent is read back, and what is broken is no form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.formats.faults import FormatError
from referee.formats.forms import LONGEST_VALUE, parse_multipart

NAMES = ("xmin", "ymin")


def encoded(fields: list[tuple[str, str]], boundary: str = "x") -> bytes:
    """Return a form as clients write it."""
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields
    ]
    return ("".join(parts) + f"--{boundary}--\r\n").encode()


@given(
    st.lists(
        st.tuples(st.sampled_from(("xmin", "ymin", "other")), st.text("12é .-\r\n", max_size=9))
    )
)
def test_fields_are_read_back_in_order(fields: list[tuple[str, str]]) -> None:
    """The fields of these names come back as they were sent; other fields are dropped."""
    expected: dict[str, list[str]] = {}
    for name, value in fields:
        if name in NAMES:
            expected.setdefault(name, []).append(value)
    assert expected == parse_multipart(encoded(fields), "x", NAMES, 100)


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        (b"", "x"),
        (b"xmin=1", "x"),
        (encoded([("xmin", "1")])[:-6], "x"),
        (encoded([("xmin", "1")])[:30], "x"),
        (encoded([("xmin", "1")]), "y"),
        (encoded([("xmin", "1")]), ""),
        (encoded([("xmin", "1")]).replace(b"Content-Disposition", b"X"), "x"),
    ],
)
def test_a_broken_form_is_none(body: bytes, boundary: str) -> None:
    """A form that is cut off, or has another boundary, is an error, and no shorter form."""
    with pytest.raises(FormatError, match="the multipart form is malformed or breaks off"):
        parse_multipart(body, boundary, NAMES, 100)


def test_files_are_no_fields() -> None:
    """A part with a file's name is skipped."""
    body = encoded([("xmin", "1")]).replace(b'name="xmin"', b'name="xmin"; filename="a"')
    assert {} == parse_multipart(body, "x", NAMES, 100)


def test_values_are_bounded_in_length_and_number() -> None:
    """A value is cut at its bound, and one more value than may be is kept for the caller to see."""
    found = parse_multipart(encoded([("xmin", "1" * 20_000)] * 5), "x", NAMES, 2)
    assert [LONGEST_VALUE] * 3 == [len(value) for value in found["xmin"]]
