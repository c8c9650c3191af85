# SPDX-License-Identifier: Apache-2.0
"""Print the tests that concern files of the source: `python -m tests.support.near FILE …`.

They are the tests of the mirrored folder, those that import the module directly or in one step,
those that get it through a fixture or another helper of the tests, and those that name a file which
is no module. What they leave out is said by `--left-out`: slow tests, and whole programs and pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TextIO

from tests.support.imports import imported, module_of, needs_of_test, slow_tests, words_of

ROOT = Path(__file__).parents[2]
SOURCES = ("referee", "power", "client_sample")
# Speed, whole programs, pictures, and what tests share.
APART = ("bench", "e2e", "pictures", "support")


def near(file: Path) -> set[Path]:
    """Return the tests that concern a file; both are paths from the project's root."""
    if file.parts[0] == "tests" and file.name.startswith("test_"):
        return {file}
    if file.name == "conftest.py":
        return {test for test in _tests() if file.parent in test.parents}
    return set(_of(file, _tests())) | set(mirrored(file))


def left_out(file: Path) -> set[Path]:
    """Return the tests of whole programs and pages that concern a file."""
    return set(_of(file, _whole())) | set(_of_its_pages(file))


def _of(file: Path, among: tuple[Path, ...]) -> Iterator[Path]:
    """Yield those tests that reach a module, or that name a file which is none."""
    if file.suffix == ".py":
        wanted = {module_of(file)} | {module_of(user) for user in _users(file)}
        yield from (test for test in among if wanted & needs_of_test(test))
    else:
        # A test of all styles finds them as "*.css".
        kind = {f"*{file.suffix}"} if file.suffix else set()
        named = {file.name} | kind | {user.name for user in _users(file)}
        whole = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in named))
        # To look for a name is faster than for a pattern, and most tests have none of them.
        likely = (test for test in among if any(name in _text(test) for name in named))
        yield from (test for test in likely if whole.search(_text(test)))


def _users(file: Path) -> Iterator[Path]:
    """Yield the modules that import a module, or the scripts and pages that name a file."""
    if file.suffix == ".py":
        module = module_of(file)
        named = (it for it in _sources(".py") if module.rpartition(".")[2] in words_of(it))
        yield from (user for user in named if module in imported(user))
    elif file.parts[0] == "static":
        # A script imports another as "../shared/page.js", and a page a script as "console.js".
        name = re.compile(rf"""["'/]{re.escape(file.name)}["']""")
        pages = (*_sources(".js"), *_sources(".html"))
        yield from (user for user in pages if user != file and name.search(_text(user)))


def mirrored(file: Path) -> Iterator[Path]:
    """Yield the tests of the folder that mirrors a file's, or of the nearest one above it."""
    top, *folders = file.parts[:-1] or ("",)
    within = folders if top in ("referee", "tests") else [top, *folders]
    for length in range(len(within), -1, -1):
        folder = ROOT.joinpath("tests", *within[:length])
        found = sorted(folder.glob("test_*.py"))
        if not found and length == len(within):
            found = sorted(folder.rglob("test_*.py"))
        if found and (length > 0 or not within):
            yield from (test.relative_to(ROOT) for test in found)
            return


def _of_its_pages(file: Path) -> Iterator[Path]:
    """Yield the tests that open a page which a script, a style or a page of `static` is part of."""
    if file.parts[0] != "static":
        return
    folder = file.parts[1]
    pages = [page.stem for page in _sources(".html") if folder in (page.parts[1], "shared")]
    words = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in (folder, *pages)))
    for test in _whole():
        if "mark.browser" in _text(test) and words.search(_spaced(test)):
            yield test


@cache
def _spaced(test: Path) -> str:
    """Return a test's path and text, with the words of its names apart."""
    return f"{test} {_text(test)}".replace("_", " ")


@cache
def _all_tests() -> tuple[Path, ...]:
    return tuple(path.relative_to(ROOT) for path in sorted((ROOT / "tests").rglob("test_*.py")))


@cache
def _tests() -> tuple[Path, ...]:
    return tuple(test for test in _all_tests() if test.parts[1] not in APART)


@cache
def _whole() -> tuple[Path, ...]:
    """Return the tests of whole programs, and the pages' tests that lie elsewhere."""
    return tuple(
        test
        for test in _all_tests()
        if test.parts[1] == "e2e" or ("mark.browser" in _text(test) and test.parts[1] != "static")
    )


@cache
def _sources(suffix: str) -> tuple[Path, ...]:
    tops = (*SOURCES, "static")
    found = (path for top in tops for path in sorted((ROOT / top).rglob(f"*{suffix}")))
    return tuple(path.relative_to(ROOT) for path in found)


@cache
def _text(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _say_left_out(paths: list[Path], out: TextIO) -> None:
    """Say which tests did not run, and the command that runs them."""
    short = {test for path in paths for test in near(path)}
    whole = {test for path in paths for test in left_out(path)} - short
    slow = {test: slow_tests(test) for test in short}
    files = sorted(test.as_posix() for test in {*whole, *filter(slow.get, slow)})
    if files:
        print(
            f"\nNot run: {sum(slow.values())} slow tests of these files, and {len(whole)} files of "
            f"whole programs and pages.\nmake test ARGS='{' '.join(files)}'",
            file=out,
        )


def main(arguments: list[str]) -> int:
    """Print the tests' paths; exit with 2 where a file is not there, and with 1 without a test."""
    files = [it for it in arguments if it != "--left-out"]
    strange = [file for file in files if not (ROOT / file).is_file()]
    if strange or not files:
        print(f"Name files of the project, not {' '.join(strange) or 'nothing'}.", file=sys.stderr)
        return 2
    paths = [(ROOT / file).resolve().relative_to(ROOT) for file in files]
    if "--left-out" in arguments:
        _say_left_out(paths, sys.stdout)
        return 0
    found = sorted({test.as_posix() for path in paths for test in near(path)})
    if not found:
        print(f"No test is near {' or '.join(files)}.", file=sys.stderr)
        _say_left_out(paths, sys.stderr)
        return 1
    print(*found, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
