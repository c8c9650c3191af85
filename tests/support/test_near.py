# SPDX-License-Identifier: Apache-2.0
"""The tests that concern a file are found by what they import and name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.near import main, near


def found(path: str) -> set[str]:
    """Return the names of the tests near a file."""
    return {test.name for test in near(Path(path))}


def test_a_mirror_and_those_that_import_a_module_are_near() -> None:
    """The mirror of a module is near, and so is each test that imports it; no whole program is."""
    tests = near(Path("referee/core/states.py"))
    assert Path("tests/core/test_states.py") in tests
    assert Path("tests/store/test_sessions.py") in tests
    assert not any(test.parts[1] == "e2e" for test in tests)


def test_a_module_without_a_test_has_those_of_its_users() -> None:
    """No test imports this module, so the tests of the modules that import it are near."""
    assert "test_command_lines.py" not in found("referee/service/desk/policy.py")
    assert "test_control_desk.py" in found("referee/service/desk/policy.py")


def test_what_is_no_module_is_near_to_those_that_name_it() -> None:
    """A test that reads a file by its name is near, one that reads `coco_results.json` is not."""
    assert "test_packaging.py" in found("Makefile")
    assert "test_coco.py" not in found("static/event/results.js")


def test_a_test_is_near_to_itself() -> None:
    """For a test only that test runs."""
    assert {"test_near.py"} == found("tests/support/test_near.py")


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong path has exit code 2 and a sentence; a right one prints paths."""
    assert 2 == main(["referee/core/stats.py"])
    assert "not referee/core/stats.py" in capsys.readouterr().err
    assert 0 == main(["referee/core/states.py"])
    assert "tests/core/test_states.py\n" in capsys.readouterr().out
