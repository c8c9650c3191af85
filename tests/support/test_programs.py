# SPDX-License-Identifier: Apache-2.0
"""A missing program skips its tests, with one line that says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.programs import (
    BROWSER,
    C_COMPILER,
    C_WITH_LIBCURL,
    CURL,
    GIT,
    LATEX,
    SSH,
    Need,
    require,
)

ROOT = Path(__file__).parents[2]
NEEDS = [BROWSER, C_COMPILER, C_WITH_LIBCURL, CURL, GIT, SSH]
INSTALL = "sudo apt install"


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put every program out of reach, on a machine that is no CI machine."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)


@pytest.mark.parametrize("need", NEEDS, ids=lambda need: need.name)
def test_a_missing_program_skips_the_test(need: Need, bare: None) -> None:
    """The reason names the missing program and the command that installs it."""
    with pytest.raises(pytest.skip.Exception) as skipped:
        require(need)
    assert f"needs {need.name}. Install: {INSTALL} {need.packages}" == str(skipped.value)


@pytest.mark.parametrize("need", NEEDS, ids=lambda need: need.name)
def test_a_missing_program_fails_the_test_under_ci(
    need: Need, bare: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under CI=true a missing program fails the test."""
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=INSTALL):
        require(need)


def test_a_program_that_is_too_large_for_ci_skips_the_test_there(
    bare: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing under CI=true installs it, so its tests run where somebody has it."""
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.skip.Exception):
        require(LATEX)


def test_a_program_that_is_there_lets_the_test_run() -> None:
    """A test runs when its program is installed."""
    need = Need("the interpreter", "python3", lambda: Path(sys.executable).exists())
    try:
        require(need)
    except pytest.skip.Exception:
        # Without this the mistake would show as a skipped test.
        pytest.fail("a test whose program is installed was skipped")


def test_a_compiler_without_the_headers_counts_as_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that cannot find the headers does not satisfy the C client's need."""
    compiler = tmp_path / "cc"
    compiler.write_text(f"#!{sys.executable}\nraise SystemExit('curl.h: No such file')\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not C_WITH_LIBCURL.is_there()


@pytest.mark.slow
def test_the_summary_has_one_line_for_each_missing_program(tmp_path: Path) -> None:
    """On a bare machine the real test files pass, and the summary counts each need in one line."""
    files = ["tests/client_sample/test_c_client.py", "tests/client_sample/test_readme.py"]
    environment = os.environ | {"PATH": str(tmp_path)}
    environment.pop("CI", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *files],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert 0 == done.returncode, done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    assert 2 == len(lines), done.stdout
    assert 1 == sum(C_WITH_LIBCURL.packages in line for line in lines)
    assert 1 == sum(line.startswith("SKIPPED [1]") and CURL.packages in line for line in lines)
