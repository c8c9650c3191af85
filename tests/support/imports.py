# SPDX-License-Identifier: Apache-2.0
"""What a module imports, and what a test gets through its fixtures and the tests' other helpers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def module_of(file: Path) -> str:
    """Return the name of the module in a file."""
    return ".".join(file.with_suffix("").parts).removesuffix(".__init__")


@cache
def imported(file: Path) -> frozenset[str]:
    """Return the modules that a module imports; `from A import B` may mean the module A.B."""
    return frozenset(module for module, _ in _imports(_tree(file)))


@cache
def needs_of_test(test: Path) -> frozenset[str]:
    """Return the modules that a test imports, by itself, its fixtures and the helpers of the tests.

    Of a helper, or of a conftest.py, only what the test uses counts.
    """
    found = frozenset[str]()
    for module, names in _imports(_tree(test)):
        found |= {module} | _behind(module, [there for _, there in names], frozenset())
    for folder in test.parents:
        conftest = folder / "conftest.py"
        if folder.parts and (_ROOT / conftest).is_file():
            used = _helper(conftest).fixtures & words_of(test)
            found |= _reached(conftest, used, frozenset())
    return found


def slow_tests(test: Path) -> int:
    """Count the tests of a file that are marked slow, and all of them where the file is."""
    found = [it for it in ast.walk(_tree(test)) if isinstance(it, ast.FunctionDef)]
    tests = [it for it in found if it.name.startswith("test_")]
    marks = (ast.unparse(it) for it in _tree(test).body if isinstance(it, ast.Assign))
    if any(mark.startswith("pytestmark") and "mark.slow" in mark for mark in marks):
        return len(tests)
    return sum(any("mark.slow" in ast.unparse(it) for it in one.decorator_list) for one in tests)


@dataclass
class _Helper:
    """The names at the top of a module of the tests, with what each of them uses."""

    uses: dict[str, set[str]] = field(default_factory=dict)
    fixtures: set[str] = field(default_factory=set)
    modules: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    """For each imported name the modules that it may be or come from, and the name there."""

    def all_names(self) -> set[str]:
        """Return all names, those of imports too."""
        return {*self.uses, *self.modules}


def _reached(file: Path, names: Iterable[str], seen: frozenset[Path]) -> frozenset[str]:
    """Return the modules behind names of a module of the tests, through other such modules too."""
    helper, found = _helper(file), set[str]()
    todo, done = list(names), set[str]()
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        todo += helper.uses.get(name, ())
        for module, there in helper.modules.get(name, ()):
            found |= {module} | _behind(module, [there], seen | {file})
    return frozenset(found)


def _behind(module: str, names: list[str], seen: frozenset[Path]) -> frozenset[str]:
    """Return the modules behind names of a module, if it is one of the tests."""
    file = Path(*module.split(".")).with_suffix(".py")
    if file.parts[0] != "tests" or file in seen or not (_ROOT / file).is_file():
        return frozenset()
    return _reached(file, _helper(file).all_names() if "*" in names else names, seen)


@cache
def _helper(file: Path) -> _Helper:
    helper = _Helper()
    for module, names in _imports(_tree(file)):
        for name, there in names:
            helper.modules.setdefault(name, set()).add((module, there))
    for node in _tree(file).body:
        for name in _defined(node):
            used = {it.id for it in ast.walk(node) if isinstance(it, ast.Name)}
            used |= {it.arg for it in ast.walk(node) if isinstance(it, ast.arg)}
            # An import inside of a function is used by it alone.
            inside = {one for _, names in _imports(node) for one, _ in names}
            helper.uses.setdefault(name, set()).update(used - {name}, inside)
            if "fixture" in "".join(map(ast.unparse, getattr(node, "decorator_list", []))):
                helper.fixtures.add(name)
    return helper


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (it.id for it in ast.walk(target) if isinstance(it, ast.Name))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the statements in it; an expression, which a walk would enter, has none."""
    yield node
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, name, ()):
            yield from _statements(inner)


def _imports(tree: ast.AST) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each imported module, with the names that it has here and there; '*' is the whole."""
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                here = alias.asname or alias.name.partition(".")[0]
                yield alias.name, [(here, "*")]
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, [(it.asname or it.name, it.name) for it in node.names]
            for it in node.names:
                yield f"{node.module}.{it.name}", [(it.asname or it.name, "*")]


@cache
def words_of(file: Path) -> frozenset[str]:
    """Return the words of a file."""
    return frozenset(re.findall(r"\w+", (_ROOT / file).read_text(encoding="utf-8")))


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse((_ROOT / file).read_text(encoding="utf-8"))
