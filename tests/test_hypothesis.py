# SPDX-License-Identifier: Apache-2.0
"""All property tests run under the profile of `tests/conftest.py`."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bench import properties


def test_no_property_test_can_fail_for_being_slow():
    """The profile has neither a deadline nor a health check of speed."""
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


@given(st.just(0.3))
@settings(max_examples=1)
def test_a_slow_input_passes(seconds):
    """An input that takes longer than Hypothesis's own 200 ms passes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


DRAWN = """
from hypothesis import given, strategies as st
@given(st.integers(0, 10**9))
def test_inputs(number):
    print(number)
"""


def drawn(folder: Path, *options: str) -> list[str]:
    """Return what a property test draws in a run of its own, under the profiles of these tests."""
    conftest = Path(__file__).with_name("conftest.py").read_text()
    begin, end = conftest.index("_NEVER_TOO_SLOW ="), conftest.index("settings.load_profile")
    profiles = conftest[begin : conftest.index("\n", end)]
    head = "from hypothesis import HealthCheck, settings\n"
    (folder / "conftest.py").write_text(head + profiles)
    (folder / "test_drawn.py").write_text(DRAWN)
    pytest = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *options]
    done = subprocess.run(pytest, cwd=folder, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout
    return [line for line in done.stdout.splitlines() if line.isdecimal()]


@pytest.mark.slow
def test_every_run_has_the_same_inputs_until_it_shall_roam(tmp_path):
    """A run fails for a change and not by chance; `make bench ARGS=properties` looks further."""
    first, again = drawn(tmp_path), drawn(tmp_path)
    assert first == again
    roaming = properties.command([tmp_path], 7)
    chosen = [it for it in roaming if it.startswith("--hypothesis")]
    assert first != drawn(tmp_path, *chosen)


def test_each_property_test_can_roam():
    """The benchmark takes the files that have one; this file is among them."""
    files = properties.property_tests(Path(__file__).parent)
    assert Path(__file__) in files
    assert all("hypothesis" in it.read_text() for it in files)
    assert len(files) > 40
