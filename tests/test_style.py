# SPDX-License-Identifier: Apache-2.0
"""The rules of house style that a program can check."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.syntax import tree_of

# The first walk through all files takes a second.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("referee", "power", "client_sample")
TOP = (*SOURCES, "static", "tests", "docs", ".ci")
LICENSED = {".py", ".js", ".mjs", ".css", ".html", ".sql", ".sh", ".c", ".h"}
LICENCE = "SPDX-License-Identifier: Apache-2.0"


def files() -> list[Path]:
    """Return every file of the project's own folders, and of its root."""
    found = [path for top in TOP for path in (ROOT / top).rglob("*") if path.is_file()]
    found += [path for path in ROOT.iterdir() if path.is_file()]
    return sorted(path for path in found if "__pycache__" not in path.parts)


def trees(*tops: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield (path from the root, syntax tree) of the Python files below these folders."""
    for top in tops:
        for path in sorted((ROOT / top).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), tree_of(path)


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield every function below a node."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def is_one_sentence(docstring: str | None) -> bool:
    """Tell whether a docstring begins with one line that is a sentence."""
    first = (docstring or "").partition("\n")[0]
    return first.endswith(".") and first[:1] == first[:1].strip()


def has_code(path: Path) -> bool:
    """Tell whether a file is source code: by its suffix, its name, or a shell's first line."""
    if path.suffix in LICENSED or path.name == "Makefile":
        return True
    return not path.suffix and path.read_bytes()[:2] == b"#!"


def test_every_source_file_names_its_licence():
    """Each source file has the SPDX line within its first three lines."""
    licensed = [path for path in files() if has_code(path)]
    assert len(licensed) > 100
    without = []
    for path in licensed:
        if not any(LICENCE in line for line in path.read_text(encoding="utf-8").split("\n")[:3]):
            without.append(path.relative_to(ROOT).as_posix())
    assert [] == without


def test_every_test_says_what_it_shows():
    """Each test's docstring is one sentence."""
    without = [
        f"{path}:{function.lineno} {function.name}"
        for path, tree in trees("tests")
        for function in functions(tree)
        if function.name.startswith("test_") and not is_one_sentence(ast.get_docstring(function))
    ]
    assert [] == without


def test_no_test_sleeps():
    """No test calls the sleep of time, gevent or asyncio: tests wait for conditions."""
    sleeping = []
    for path, tree in trees("tests"):
        names = {"time.sleep", "gevent.sleep", "asyncio.sleep"}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.sleep" in names:
                names |= {
                    alias.asname or alias.name for alias in node.names if alias.name == "sleep"
                }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
                sleeping.append(f"{path}:{node.lineno}")
    assert [] == sleeping


def test_no_test_counts_all_threads_or_files_of_its_process():
    """Those of earlier tests may end meanwhile: a test looks for its own."""
    counting = [
        f"{path}:{node.lineno}"
        for path, tree in trees("tests")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith((".active_count", ".num_fds", ".num_threads"))
    ]
    assert [] == counting


# The least that a wait of a test may last which must not run out: a busy machine is slow.
PATIENCE_S = 180
# How soon something comes again, or how often: what is good has no less time when these are short.
PAUSES = ("AGAIN_S", "FIRST_S", "ALIVE_S", "STEADY_S")


def numbers_waited(call: ast.Call) -> Iterator[float]:
    """Yield the seconds that a call waits, where they stand in the call as a number."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    places = {"wait": 0, "join": 0, "result": 0, "settimeout": 0, "select": 3}
    waited = [call.args[places[name]]] if len(call.args) > places.get(name, 99) else []
    waited += [it.value for it in call.keywords if it.arg in ("timeout", "timeout_s", "bound_s")]
    for value in waited:
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            yield value.value


def test_no_wait_of_a_test_is_short():
    """A test waits 180 s at least, or less than one: then nothing is meant to come."""
    short = [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path, tree in trees("tests")
        if not path.startswith("tests/bench/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and any(1 <= s < PATIENCE_S for s in numbers_waited(node))
    ]
    assert [] == short


def shortened(node: ast.AST) -> str:
    """Return the name of a bound in seconds that a call of `monkeypatch` makes short, else ''."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "monkeypatch.setattr":
        return ""
    *place, value = node.args
    name = ast.literal_eval(place[-1]) if isinstance(place[-1], ast.Constant) else ""
    short = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
    if name.endswith("_S") and not name.endswith(PAUSES) and short and value.value < 5:
        return str(name)
    return ""


def test_a_bound_is_short_for_what_shall_fail_alone():
    """A test shortens a bound within `with monkeypatch.context()`, around what runs out of it."""
    whole = [
        f"{path}:{node.lineno} {shortened(node)}"
        for path, tree in trees("tests")
        for node in ast.walk(tree)
        if shortened(node)
    ]
    assert [] == whole


def test_no_test_judges_the_time_that_it_took():
    """No assertion compares a clock of this machine, but for the tests of the clock itself."""
    clocks = ("time.monotonic()", "time.perf_counter()", "time.time()", "real_elapsed_s()")
    timed = [
        f"{path}:{node.lineno} {ast.unparse(node)}"
        for path, tree in trees("tests")
        if path != "tests/power/test_clock.py" and not path.startswith("tests/bench/")
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
        for said in [ast.unparse(node)]
        if any(clock in said for clock in clocks)
    ]
    assert [] == timed


def test_tests_mirror_the_source():
    """A folder of tests has the name of the folder that it tests."""
    # Speed, whole programs, what is looked at, what they share.
    apart = {"bench", "e2e", "parts", "pictures", "plugins", "release", "support"}
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("*.py")}
    strange = [
        folder.as_posix()
        for folder in sorted(folders)
        if folder.parts
        and folder.parts[0] not in apart
        and not any((ROOT / top / folder).is_dir() for top in ("referee", "."))
    ]
    assert [] == strange


