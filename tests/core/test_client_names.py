# SPDX-License-Identifier: Apache-2.0
"""A program's own name is one short line of ASCII, whatever it sends."""

from __future__ import annotations

import pytest

from referee.core.client_names import MOST, client_name


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("python-requests/2.32", "python-requests/2.32"),
        (" a \t b ", "a b"),
        ("", ""),
        ("  ", ""),
        ("d\u00e9j\u00e0 \u202egpj\x1b[31m", "d?j? ?gpj?[31m"),
        ("<b>&", "<b>&"),
        ("x" * MOST, "x" * MOST),
        ("x" * (MOST + 1), "x" * (MOST - 3) + "..."),
    ],
)
def test_a_header_becomes_one_line(header, name):
    """Blanks are joined, what is not ASCII is a question mark, and the rest is cut off."""
    assert name == client_name(header)
