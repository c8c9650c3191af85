# SPDX-License-Identifier: Apache-2.0
"""Print the tests that concern files of the source: `python -m tests.support.near FILE …`.

They are the file's mirror, the tests that import its module, and those that name a file which is no
module. Where there is none, the tests near the modules that import it take their place. Tests of
whole programs are left out: they concern everything.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("referee", "power", "client_sample")
# Speed, whole programs, pictures, and what tests share.
APART = ("bench", "e2e", "pictures", "support")


def near(file: Path) -> set[Path]:
    """Return the tests that concern a file; both are paths from the project's root."""
    if file.parts[0] == "tests":
        return {file}
    nearer, seen = {file}, {file}
    while nearer:
        found = {test for one in nearer for test in _direct(one)}
        if found:
            return found
        users = {user for one in nearer for user in _users(one, _sources())}
        nearer, seen = users - seen, seen | users
    return set()


def _direct(file: Path) -> Iterator[Path]:
    """Yield a file's mirror and the tests that use it."""
    yield from _users(file, _tests())
    for folder in (file.parent, Path(*file.parts[1:-1])):
        mirror = Path("tests") / folder / f"test_{file.stem}.py"
        if (ROOT / mirror).exists():
            yield mirror


def _users(file: Path, among: tuple[Path, ...]) -> Iterator[Path]:
    """Yield those files that import a module, or that name a file which is none."""
    module = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
    word = module.rpartition(".")[2] if file.suffix == ".py" else file.name
    whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    for user in among:
        text = _text(user)
        if whole.search(text) and (file.suffix != ".py" or module in _imported(text)):
            yield user


@cache
def _tests() -> tuple[Path, ...]:
    tests = (path.relative_to(ROOT) for path in sorted((ROOT / "tests").rglob("test_*.py")))
    return tuple(test for test in tests if test.parts[1] not in APART)


@cache
def _sources() -> tuple[Path, ...]:
    return tuple(
        path.relative_to(ROOT) for top in SOURCES for path in sorted((ROOT / top).rglob("*.py"))
    )


@cache
def _text(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def _imported(text: str) -> frozenset[str]:
    """Return the modules that a module imports; `from A import B` may mean the module A.B."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def main(files: list[str]) -> int:
    """Print the tests' paths; exit with 2 where a file is not there, and with 1 without a test."""
    strange = [file for file in files if not (ROOT / file).is_file()]
    if strange or not files:
        print(f"Name files of the project, not {' '.join(strange) or 'nothing'}.", file=sys.stderr)
        return 2
    paths = [(ROOT / file).resolve().relative_to(ROOT) for file in files]
    found = sorted({test.as_posix() for path in paths for test in near(path)})
    if not found:
        print(f"No test is near {' or '.join(files)}: run the folder's.", file=sys.stderr)
        return 1
    print(*found, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
