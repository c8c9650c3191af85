# SPDX-License-Identifier: Apache-2.0
"""Kinds of meters are entry points: those of this project, and that of the page's example."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from power.connect import open_meter
from power.errors import MeterUnreachable
from power.meters.kinds import GROUP, kind_named, kind_names

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "meters.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """Return the page's block of code in a language."""
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.parametrize("name", ["ina219", "ina228", "joulescope", "ppk2", "rapl", "shelly"])
def test_each_kind_of_this_project_is_installed_and_on_the_page(name: str) -> None:
    """Each kind has a summary and a syntax that begins with its name, and is on the page."""
    kind = kind_named(name)
    assert name in kind_names()
    assert kind.syntax.startswith(f"{name}:")
    assert f"`{name}:" in PAGE


def test_a_kind_that_nobody_registered_is_a_sentence() -> None:
    """An unknown kind is told with the nearest name and with all names."""
    with pytest.raises(ValueError, match=r"'shely'; did you mean shelly:\? Known are .*rapl"):
        open_meter("shely:192.0.2.7")


@pytest.mark.parametrize("value", ["no_such_package:KIND", "power.meters.kinds:NOTHING"])
def test_a_package_that_is_broken_is_named(value: str) -> None:
    """A kind that cannot be loaded is told with its place."""
    with pytest.raises(MeterUnreachable, match=value):
        kind_named("odd", [EntryPoint("odd", value, GROUP)])


def test_an_entry_point_that_is_no_kind_is_refused() -> None:
    """An object of another type is told with its type."""
    with pytest.raises(MeterUnreachable, match="is no MeterKind, but a str"):
        kind_named("odd", [EntryPoint("odd", "power.meters.kinds:GROUP", GROUP)])


def test_a_kind_imports_its_own_module_alone() -> None:
    """Opening one kind imports no library of another, and listing the names imports none."""
    program = (
        "import sys\n"
        "from power.connect import open_meter\n"
        "from power.meters.kinds import kind_names\n"
        "assert len(kind_names()) >= 6\n"
        "assert not {'power.meters.shelly', 'power.meters.ina'} & set(sys.modules)\n"
        "open_meter('shelly:127.0.0.1')\n"
        "libraries = {'smbus2', 'serial', 'numpy', 'pyvisa', 'pyjoulescope_driver'}\n"
        "assert not {'power.meters.ina', *libraries} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_example_of_the_page_measures(tmp_path: Path) -> None:
    """The page's package, installed beside the project, is found by name and read."""
    project = tomllib.loads(block("toml"))["project"]
    (tmp_path / "bench_meter.py").write_text(block("python"))
    installed = tmp_path / "bench_meter-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"][GROUP]
    (installed / "entry_points.txt").write_text(
        f"[{GROUP}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
    )
    (tmp_path / "watts").write_text("4.25")
    command = [sys.executable, "-m", "power", "read", f"bench:{tmp_path}/watts"]
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert "4.25 W" in done.stdout, done.stderr
