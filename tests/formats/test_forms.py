# SPDX-License-Identifier: Apache-2.0
"""Form bodies: the fast parser and the library's parser give the same."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import Refusal
from referee.formats.answers import FORM_FIELDS, MAX_ROWS, parse_form
from referee.formats.forms import LONGEST_VALUE, find_token, parse_urlencoded


def by_library(body: bytes) -> dict[str, list[str]]:
    """Group the result of the standard library's parser."""
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        fields.setdefault(name, []).append(value)
    return fields


@pytest.mark.slow
@given(st.lists(st.tuples(st.text(min_size=1), st.text())))
def test_what_a_client_encodes_is_read_back(pairs: list[tuple[str, str]]) -> None:
    """Fields that a client encodes come back in order."""
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
    """Bytes that are no text are read like the library reads them."""
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
    """Blank values stay, empty parts are skipped, and only the first = separates."""
    assert parse_urlencoded(body) == fields


@given(st.text(alphabet="ab=&%+20Aé", max_size=40))
def test_only_the_fields_asked_for_are_kept(text: str) -> None:
    """Fields of other names are dropped, and change nothing else."""
    whole = by_library(text.encode())
    assert parse_urlencoded(text.encode(), ("a", "b")) == {
        name: values for name, values in whole.items() if name in ("a", "b")
    }


@pytest.mark.parametrize(
    ("body", "token"),
    [
        (b"token=7.ab&image_name=1", "7.ab"),
        (b"image_name=1&token=7.ab", "7.ab"),
        (b"image_name=1&token=7.ab&token=8", "7.ab"),
        (b"token=7%2Eab+", "7.ab "),
        (b"token=", ""),
        (b"token=\xff", "\ufffd"),
        (b"token&token=7", "7"),
        (b"&token=7", "7"),
        (b"mytoken=7", None),
        (b"image_name=token=7", None),
        (b"", None),
    ],
)
def test_token_of_a_form_is_found_without_parsing_it(body: bytes, token: str | None) -> None:
    """The token is the first field of that name anywhere in the form, or None."""
    assert find_token(body, multipart=False) == token


@pytest.mark.parametrize(
    ("body", "token"),
    [
        (b'--b\r\nContent-Disposition: form-data; name="token"\r\n\r\n7.ab\r\n--b--', "7.ab"),
        (
            b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n'
            b"--b\r\nContent-Disposition: form-data; name=token\r\n"
            b"Content-Type: text/plain\r\n\r\n7.ab\r\n--b--",
            "7.ab",
        ),
        (b'--b\r\nContent-Disposition: form-data; name="tokens"\r\n\r\n7.ab\r\n--b--', None),
    ],
)
def test_token_of_a_multipart_form_is_found(body: bytes, token: str | None) -> None:
    """The token of a multipart form is found, with and without quotes and a type."""
    assert find_token(body, multipart=True) == token


ROW = b"image_name=1234&CLASS_ID=17&confidence=0.5123&xmin=12.25&ymin=20.5&xmax=99.75&ymax=180.5&"


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        b"%31" * 700_000,
        b"xmin=" + b"%31" * 700_000,
        b"xmin=%31&" * 120_000,
        b"image_name=%31%32&CLASS_ID=12&" * 40_000,
        ROW * 23_000,
        b"&" * 2_000_000,
        b"=&" * 1_000_000,
    ],
    ids=["a name", "a value", "escapes", "short", "rows", "blank", "unnamed"],
)
def test_a_long_form_takes_a_few_times_its_length(body: bytes) -> None:
    """A form of any content takes at most about five times its size, its own bytes included."""
    tracemalloc.start()
    try:
        fields = parse_urlencoded(body, FORM_FIELDS, MAX_ROWS)
        with suppress(Refusal):
            parse_form(fields)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5 * len(body)


def test_of_a_name_no_more_values_are_kept_than_are_told() -> None:
    """One value more than the limit is kept, so that the excess is seen."""
    assert {"a": ["1", "1", "1"]} == parse_urlencoded(b"a=1&" * 9, ("a",), 2)


def test_a_long_value_is_cut() -> None:
    """A very long value is cut, and is still too long for a number or a token."""
    (value,) = parse_urlencoded(b"xmin=" + b"%31" * 100_000)["xmin"]
    assert len(value) <= LONGEST_VALUE


@pytest.mark.slow
def test_pieces_end_between_fields() -> None:
    """A long body read in pieces gives the same fields as the body read whole."""
    pairs = [(f"name{n % 7}", f"{n} \u00e9&=%" * (n % 50)) for n in range(8000)]
    body = urlencode(pairs).encode()
    assert len(body) > 2**20
    assert by_library(body) == parse_urlencoded(body)
