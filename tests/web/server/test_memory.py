# SPDX-License-Identifier: Apache-2.0
"""The return of freed memory to the system."""

from __future__ import annotations

import sys

import pytest

from referee.web.server import memory


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is Linux's")
def test_memory_goes_back_where_glibc_keeps_it() -> None:
    """glibc is asked, and says whether there was any."""
    assert memory.memory_trimmer()() in (0, 1)


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without glibc nothing is done."""
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    assert memory.memory_trimmer()() is None
