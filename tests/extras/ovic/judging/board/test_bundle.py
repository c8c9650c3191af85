# SPDX-License-Identifier: Apache-2.0
"""The board gets the very modules that measure here, all of them, and no others."""

from __future__ import annotations

import ast
import configparser
import io
import re
import zipfile
from pathlib import Path

from referee.extras.ovic.judging.board import needs
from referee.extras.ovic.judging.board.bundle import MODULES, agent_zip, start_command

ROOT = Path(__file__).parents[5]
AGENT = "referee.extras.ovic.judging.board.agent"
WORKER = "referee.extras.ovic.judging.worker"


def file_of(module: str) -> Path | None:
    """Return the file of one of the project's modules, or None for a name inside a module."""
    base = ROOT.joinpath(*module.split("."))
    found = [it for it in (base.with_suffix(".py"), base / "__init__.py") if it.is_file()]
    return found[0] if found else None


def imported(path: Path) -> set[str]:
    """Return every module of the referee that a file imports when it runs, with its packages."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not is_for_type_checkers(node)]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.partition(".")[0] == "referee"}


def is_for_type_checkers(node: ast.stmt) -> bool:
    """Tell whether a statement never runs: `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def needed(*modules: str) -> set[str]:
    """Return the paths, without suffix, of all that these modules import, through and through."""
    found: set[Path] = set()
    waiting = set(modules)
    while waiting:
        name = waiting.pop()
        parts = name.split(".")
        for depth in range(1, len(parts) + 1):
            path = file_of(".".join(parts[:depth]))
            if path is not None and path not in found:
                found.add(path)
                waiting |= imported(path)
    return {path.relative_to(ROOT / "referee").with_suffix("").as_posix() for path in found}


def test_the_zip_has_what_the_agent_and_the_worker_import():
    """The list of modules is exactly what a walk through the imports finds."""
    assert needed(AGENT, WORKER, "referee.extras.ovic.judging.board.needs") == set(MODULES)


def test_the_zip_has_the_files_of_this_machine():
    """Each file in the zip is the project's own, byte for byte; the zip is the same each time."""
    with zipfile.ZipFile(io.BytesIO(agent_zip())) as file:
        for name in file.namelist():
            assert (ROOT / name).read_bytes() == file.read(name)
    assert agent_zip() == agent_zip()
    assert len(agent_zip()) < 100_000


def test_an_old_python_can_read_the_first_lines():
    """The file that tells an old Python to be newer has no newer grammar."""
    source = (ROOT / "referee/extras/ovic/judging/board/start.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 4))
    assert "__future__" not in source


def test_the_command_means_the_same_in_every_shell():
    """Between its single quotes the command has no sign that any shell would change."""
    command = start_command("venv/bin/python3")
    python, quoted, end = re.fullmatch(r"([\w/]+) -c '([^']*)'()", command).groups()
    assert ("venv/bin/python3", "") == (python, end)
    assert re.fullmatch(r'[A-Za-z0-9+/=,;(). "_]+', quoted)
    assert start_command("my python; ls").startswith("'my python; ls' -c ")


def test_the_libraries_are_those_of_the_package():
    """The oldest versions on a board are the lower bounds of the installed package."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    text = setup["options"]["install_requires"] + setup["options.extras_require"]["litert"]
    bounds = dict(re.findall(r"^([\w-]+)>=([\d.]+)$", text, re.MULTILINE))
    ours = {name: ".".join(map(str, oldest)) for name, oldest in needs.OLDEST.items()}
    assert ours == {name: bounds[name] for name in ours}


def test_a_missing_or_old_library_is_named_with_the_command():
    """The sentence has each library with the version that is needed and the one found."""
    found = {"ai-edge-litert": None, "numpy": "1.26.4", "pillow": "11.0"}
    text = needs.what_lacks(found)
    assert "ai-edge-litert>=2.0 (found: none), numpy>=2.0 (found: 1.26.4)." in text
    assert text.endswith("-m pip install 'ai-edge-litert>=2.0' 'numpy>=2.0'")
    assert "pillow>=11.0 (found: 10.4)" in needs.what_lacks(found | {"pillow": "10.4"})
    assert needs.what_lacks({"ai-edge-litert": "2.1rc1", "numpy": "2.4.6", "pillow": "11"}) is None
