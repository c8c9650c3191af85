# SPDX-License-Identifier: Apache-2.0
"""The tests that concern a file are found by what they import and name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.imports import needs_of_test, slow_tests
from tests.support.near import ROOT, left_out, main, mirrored, near

TOPS = ("referee", "power", "client_sample", "static")


def found(path: str) -> set[str]:
    """Return the names of the tests near a file."""
    return {test.name for test in near(Path(path))}


@pytest.mark.slow  # It is the first, so it reads all tests.
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


def test_one_test_that_names_a_module_hides_no_other() -> None:
    """A guard of the documents imports these checks; the judge that they are for is tested too."""
    tests = near(Path("power/energy/course_checks.py"))
    judge = {test for test in tests if test.parts[:3] == ("tests", "power", "energy")}
    assert len(judge) > 5 and Path("tests/power/test_contract.py") in tests


def test_what_a_fixture_brings_is_near() -> None:
    """The contract of a route has the application from `conftest.py`, and imports none of it."""
    contract = Path("tests/web/contest/test_contest.py")
    assert contract in near(Path("referee/web/contest/answers.py"))
    assert "referee.web.contest.app" in needs_of_test(contract)


def test_of_a_helper_only_what_a_test_uses_is_near() -> None:
    """A fixture beside the one that a test uses brings nothing."""
    assert not any(
        module.startswith("selenium") for module in needs_of_test(Path("tests/core/test_states.py"))
    )


def test_scripts_styles_pages_and_tables_have_tests() -> None:
    """A script has those of its folder, and of the scripts that import it; a table its room's."""
    assert {"test_bar.py", "test_clock.py"} < found("static/console/lane.js")
    assert "test_curve.py" in found("static/shared/format.js")
    assert "test_styles.py" in found("static/console/console.css")
    assert "test_schema.py" in found("referee/store/migrations/0001_initial.sql")
    assert "test_results.py" in found("referee/service/event/parts.html")
    windows = Path("tests/e2e/test_console_windows.py")
    assert all(
        windows in left_out(Path(f"static/console/console.{kind}")) for kind in ("css", "html")
    )


def test_every_file_has_tests() -> None:
    """Those of its mirrored folder, or others that are near."""
    found = [path for top in TOPS for path in ROOT.glob(f"{top}/**/*.*")]
    every = [path.relative_to(ROOT) for path in found if "__pycache__" not in path.parts]
    assert len(every) > 900
    assert [] == [path for path in every if not (any(mirrored(path)) or near(path))]


def test_slow_tests_are_counted() -> None:
    """All of a file that is marked so, and single ones elsewhere."""
    assert 2 == slow_tests(Path("tests/e2e/test_accessibility.py"))
    assert 1 == slow_tests(Path("tests/support/test_programs.py"))
    assert 1 == slow_tests(Path("tests/support/test_near.py"))
    assert 0 == slow_tests(Path("tests/core/test_states.py"))


def test_what_did_not_run_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """With the command that runs it; a file without any test is no success."""
    assert 0 == main(["--left-out", "static/console/lane.js"])
    said = capsys.readouterr().out
    assert "files of whole programs and pages" in said and "make test ARGS='" in said
    assert "tests/e2e/test_console_lanes.py" in said
    assert 0 == main(["--left-out", "static/people/audit.js"])
    assert "tests/e2e/test_people_pages.py" in capsys.readouterr().out
    assert 1 == main(["docs/session.svg"])
    assert "No test is near" in capsys.readouterr().err


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