def undocumented(path: str, node: ast.Module | ast.ClassDef, owner: str = "") -> Iterator[str]:
    """Yield each public name in a module or class without a sentence to describe it."""
    for child in node.body:
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if child.name.startswith("_"):
            continue
        if not is_one_sentence(ast.get_docstring(child)):
            yield f"{path}:{child.lineno} {owner}{child.name}"
        if isinstance(child, ast.ClassDef):
            yield from undocumented(path, child, f"{child.name}.")


@pytest.mark.parametrize("package", ["referee", "power"])
def test_everything_public_is_documented(package):
    """Each public module, class, function and method begins with one sentence."""
    without = []
    for path, tree in trees(package):
        if not is_one_sentence(ast.get_docstring(tree)):
            without.append(path)
        without += undocumented(path, tree)
    assert [] == without


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Return what a caller may give a function, in order."""
    given = function.args
    named = [it.arg for it in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    several = [it.arg for it in (given.vararg, given.kwarg) if it is not None]
    return [name for name in (*named, *several) if name not in ("self", "cls")]


def test_what_travels_together_is_one_parameter():
    """No function has ten parameters or more: a frozen dataclass has a name of the field."""
    many = [
        f"{path}:{function.lineno} {function.name}"
        for path, tree in trees(*SOURCES)
        for function in functions(tree)
        if len(parameters(function)) >= 10
    ]
    assert [] == many


def test_what_a_request_knows_is_typed():
    """Nothing hangs on `flask.g`: a request is of a class that declares what its steps tell."""
    loose = [
        f"{path}:{node.lineno}"
        for path, tree in trees(*SOURCES)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and f"{node.module}".startswith("flask")
        if "g" in [alias.name for alias in node.names]
    ]
    assert [] == loose


def test_nothing_private_is_exported():
    """Each name that a module exports exists in it and is public."""
    wrong = []
    for path, tree in trees(*SOURCES):
        for node in tree.body:
            if not isinstance(node, ast.Assign) or ast.unparse(node.targets[0]) != "__all__":
                continue
            if not isinstance(node.value, ast.List):
                continue  # The library's names are computed, and have tests of their own.
            names = [element.value for element in node.value.elts]
            wrong += [f"{path} {name}" for name in names if name.startswith("_")]
            if sorted(set(names)) != sorted(names):
                wrong.append(f"{path} names something twice")
    assert [] == wrong


OPEN_MOST = 94
"""How many lines say `dict[str, Any]` or `Mapping[str, Any]`; the number only falls."""

# Why a document has no declared fields, and the files that read such a one.
OPEN = {
    "a recording or a log, perhaps of another program": (
        *("power/energy/conditions.py", "power/energy/judge.py", "power/values.py"),
        *("power/logs/rows.py", "power/wt310/recorded.py"),
    ),
    "a bundle: each version wrote its own fields, and a stranger what he liked": (
        "referee/extras/stations/bundles.py",
        *(f"referee/service/evidence/{name}.py" for name in ("as_signed", "facts", "facts_read")),
        *(f"referee/service/evidence/{name}.py" for name in ("kept_bundle", "measurement")),
        *(f"referee/service/evidence/{name}.py" for name in ("rejudge", "replay", "signature")),
        "referee/service/event/told_conditions.py",
        "referee/service/evidence/verify.py",
    ),
    "the detail of a stored energy or score: each version and each track has its fields": (
        *("referee/store/proposals.py", "referee/store/readings.py", "referee/store/scores.py"),
        *(f"referee/service/results/{name}.py" for name in ("finding_words", "interval_text")),
        *("referee/service/results/result_text.py", "referee/tracks/track.py"),
        *("referee/scoring/score_report.py", "referee/extras/ovic/submission/entries.py"),
        *(
            f"referee/extras/ovic/{at}.py"
            for at in ("submission/entry_queue", "rules/settings_change")
        ),
    ),
    "what an earlier version has published": ("referee/service/scoreboard/view.py",),
    "what an earlier run has published": ("referee/extras/publish/site_folder.py",),
    "a guest says among the results what it likes": ("referee/service/event/results_table.py",),
    "a guest's section of the configuration": ("referee/service/setup/config.py",),
    "a table of a TOML file, whose fields are checked one by one": (
        "referee/service/setup/config_file.py",
    ),
    "the line of another process or machine": (
        *("referee/service/desk/link.py", "referee/service/desk/requests.py"),
        *("referee/service/entry/admission.py", "referee/extras/ovic/judging/board/agent.py"),
        "referee/extras/stations/notification.py",
    ),
    "COCO's files": (
        *("referee/demo/imperfect_answers.py", "referee/extras/ovic/commands/ovic/handouts.py"),
    ),
    "a library gives or takes it": (
        *("client_sample/nms.py", "power/resource.py", "referee/extras/ovic/judging/model.py"),
        *(f"referee/web/server/{name}.py" for name in ("malformed", "mixed", "server_log")),
    ),
    "OpenAPI's schema": ("referee/web/contest/openapi.py",),
    "the answer of a server that is tried": ("client_sample/conformance/modern.py",),
    "the rows that a recorder gives to the page of a recording": ("power/live/run_view.py",),
    "fields of one type become those of another": (
        *("power/readings.py", "referee/core/conditions.py", "referee/service/event/figures.py"),
    ),
}
_OPEN = re.compile(r"\b(?:dict|Mapping)\[str, Any\]")


def test_a_document_has_declared_fields():
    """A type declares what is passed on; what strangers send is on the list, with the reason."""
    found = {
        path.relative_to(ROOT).as_posix(): count
        for folder in SOURCES
        for path in (ROOT / folder).rglob("*.py")
        if (count := sum(map(bool, map(_OPEN.search, path.read_text("utf-8").splitlines()))))
    }
    listed = [path for paths in OPEN.values() for path in paths]
    assert sorted(found) == sorted(listed)
    assert sum(found.values()) <= OPEN_MOST
