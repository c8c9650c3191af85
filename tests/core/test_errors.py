# SPDX-License-Identifier: Apache-2.0
"""A missing library is told with what to install, and a mistake of ours is not."""

from __future__ import annotations

import sys

import pytest

from referee.errors import MissingLibrary, needing


def test_a_missing_library_is_told_with_library_and_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence has the command, right beside a clone and beside a wheel, and the extra."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with (
        pytest.raises(MissingLibrary) as caught,
        needing("a chart", "matplotlib", "event"),
    ):
        import matplotlib  # noqa: F401
    told = "a chart needs matplotlib: pip install matplotlib (the extra 'event')"
    assert told == str(caught.value)


def test_a_module_of_ours_that_is_missing_is_a_mistake() -> None:
    """Nobody is told to install a library because a file of the referee has gone."""
    with pytest.raises(ModuleNotFoundError), needing("a chart", "matplotlib", "event"):
        import referee.no_such_module  # noqa: F401
