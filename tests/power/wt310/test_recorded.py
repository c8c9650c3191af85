# SPDX-License-Identifier: Apache-2.0
"""A recorded conversation that somebody has edited."""

from __future__ import annotations

import json

import pytest

from power.wt310 import output
from power.wt310.recorded import read_conversation

ASKED = json.dumps({"event": "sent", "text": output.READ_QUERY}).encode()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        b"\xff",
        b'{"event": "sent"}',
        b'{"event": "sent", "text": 5}',
        b'{"event": "sent", "hex": "xy"}',
        b'{"event": "sent", "text": ":INTEGrate:STARt"}',
        b'{"event": "sent", "text": ":INTEGrate:STARt", "utc": 5}',
        b'{"event": "received", "text": "1"}',
        b'{"event": "received", "text": "1", "monotonic_s": "soon"}',
        b'{"event": "received", "text": "1", "monotonic_s": []}',
    ],
)
def test_a_line_of_another_shape_is_named(line: bytes) -> None:
    """A line that no wire log has is an error with its number, whatever is wrong with it."""
    with pytest.raises(ValueError, match="line 2 is no line of a meter's log"):
        read_conversation([ASKED, line], "1")
