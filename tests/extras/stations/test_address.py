# SPDX-License-Identifier: Apache-2.0
"""The address of a station is a plain address of HTTP, or it is refused with what to give."""

from __future__ import annotations

import pytest

from referee.errors import InputError
from referee.extras.stations.address import parse_address, parse_addresses


@pytest.mark.parametrize(
    ("text", "name", "url"),
    [
        ("http://10.0.0.2:8002", "10.0.0.2:8002", "http://10.0.0.2:8002"),
        ("Hall A=http://10.0.0.2:8002/", "Hall A", "http://10.0.0.2:8002"),
        ("https://lpirc.example/tokyo/feed", "lpirc.example", "https://lpirc.example/tokyo"),
        (" B = http://[::1]:8002 ", "B", "http://[::1]:8002"),
    ],
)
def test_an_address_may_have_a_name_and_end_as_the_feed(text, name, url):
    """Without a name the station is called by its host and port."""
    found = parse_address(text)
    assert (name, url) == (found.name, found.url)


@pytest.mark.parametrize(
    "text",
    [
        *("", "10.0.0.2:8002", "ftp://x", "http://", "http://x:99999", "http://[x", "file:///etc"),
        *("http://me:secret@x", "http://x/?since_token=1", "http://x/#a", "A\x1b[2J=http://x"),
        "n" * 61 + "=http://x",
    ],
)
def test_anything_else_is_refused(text):
    """No password, no query, no other scheme, no name that could harm a terminal."""
    with pytest.raises(InputError):
        parse_address(text)


@pytest.mark.parametrize(
    "texts",
    [
        ["A=http://x", "A=http://y"],
        ["A=http://x", "B=http://x/"],
        [f"http://h:{n}" for n in range(1, 66)],
    ],
)
def test_stations_differ_and_are_not_too_many(texts):
    """Two of one name or one address, and more than 64, are refused."""
    with pytest.raises(InputError):
        parse_addresses(texts)
