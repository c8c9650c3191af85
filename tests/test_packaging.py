# SPDX-License-Identifier: Apache-2.0
"""`setup.cfg` and the Makefile match the project: packages, libraries, commands."""

from __future__ import annotations

import ast
import configparser
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from referee import __version__
from tests.support.libraries import EXTRAS, FOR_DEVELOPERS
from tests.support.syntax import tree_of

ROOT = Path(__file__).parents[1]
OURS = ("referee", "power", "client_sample")


def setup() -> configparser.ConfigParser:
    """Return the settings of the package."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser


def lines(text: str) -> list[str]:
    """Return the entries of a list with one entry a line."""
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def requirements() -> dict[str, str]:
    """Map each library that can be installed with the package to its version bounds."""
    found = lines(setup()["options"]["install_requires"])
    for extra, text in setup()["options.extras_require"].items():
        found += [] if extra in FOR_DEVELOPERS else lines(text)
    return {canonical(re.split(r"[<>=!~;\[]", line)[0]): line for line in found}


def canonical(name: str) -> str:
    """Return a distribution's name in the form that registries compare."""
    return re.sub(r"[-_.]+", "-", name).lower()


def imported() -> Iterator[str]:
    """Yield the top name of each module that the project's own code imports."""
    for package in OURS:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.Import):
                    yield from (alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module:
                    yield node.module.partition(".")[0]


def test_wheel_and_sdist_have_the_licence_and_say_where_to_ask() -> None:
    """The licence, how to cite, to contribute and to report are files that each build takes."""
    files = lines(setup()["metadata"]["license_files"])
    assert ["CITATION.cff", "CONTRIBUTING.md", "LICENSE", "SECURITY.md"] == sorted(files)
    assert [] == [name for name in files if not (ROOT / name).is_file()]


def test_the_citation_is_of_this_version() -> None:
    """How to cite names the version and the licence that the package has, and a day."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    told = dict(re.findall(r"^(version|license): (.*)$", text, re.MULTILINE))
    assert {"version": __version__, "license": setup()["metadata"]["license"]} == told
    (day,) = re.findall(r"^date-released: (.*)$", text, re.MULTILINE)
    assert date.fromisoformat(day)


def test_the_page_of_an_index_stands_alone() -> None:
    """What an index shows has only whole addresses, and the package says where to go."""
    metadata = setup()["metadata"]
    page = (ROOT / metadata["long_description"].removeprefix("file: ")).read_text(encoding="utf-8")
    links = re.findall(
        r"\]\(([^)]*)\)|^\[[^\]]*\]: (\S+)|(?:href|src)=\"([^\"]*)", page, re.MULTILINE
    )
    found = [link for parts in links for link in parts if link]
    urls = [line.partition(" = ")[2] for line in lines(metadata["project_urls"])]
    assert found and urls
    assert [] == [link for link in found + urls if not re.match("https?://", link)]
    told = re.findall(r"`referee docs (\w+)`", page)
    assert told and all((ROOT / f"docs/{name}.md").is_file() for name in told)


def test_the_changelog_begins_with_this_version() -> None:
    """The first section of the changelog is this version's, so a user reads what is new in it."""
    text = (ROOT / "docs/changelog.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE)[0] == ".".join(__version__.split(".")[:2])


def test_every_folder_of_code_is_a_package_of_the_wheel() -> None:
    """The wheel has a package for each folder of code."""
    folders = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for package in OURS
        for path in (ROOT / package).rglob("__init__.py")
    }
    listed = lines(setup()["options"]["packages"])
    # The pages are no Python; the wheel has them as the packages `referee.static` and
    # `power.static`.
    assert sorted({*folders, "power.static", "referee.static"}) == sorted(listed)


def test_every_folder_with_code_has_an_init() -> None:
    """Each folder with code has an `__init__.py`, without which the wheel would miss it."""
    folders = {path.parent for package in OURS for path in (ROOT / package).rglob("*.py")}
    assert [] == sorted(folder for folder in folders if not (folder / "__init__.py").exists())


def test_every_library_that_is_imported_is_required() -> None:
    """The package or one of its extras requires each library that the code imports."""
    makers = packages_distributions()
    foreign = set(imported()) - set(sys.stdlib_module_names) - {*OURS, "__future__"}
    foreign -= {*EXTRAS} - {*makers}  # Not installed here, so nobody knows who makes it.
    known = requirements()
    # `client.py` needs no package for a detector: it imports the detector that its user names.
    missing = {
        name
        for name in foreign
        if not any(canonical(maker) in known for maker in makers.get(name, [name]))
    }
    assert set() == missing


def installed_with_the_package() -> set[str]:
    """Return what a plain `pip install .` brings, with what that needs itself."""
    found: set[tuple[str, str]] = set()
    open_ends = [Requirement(line) for line in lines(setup()["options"]["install_requires"])]
    while open_ends:
        wanted = open_ends.pop()
        for extra in {"", *wanted.extras}:
            key = (canonical(wanted.name), extra)
            if key in found:
                continue
            found.add(key)
            needed = (Requirement(line) for line in requires(wanted.name) or [])
            open_ends += [
                one for one in needed if one.marker is None or one.marker.evaluate({"extra": extra})
            ]
    return {name for name, _ in found}


@pytest.mark.slow
def test_a_plain_install_can_start_every_program() -> None:
    """The servers' workers import nothing that only the tests' libraries would bring."""
    code = """import sys
before = set(sys.modules)
import referee.cli, referee.web.server.greenlets
from referee.programs.table import all_programs
for program in all_programs().values():
    program.run.load()
print(*{name.partition(".")[0] for name in set(sys.modules) - before})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    makers = packages_distributions()
    loaded = {
        canonical(maker) for name in done.stdout.decode().split() for maker in makers.get(name, [])
    }
    assert set() == loaded - installed_with_the_package() - {"lpirc-referee"}


def test_every_requirement_has_a_lower_bound() -> None:
    """Each requirement has a lower bound."""
    assert [] == [line for line in requirements().values() if ">=" not in line]


def reached(extra: str) -> set[str]:
    """Return an extra and those that it brings along, by naming the package itself."""
    found = {extra}
    for line in lines(setup()["options.extras_require"][extra]):
        wanted = Requirement(line)
        if canonical(wanted.name) == "lpirc-referee":
            found |= {more for one in wanted.extras for more in reached(one)}
    return found


def test_all_tests_have_what_the_extras_need() -> None:
    """All tests install the libraries of every extra."""
    extras = {*setup()["options.extras_require"]}
    assert extras - {"check", "release"} == reached("test-all")


def test_a_skip_names_an_extra_that_is_there() -> None:
    """A test that lacks a library names an extra that brings it."""
    pages = (ROOT / "tests").rglob("*.py")
    told = [
        name
        for page in pages
        for name in re.findall(r'"needs the extra \[([a-z-]+)\]"', page.read_text("utf-8"))
    ]
    assert len(told) > 10
    assert set() == {*told} - {*setup()["options.extras_require"]}


def test_the_table_of_extras_is_that_of_the_settings() -> None:
    """The README has a row for each extra that a user may install, in the words of `setup.cfg`."""
    text = (ROOT / "setup.cfg").read_text(encoding="utf-8").partition("[options.extras_require]")[2]
    noted = re.findall(r"((?:^# .*\n)+)^([a-z-]+) =$", text.partition("\n[")[0], re.MULTILINE)
    rows = [
        f"| `{name}` | {' '.join(line[2:] for line in notes.splitlines())} |"
        for notes, name in noted
        if name not in FOR_DEVELOPERS
    ]
    assert [*setup()["options.extras_require"]] == [name for _, name in noted]
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("| extra |")[2]
    assert rows == table.partition("\n\n")[0].splitlines()[2:]


def test_no_extra_adds_nothing() -> None:
    """Each extra brings a library that a plain install lacks, and no two bring the same ones."""
    plain = {Requirement(line).name for line in lines(setup()["options"]["install_requires"])}
    brought = {
        extra: frozenset(Requirement(line).name for line in lines(text)) - plain
        for extra, text in setup()["options.extras_require"].items()
    }
    assert [] == [extra for extra, libraries in brought.items() if not libraries]
    assert len(brought) == len({*brought.values()})


def told_to_install() -> Iterator[tuple[str, str]]:
    """Yield (libraries, extra) of each message about a library that is missing."""
    for package in OURS:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield from re.findall(r"pip install (.*?) \(the extra '(\w+)'\)", node.value)
                elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    if node.func.id in ("needing", "MissingLibrary"):
                        words = [it.value for it in node.args[1:] if isinstance(it, ast.Constant)]
                        if len(words) == 2:  # `needing` itself passes names on.
                            yield str(words[0]), str(words[1])


def test_a_message_names_the_extra_that_brings_the_library() -> None:
    """What a message says to install is in the extra that it names, or in a plain install."""
    told = [*told_to_install()]
    assert len(told) > 15
    plain = lines(setup()["options"]["install_requires"])
    for libraries, extra in told:
        there = [*plain, *lines(setup()["options.extras_require"][extra])]
        names = {canonical(Requirement(word).name) for word in shlex.split(libraries)}
        assert names <= {canonical(Requirement(line).name) for line in there}, (libraries, extra)


def test_what_is_told_to_install_is_there() -> None:
    """No page and no message installs from an index that has no referee, or an unknown extra."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    pages += [path for folder in OURS for path in (ROOT / folder).rglob("*") if path.is_file()]
    told = [
        word
        for page in pages
        if page.suffix in (".py", ".md", ".html", ".js", ".c")
        for line in re.findall(r"pip install (.*)", page.read_text(encoding="utf-8"))
        for word in re.findall(r"\blpirc-referee\b|\.\[([a-z,]+)\]", line)
    ]
    assert len(told) > 10
    extras = {*setup()["options.extras_require"], "NAME"}
    assert [] == [word for word in told if not set(word.split(",")) <= extras]


def test_make_help_names_every_target() -> None:
    """`make help` names each target."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):", text, re.MULTILINE)
    told = re.findall(r'@echo "make ([a-z]+) ', text)
    assert sorted(targets) == sorted({*told, "help"})
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony is not None
    assert sorted(targets) == sorted(phony[1].split())
