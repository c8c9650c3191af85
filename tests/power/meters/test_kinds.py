# SPDX-License-Identifier: Apache-2.0
"""Kinds of meters are entry points: those of this project, and that of the page's example."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from power.connect import open_meter
from power.errors import MeterUnreachable
from power.meters.kinds import GROUP, kind_named, kind_names
from power.plugins import Plugin
from power.testing.http_device import serving
from tests.support.installed import own_names

ROOT = Path(__file__).parents[3]
# A stranger's pytest has none of the plugins that are installed here, and each takes time to load.
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
PAGE = (ROOT / "docs" / "meters.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the page's blocks of code in a language."""
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return found


@pytest.mark.parametrize("name", own_names(GROUP))
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
        kind_named("odd", [Plugin(GROUP, "odd", value, "odd-meters", "1.0")])


def test_an_entry_point_that_is_no_kind_is_refused() -> None:
    """An object of another type is told with its type."""
    with pytest.raises(MeterUnreachable, match="odd-meters 1.0 .* is no MeterKind, but a str"):
        kind_named("odd", [Plugin(GROUP, "odd", "power.meters.kinds:GROUP", "odd-meters", "1.0")])


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


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """Install the page's package in a folder, and return that; the meter is one module."""
    (declared,) = blocks("toml")
    module, test = blocks("python")
    project = tomllib.loads(declared)["project"]
    (tmp_path / "bench_meter.py").write_text(module)
    (tmp_path / "test_bench_meter.py").write_text(test)
    installed = tmp_path / "bench_meter-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    points = project["entry-points"][GROUP]
    (installed / "entry_points.txt").write_text(
        f"[{GROUP}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
    )
    return tmp_path


def finished(example: Path, *command: str) -> str:
    """Return what a Python program printed that finds the example's package."""
    path = os.pathsep.join([str(example), str(ROOT)])
    done = subprocess.run(
        [sys.executable, *command],
        cwd=example,
        env={**os.environ, **ALONE, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_example_of_the_page_measures(example: Path) -> None:
    """The page's package, installed beside the project, is found by name, read and recorded."""
    answers = {
        "/about": {"model": "B1", "serial": "7", "version": "1.0", "step_w": 0.1},
        "/power": {"watts": 4.25, "total_wh": 12},
    }
    with serving(lambda path: (200, json.dumps(answers[path]))) as at:
        assert "4.25 W" in finished(example, "-m", "power", "read", f"bench:{at}")
        resource = f"bench:{at}?interval=0.1&accuracy=1"
        options = ("--seconds", "1", "--update", "0.1", "--out", "run.csv", "--json")
        run = json.loads(finished(example, "-m", "power", "record", resource, *options))
    assert run["energy_wh"] == pytest.approx(4.25 / 3600, rel=1e-3)
    assert {it["code"] for it in run["findings"]} >= {"not_official"}
    assert run["uncertainty_wh"] > 0


@pytest.mark.slow
def test_the_example_of_the_page_passes_the_contract(example: Path) -> None:
    """The page's test runs as it stands there, and only the silent device has no bench."""
    said = finished(example, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_bench_meter.py")
    assert "5 passed, 1 skipped" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("counter_step_wh = 1.0", "counter_step_wh = 0.0"),
        ("renewal_s=1.0", "renewal_s=0.0"),
        ('number(shown, "watts")', 'float(str(shown["watts"]))'),
        ('number(about, "step_w")', "0.1"),
    ],
)
def test_the_contract_finds_what_is_easy_to_get_wrong(example: Path, line: str, wrong: str) -> None:
    """Each mistake that the page warns of fails in the contract, though nothing else fails."""
    module = example / "bench_meter.py"
    assert line in module.read_text()
    module.write_text(module.read_text().replace(line, wrong))
    with pytest.raises(AssertionError, match="1 failed"):
        finished(example, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_bench_meter.py")
