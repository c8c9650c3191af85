# SPDX-License-Identifier: Apache-2.0
"""A device on HTTP: what it answers, how long it may take, and the numbers in it."""

from __future__ import annotations

from typing import Any

import pytest

from power.errors import MeterError, MeterReplyError
from power.resource import Resource
from power.sampled.http_json import HttpDevice, number, optional_number, text
from power.sampled.source import Tools
from power.testing.http_device import serving


def device(at: str, timeout_s: float = 60.0) -> HttpDevice:
    """Return the device at HOST:PORT."""
    return HttpDevice(Resource("plug", at), Tools(timeout_s=timeout_s), "small plug")


@pytest.mark.parametrize("body", ["[" * 60_000, "9" * 5000, "", "nonsense", '{"a": 1'])
def test_what_is_no_json_is_an_error(body: str) -> None:
    """Nesting without end, an endless number, and half an object are errors of a meter."""
    with serving(lambda path: (200, body)) as at, pytest.raises(MeterReplyError, match="no JSON"):
        device(at).get("/power")


def test_an_answer_has_a_most_length() -> None:
    """What is longer than any answer of a meter is not read to its end."""
    body = '{"a": "' + "x" * 1_000_000 + '"}'
    with serving(lambda path: (200, body)) as at, pytest.raises(MeterReplyError, match="no JSON"):
        device(at).get("/power")


def test_each_path_is_asked_and_timed() -> None:
    """The object of a path comes with the moment in the middle of question and answer."""
    times = iter([10.0, 10.5])
    with serving(lambda path: (200, f'{{"path": "{path}"}}')) as at:
        asked = HttpDevice(Resource("plug", at), Tools(clock=lambda: next(times)), "small plug")
        assert asked.timed("/power?id=0") == ({"path": "/power?id=0"}, 10.25)


@pytest.mark.parametrize(
    "value", [None, True, "5", [5], {}, float("nan"), float("inf"), -float("inf"), 10**400]
)
def test_what_is_no_number_is_told_with_its_name(value: Any) -> None:
    """Only a finite number is one; the error names the field, and is short for a long one."""
    with pytest.raises(MeterReplyError, match="watts = .{1,80}, which is no number"):
        number({"watts": value}, "watts")


def test_a_value_may_be_left_out() -> None:
    """A field that is missing or null is None where it may be, and an error where it may not."""
    assert optional_number({}, "wh") is None
    assert optional_number({"wh": None}, "wh") is None
    assert optional_number({"wh": 3}, "wh") == 3.0
    assert optional_number(None, "wh") is None
    with pytest.raises(MeterError, match="wh"):
        number({}, "wh")
    assert (text({"mac": 12}, "mac"), text({}, "mac")) == ("12", "unknown")
