# SPDX-License-Identifier: Apache-2.0
"""What each command and each program loads at its start: no large library that it may never use.

The suite starts hundreds of programs, and a person waits for each `--help`. What a program loads
follows from the imports at the top of its modules, as the syntax trees show them. A command loads
what is large when it runs.
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
    "numpy matplotlib pandas pycocotools PIL cryptography segno flask jinja2 gevent "
    "gunicorn prometheus_client multipart packaging pyvisa pyvisa_py serial usb tqdm "
    "pebble distributed selenium".split()
)
"""Libraries that take 10 ms of processor time or more to load."""

SERVER = {"flask", "gevent", "gunicorn", "numpy"}
PROGRAMS = {
    "desk": SERVER | {"cryptography", "packaging", "prometheus_client"},
    "contest": SERVER,
    "scorer": {"numpy"},
    "scoreboard": SERVER | {"cryptography"},
    "checks": {"numpy", "PIL", "cryptography", "packaging"},
    "ovic": {"numpy", "PIL"},
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


@pytest.mark.parametrize("home", [home for _, _, home in cli.all_commands()])
def test_a_command_loads_nothing_large_before_it_runs(home: str) -> None:
    """A command imports what is large in the function that works with it, so --help is fast."""
    assert {} == heavy_of(home)


@pytest.mark.parametrize("name", power_cli.COMMANDS)
def test_a_command_of_the_meter_loads_nothing_large_before_it_runs(name: str) -> None:
    """The same holds for `python -m power`, which a person asks while a run goes on."""
    assert {} == heavy_of(f"power.commands.{name}")


def test_the_command_lines_themselves_load_nothing_large() -> None:
    """The list of commands, and what starts each program, load no large library."""
    started = ("referee.cli", "power.cli", "referee.commands.process")
    assert {} == {name: told for name in started if (told := heavy_of(name))}


def test_no_help_loads_anything_large() -> None:
    """In a real process, too, the help of all commands and of those below them loads none of these.

    What the functions import that declare the options is seen here, and not by the walk.
    """
    code = (
        "import sys\n"
        "from power import cli as power_cli\n"
        "from referee.cli import whole_parser\n"
        "from tests.test_help import below\n"
        "for whole in (whole_parser(), power_cli.parser_of(power_cli.COMMANDS)):\n"
        "    print(sum(len(parser.format_help()) > 0 for parser in below(whole)))\n"
        f"sys.exit(' '.join(sys.modules.keys() & {set(HEAVY)!r}) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=180
    )
    assert (0, "") == (done.returncode, done.stderr)
    assert all(int(count) > 10 for count in done.stdout.split())


def test_the_list_of_commands_needs_no_database() -> None:
    """The list looks into what the extras bring, so that brings no contest and no SQLite."""
    code = (
        "import sys; from referee import cli; list(cli.all_commands())\n"
        "print('sqlite3' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180)
    assert ("False\n", "") == (done.stdout, done.stderr)
