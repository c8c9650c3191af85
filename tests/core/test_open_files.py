# SPDX-License-Identifier: Apache-2.0
"""The limit of open files, against the connections that it must hold."""

from __future__ import annotations

import pytest

from referee.core.open_files import (
    connections_within,
    descriptor_shortage,
    is_too_few,
)


@pytest.mark.parametrize(
    ("files", "connections"),
    [(None, 1000), (65536, 1000), (1200, 1000), (1199, 999), (1024, 824), (256, 56), (10, 1)],
)
def test_a_server_takes_the_connections_that_fit(files, connections) -> None:
    """What a worker opens beside its connections is set aside, so an image can be opened always."""
    assert connections == connections_within(files)


@pytest.mark.parametrize(
    ("files", "short", "too_few"),
    [
        (None, False, False),
        (1200, False, False),
        (1024, True, False),
        (328, True, False),
        (327, True, True),
    ],
)
def test_a_shortage_is_told_with_its_figures(files, short, too_few) -> None:
    """Too few is a limit that has no room for one address."""
    told = descriptor_shortage(files)
    assert (short, too_few) == (told is not None, is_too_few(files))
    assert not short or f"may open {files} files" in (told or "")
