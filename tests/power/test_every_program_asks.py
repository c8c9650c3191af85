# SPDX-License-Identifier: Apache-2.0
"""Nothing is wiped that nobody has fetched: each program that resets a meter, on a real wire."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from power.cli import main
from power.connect import open_wt310
from power.meter import IntegrationState, MeterSettings
from power.resource import SerialLine
from power.wipe_guard import look
from tests.support.emulators import Emulator
from tests.support.leave import LEAVE
from tests.support.syntax import tree_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RANGES = ("--volts", "150", "--amps", "0.1", "--update", "0.1", "--quiet")

# Who may send the command that wipes: the driver, which wants leave, and the walk, whose own
# integrations are nobody's. One step sends it to a running meter, which must refuse it.
SENDERS = {"power/wt310/integrator.py", "power/checklist/tools.py", "power/checklist/alone.py"}
# Who gives leave: the rule, and the constant that is for none.
GIVERS = {"power/wipe_rule.py", "power/meter.py"}


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Yield each module of the product but the emulator's, with its path."""
    for part in ("power", "referee", "client_sample"):
        for path in sorted((ROOT / part).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith("power/emulator/"):
                yield name, tree_of(path)


def test_no_program_can_wipe_without_the_rule() -> None:
    """One function sends the command, it wants leave, and one rule gives it."""
    senders, givers = set(), set()
    for name, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value.upper()
                if text.startswith(("*RST", ":INTEGRATE:RES", ":INTEG:RES")):
                    senders.add(name)
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Leave"):
                givers.add(name)
    assert SENDERS == senders
    assert GIVERS == givers


@pytest.fixture
def meter() -> Iterator[Emulator]:
    """Return a meter that holds a result of a program that nobody knows."""
    emulator = Emulator("--watts", "5")
    with closing(open_wt310(emulator.resource)) as driver:
        driver.prepare(MeterSettings(timer_s=60, update_interval_s=0.1))
        driver.start()
        while not driver.read().integration_s:
            pass
        driver.stop()
    yield emulator
    emulator.end()


def held(emulator: Emulator) -> Any:
    """Return what the meter holds."""
    with closing(open_wt310(emulator.resource)) as driver:
        return look(driver)


def elsewhere(emulator: Emulator) -> str:
    """Return another spelling of the meter's address."""
    return emulator.resource.replace("127.0.0.1", "localhost")


PROGRAMS: dict[str, Callable[[str, Path], list[str]]] = {
    "record": lambda at, folder: ["record", at, "--out", str(folder / "a.csv"), *RANGES],
    "run": lambda at, folder: ["run", at, *RANGES, "--", "true"],
    "range": lambda at, folder: ["range", at, "--seconds", "1"],
    "selftest": lambda at, folder: ["selftest", at],
    "checklist": lambda at, folder: [
        *("selftest", at, "--real", "--report", str(folder / "report.json")),
    ],
    "ptd": lambda at, folder: ["ptd", "-p", "0", "49", at],
}


def test_each_program_refuses(
    meter: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command leaves the result where it is, and names the two ways out."""
    before = held(meter)
    for name, arguments in PROGRAMS.items():
        assert 1 == main(arguments(elsewhere(meter), tmp_path)), name
        said = capsys.readouterr().err
        assert f"power rescue {elsewhere(meter)}" in said and "--discard" in said, name
        assert before == held(meter), name


def test_the_contract_tests_refuse(meter: Emulator) -> None:
    """The tests of a real meter fail before they stop or reset anything, and say why."""
    before = held(meter)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("tests/power/test_contract.py", "-k", "real and stopped", "--meter"),
            elsewhere(meter),
        ],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert 1 == done.returncode, done.stdout
    assert "MeterHolds" in done.stdout and "power rescue" in done.stdout
    assert before == held(meter)


def test_what_was_given_up_is_free_for_all(
    meter: Emulator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`rescue --discard` wipes nothing by itself; then each program may, at any address."""
    before = held(meter)
    assert 0 == main(["rescue", meter.resource, "--discard", "--json"])
    assert before.energy_wh == json.loads(capsys.readouterr().out)["given_up"]["energy_wh"]
    assert before == held(meter)
    assert 0 == main(["range", elsewhere(meter), "--seconds", "1"])
    assert held(meter) is None
    assert 1 == main(["rescue", meter.resource, "--discard"])


def test_a_running_integration_is_not_given_up(
    meter: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--discard` ends nothing: an integration goes on."""
    with closing(open_wt310(meter.resource)) as driver:
        driver.prepare(MeterSettings(timer_s=600, update_interval_s=0.1), LEAVE)
        driver.start()
    assert 1 == main(["rescue", elsewhere(meter), "--discard"])
    assert "--stop" in capsys.readouterr().err
    assert IntegrationState.START is held(meter).state


def test_a_fetched_result_is_free_on_a_serial_line(
    serial_meter: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording on a serial line leaves its meter to the next one, under another spelling."""
    other = f"{serial_meter.resource}@{SerialLine().baud}"
    for name, at in (("a", serial_meter.resource), ("b", other)):
        out = str(tmp_path / f"{name}.csv")
        assert 0 == main(["record", at, "--seconds", "1", "--out", out, *RANGES]), (
            capsys.readouterr().err
        )
    with closing(open_wt310(serial_meter.resource)) as driver:
        driver.prepare(MeterSettings(timer_s=60, update_interval_s=0.1), LEAVE)
        driver.start()
        while not driver.read().integration_s:
            pass
        driver.stop()
    out = str(tmp_path / "c.csv")
    assert 1 == main(["record", other, "--out", out, *RANGES])
    assert "power rescue" in capsys.readouterr().err
