# SPDX-License-Identifier: Apache-2.0
"""A file of tests whose library is missing is skipped with the extra that brings it."""

from __future__ import annotations

import pytest

from tests.support.libraries import reason_to_skip


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be no CI machine."""
    monkeypatch.delenv("CI", raising=False)


def test_a_missing_library_names_its_extra(at_home: None) -> None:
    """The reason names the extra, and the command that installs all of them."""
    error = ModuleNotFoundError("No module named 'cv2'", name="cv2")
    assert "needs the extra [camera]" in str(reason_to_skip(error))
    part = ModuleNotFoundError("No module named", name="ai_edge_litert.interpreter")
    assert "needs the extra [litert]. Install: pip install -e" in str(reason_to_skip(part))


def test_any_other_error_is_none_of_it(at_home: None) -> None:
    """A module of the project that is missing is a mistake, and no reason to skip."""
    assert None is reason_to_skip(ModuleNotFoundError("", name="referee.nothing"))
    assert None is reason_to_skip(ValueError("cv2"))
    assert None is reason_to_skip(None)


def test_a_missing_library_is_an_error_under_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under CI=true no file is skipped."""
    monkeypatch.setenv("CI", "true")
    assert None is reason_to_skip(ModuleNotFoundError("", name="cv2"))
