# SPDX-License-Identifier: Apache-2.0
"""Form bodies: the fast parser gives what the library's gives."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.forms import parse_urlencoded


def by_library(body: bytes) -> dict[str, list[str]]:
    """Group what the standard library's parser gives."""
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        fields.setdefault(name, []).append(value)
    return fields


@given(st.lists(st.tuples(st.text(min_size=1), st.text())))
def test_what_a_client_encodes_is_read_back(pairs: list[tuple[str, str]]) -> None:
    """Any fields that a client encodes come back, in order."""
    expected: dict[str, list[str]] = {}
    for name, value in pairs:
        expected.setdefault(name, []).append(value)
    assert parse_urlencoded(urlencode(pairs).encode()) == expected


@given(st.text(alphabet="ab=&%+20Aé", max_size=40))
def test_any_body_is_read_as_the_library_reads_it(text: str) -> None:
    """Odd separators, escapes and blanks give what the library gives."""
    assert parse_urlencoded(text.encode()) == by_library(text.encode())


@given(st.binary(max_size=40))
def test_any_bytes_are_read_as_the_library_reads_them(body: bytes) -> None:
    """Bytes that are no text at all do no harm."""
    assert parse_urlencoded(body) == by_library(body)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (b"", {}),
        (b"a", {"a": [""]}),
        (b"a=1&a=2&b=", {"a": ["1", "2"], "b": [""]}),
        (b"a=1+2%2B&%61=%zz", {"a": ["1 2+", "%zz"]}),
        (b"&&a=1&", {"a": ["1"]}),
        (b"a=b=c", {"a": ["b=c"]}),
    ],
)
def test_edges(body: bytes, fields: dict[str, list[str]]) -> None:
    """Blank values are kept, empty parts skipped, only the first = separates."""
    assert parse_urlencoded(body) == fields
