# SPDX-License-Identifier: Apache-2.0
"""What each command and each program loads at its start: no large library that it may never use.

The suite starts hundreds of programs, and a person waits for each `--help`. What a program loads
follows from the imports at the top of its modules, as the syntax trees show them.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from functools import cache

import pytest

from power import cli as power_cli
from referee import cli
from referee.programs.table import all_programs
from tests.test_layers import ROOT, imports, modules, sources

# The walk through all files takes a second.
pytestmark = pytest.mark.slow

HEAVY = frozenset(
    {
        *("numpy", "matplotlib", "pandas", "pycocotools", "PIL", "cryptography", "segno"),
        *("flask", "jinja2", "gevent", "gunicorn", "prometheus_client", "multipart", "packaging"),
        *("pyvisa", "pyvisa_py", "serial", "usb", "tqdm", "pebble", "distributed", "selenium"),
    }
)
"""Libraries that take 10 ms of processor time or more to load."""

SERVER = {"flask", "gevent", "gunicorn", "numpy"}
# Whoever prepares a contest looks into its images.
PREPARES = {"numpy", "PIL"}

PROGRAMS = {
    "desk": SERVER | {"packaging", "prometheus_client"},
    "contest": SERVER,
    "scorer": {"numpy"},
    "scoreboard": SERVER,
    "checks": PREPARES | {"packaging"},
    "ovic": {"numpy", "PIL"},
}

# A command that is not here loads none.
COMMANDS = {
    **dict.fromkeys(("demo", "practice", "serve", "drill"), PREPARES),
    **dict.fromkeys(("check", "doctor"), PREPARES | {"packaging"}),
    **dict.fromkeys(("results", "review", "proposal", "finalize", "score"), {"numpy"}),
    **dict.fromkeys(("aiotbench", "season", "scoreboard", "export", "verify", "sign"), {"numpy"}),
    **dict.fromkeys(("board", "diploma"), {"numpy"}),
    **dict.fromkeys(("explain", "camera", "ovic"), {"numpy", "PIL"}),
    "rescore": {"numpy", "pebble", "tqdm"},
}

POWER = {
    "selftest": {"tqdm"},
    **dict.fromkeys(("range", "record", "rescue", "run"), {"numpy", "tqdm"}),
    **dict.fromkeys(("audit", "plot", "ptd", "mark"), {"numpy"}),
}


@cache
def loaded_by(module: str) -> frozenset[str]:
    """Return what a module of ours imports as soon as it is imported itself."""
    path = module.replace(".", "/")
    tree = sources().get(f"{path}.py") or sources()[f"{path}/__init__.py"]
    found = {name for node in _at_once(tree.body) for _, name in imports(node, modules())}
    # A module's packages come before it.
    return frozenset(found) | {module[:at] for at, sign in enumerate(module) if sign == "."}


def _at_once(nodes: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the imports that run with the module: not those for types, nor those in functions."""
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from _at_once(node.body)
        elif isinstance(node, ast.Try):
            yield from _at_once(node.body)


def heavy_of(module: str) -> dict[str, str]:
    """Return each large library that a module loads, with the modules on the way to it."""
    ways, waiting = {module: module}, deque([module])
    found: dict[str, str] = {}
    while waiting:
        at = waiting.popleft()
        for name in loaded_by(at):
            if name in modules() and name not in ways:
                ways[name] = f"{ways[at]} → {name}"
                waiting.append(name)
            elif name.partition(".")[0] in HEAVY:
                found.setdefault(name.partition(".")[0], ways[at])
    return found


def unwanted(module: str, allowed: set[str]) -> list[str]:
    """Return a line for each large library beyond those that are allowed."""
    heavy = heavy_of(module)
    return [f"{library}: {heavy[library]}" for library in sorted(heavy.keys() - allowed)]


@pytest.mark.parametrize("name", all_programs())
def test_a_program_loads_what_it_uses(name: str) -> None:
    """A server brings its web framework, and what draws or signs comes when it is used."""
    module = all_programs()[name].run.name.partition(":")[0]
    assert [] == unwanted(module, PROGRAMS[name])


@pytest.mark.parametrize("name", [name for name, _, _ in cli.all_commands()])
def test_a_command_loads_what_it_uses(name: str) -> None:
    """A command that only asks the database loads no large library, and no command a server."""
    home = {name: home for name, _, home in cli.all_commands()}[name]
    assert [] == unwanted(home, COMMANDS.get(name, set()))


@pytest.mark.parametrize("name", power_cli.COMMANDS)
def test_a_command_of_the_meter_loads_what_it_uses(name: str) -> None:
    """A command that only speaks to a meter loads no large library, its transport apart."""
    assert [] == unwanted(f"power.commands.{name}", POWER.get(name, set()))


def test_the_command_lines_themselves_load_nothing_large() -> None:
    """The list of commands, and what starts each program, load no large library."""
    started = ("referee.cli", "power.cli", "referee.commands.process")
    assert {} == {name: told for name in started if (told := heavy_of(name))}


def test_the_walk_sees_what_python_loads() -> None:
    """In a real process, too, help for teams loads none of these, and opens nothing that does."""
    code = (
        "import sys; from referee.cli import main\n"
        "try: main(['team', '--help'])\n"
        f"finally: sys.exit(' '.join(sys.modules.keys() & {set(HEAVY)!r}) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=180
    )
    assert (0, "") == (done.returncode, done.stderr)
    assert "usage: referee team" in done.stdout
