# SPDX-License-Identifier: Apache-2.0
"""No sentence is data: no program of ours decides anything by the words of a message."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

# What reads words all the same, with the reason.
ALLOWED = {
    "referee/extras/ovic/judging/worker.py": "Pillow names the file by its path, in its own words",
    "referee/service/desk/settling.py": "a failure with the same words is told once",
    "referee/service/desk/session_runs.py": "a failure with the same words is told once",
}
_READERS = frozenset(
    ("startswith", "endswith", "find", "index", "replace", "removeprefix", "removesuffix")
) | {"partition", "rpartition", "count"}
_ERRORS = ("error", "refusal", "fault", "problem", "exc")


def errors_in(tree: ast.AST) -> set[str]:
    """Return the names of errors in a module: those that it catches, and the usual ones."""
    caught = {
        node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name
    }
    return caught.union(_ERRORS)


def is_words(node: ast.expr, errors: set[str]) -> bool:
    """Tell whether an expression is the text of an error, or a part of it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str":
        return any(isinstance(one, ast.Name) and one.id in errors for one in node.args)
    if isinstance(node, ast.JoinedStr) and len(node.values) == 1:
        (value,) = node.values
        return (
            isinstance(value, ast.FormattedValue)
            and isinstance(value.value, ast.Name)
            and value.value.id in errors
        )
    return isinstance(node, ast.Subscript) and is_words(node.value, errors)


def readings_of(source: str) -> Iterator[int]:
    """Yield the lines on which something is made of the words of an error."""
    tree = ast.parse(source)
    errors = errors_in(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            read = any(is_words(one, errors) for one in (node.left, *node.comparators))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method = node.func
            of_module = isinstance(method.value, ast.Name) and method.value.id == "re"
            read = (method.attr in _READERS and is_words(method.value, errors)) or (
                of_module and any(is_words(one, errors) for one in node.args)
            )
        else:
            continue
        if read:
            yield node.lineno


def test_no_program_reads_the_words_of_an_error() -> None:
    """An error has a type, and fields; its words are for people."""
    found, needed = [], set()
    for folder in ("referee", "power", "client_sample"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            lines = [*readings_of(path.read_text(encoding="utf-8"))]
            if name in ALLOWED and lines:
                needed.add(name)
            else:
                found += [f"{name}:{line}" for line in lines]
    assert [] == found
    assert ALLOWED.keys() == needed


def test_the_guard_sees_what_it_looks_for() -> None:
    """Comparisons, searches and replacements of an error's words are found, other uses are not."""
    bad = [
        'if str(error).startswith("x"): pass',
        'where = "facts" in str(error)',
        'text = str(refusal).replace("/tmp", "it")',
        'same = f"{error}" == last',
        're.search("x", str(error)[:9])',
        "try: pass\nexcept ValueError as why:\n    left = str(why).partition(':')",
    ]
    good = ["print(str(error))", 'Finding("x", str(error))', 'str(path).startswith("/")']
    assert [1] * len(bad) == [len([*readings_of(one)]) for one in bad]
    assert [] == [line for one in good for line in readings_of(one)]


_OF_A_PAGE = re.compile(
    r"\b(?:text|message|detail|reason|remedy|alarm)\)?\.(?:startsWith|endsWith|includes|match|split)\("
)


def test_no_page_reads_the_words_of_a_message() -> None:
    """A page shows the desk's sentences; what it decides by is a field of its own."""
    scripts = sorted((ROOT / "static").rglob("*.js"))
    assert scripts
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in scripts
        for match in _OF_A_PAGE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert [] == found
