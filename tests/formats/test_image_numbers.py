# SPDX-License-Identifier: Apache-2.0
"""Image numbers as contestants write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import Refusal
from referee.formats.image_numbers import (
    ARCHIVE_SIZE,
    UNKNOWN_IMAGE,
    parse_posted_image,
    requested_archive,
    requested_image,
)

COUNT = 250


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", 1), ("250", COUNT), ("007", 7), ("0" * 100 + "9", 9), ("0250", COUNT)],
)
def test_good_requests(text, expected):
    """Digits name an image, with or without leading zeros."""
    assert expected == requested_image(text, COUNT)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0", "image_index_out_of_range"),
        ("000", "image_index_out_of_range"),
        ("251", "image_index_out_of_range"),
        (str(10**30), "image_index_out_of_range"),
        ("9" * 100_000, "image_index_out_of_range"),
        ("-1", "image_index_invalid"),
        ("+1", "image_index_invalid"),
        ("1.5", "image_index_invalid"),
        ("1.0", "image_index_invalid"),
        ("1e1", "image_index_invalid"),
        ("abc", "image_index_invalid"),
        ("1.jpg", "image_index_invalid"),
        ("", "image_index_invalid"),
        (" 1", "image_index_invalid"),
        ("1\n", "image_index_invalid"),
        ("1_0", "image_index_invalid"),
        ("0x1", "image_index_invalid"),
        ("١", "image_index_invalid"),
        ("²", "image_index_invalid"),
        ("７", "image_index_invalid"),
    ],
)
def test_bad_requests(text, code):
    """Anything but the digits 0-9, and a number without an image, is refused by name."""
    with pytest.raises(Refusal) as refused:
        requested_image(text, COUNT)
    assert code == refused.value.code
    assert "1 to 250" in str(refused.value)
    assert len(str(refused.value)) < 200


def test_contest_without_images_refuses_every_number():
    """A contest without images refuses every number."""
    with pytest.raises(Refusal):
        requested_image("1", 0)


@given(st.text())
def test_a_request_gives_a_number_in_range_or_a_refusal(text):
    """Any text gives a number in range or a refusal."""
    try:
        number = requested_image(text, COUNT)
    except Refusal:
        return
    assert 1 <= number <= COUNT
    assert number == int(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", range(1, 101)),
        ("101", range(101, 201)),
        ("201", range(201, 251)),
        ("0101", range(101, 201)),
    ],
)
def test_archives(text, expected):
    """An archive holds a hundred images, and the last one the rest."""
    assert expected == requested_archive(text, COUNT)


def test_last_archive_may_be_full():
    """A count that is a multiple of the archive's size leaves no empty archive."""
    assert range(101, 201) == requested_archive("101", 200)
    with pytest.raises(Refusal) as refused:
        requested_archive("201", 200)
    assert "image_index_out_of_range" == refused.value.code


@pytest.mark.parametrize("text", ["2", "100", "102", "200", "250"])
def test_no_archive_begins_between(text):
    """Only 1, 101, 201 … begin an archive."""
    with pytest.raises(Refusal) as refused:
        requested_archive(text, COUNT)
    assert "archive_index_invalid" == refused.value.code


@given(st.integers(1, 1000))
def test_archives_hold_every_image_once(count):
    """All archives together hold each image once, in order."""
    archives = [requested_archive(str(n), count) for n in range(1, count + 1, ARCHIVE_SIZE)]
    assert list(range(1, count + 1)) == [number for archive in archives for number in archive]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", 7),
        ("007", 7),
        ("0", 0),
        ("-1", -1),
        ("+7", 7),
        ("7.0", 7),
        ("7.", 7),
        ("7.000", 7),
        ("7.jpg", 7),
        ("7.JPG", 7),
        ("7.jpeg", 7),
        ("7.JPEG", 7),
        ("7.0.jpg", 7),
        (" 7 ", 7),
        ("20201", 20201),
        (str(10**17), 10**17),
        (str(10**30), UNKNOWN_IMAGE),
        (str(-(10**30)), UNKNOWN_IMAGE),
        ("9" * 100_000, UNKNOWN_IMAGE),
        ("9" * 18, 10**18 - 1),
        ("-" + "9" * 18, 1 - 10**18),
        ("9" * 19, UNKNOWN_IMAGE),
        ("0" * 10_000 + "7", 7),
        ("-0", 0),
    ],
)
def test_posted_names(text, expected):
    """A posted name is read as old clients write it, and kept if it names no image."""
    assert expected == parse_posted_image(text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "abc", "1.5", "1e1", "1_0", "0x1", "nan", "inf", "7.png", "7.jpg.jpg", "img7.jpg"]
    + ["١", "²", "７", "7 7", "--7", ".jpg", "-", "7.0.0"],
)
def test_posted_names_without_a_number(text):
    """A posted name without an integer is a fault of the post."""
    with pytest.raises(ValueError, match="is not an image number"):
        parse_posted_image(text)
