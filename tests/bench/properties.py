# SPDX-License-Identifier: Apache-2.0
"""The property tests with inputs that no run before had: what fails becomes an `@example`."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

_TESTS = Path(__file__).parents[1]


def run() -> None:
    """Run each file of property tests with a thousand random inputs a test, and print the seed."""
    files = property_tests(_TESTS)
    seed = random.SystemRandom().randrange(2**32)
    print(f"{len(files)} files, seed {seed}", flush=True)
    subprocess.run(command(files, seed), cwd=_TESTS.parent)


def property_tests(folder: Path) -> list[Path]:
    """Return the files below a folder that have a property test."""
    return [it for it in sorted(folder.rglob("test_*.py")) if "@given(" in it.read_text()]


def command(files: list[Path], seed: int) -> list[str]:
    """Return what runs the property tests of files with the inputs of a seed."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-m", "hypothesis"]
    chosen = ["--hypothesis-profile=roaming", f"--hypothesis-seed={seed}"]
    return [*pytest, *chosen, "-p", "no:cacheprovider", *map(str, files)]
