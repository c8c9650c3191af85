# SPDX-License-Identifier: Apache-2.0
"""`referee medium`: what the script of the medium checks before it makes an environment.

That pip loads every library, and that the demo then plays without a network, was tried by hand:
docs/organisers.md has the figures.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from referee.cli import main
from referee.commands.medium import install_script, write_sums

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
WHEEL = "lpirc_referee-1.0.0-py3-none-any.whl"


def medium(folder: Path, python: str = HERE, machine: str = platform.machine()) -> Path:
    """Return a medium of its script and its checksums alone."""
    (folder / "wheels").mkdir(parents=True)
    (folder / "wheels" / "one two.whl").write_text("a library")
    script = install_script(WHEEL, "event,usb", [python], [machine])
    (folder / "install.sh").write_text(script, encoding="utf-8")
    write_sums(folder)
    return folder


def install(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Run the script of a medium."""
    return subprocess.run(
        ["sh", str(folder / "install.sh"), str(out)],
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=180,
    )


def test_the_script_asks_for_this_version_and_its_extras() -> None:
    """Only the folder's wheels are looked at, and only this version is good."""
    script = install_script(WHEEL, "event,usb", ["3.11", "3.12"], ["x86_64"])
    assert "'lpirc-referee[event,usb]==1.0.0'" in script
    assert '--no-index --find-links "$here/wheels"' in script and "--isolated" in script
    assert "@" not in script.replace('"$@"', "")


@pytest.mark.parametrize(
    ("python", "machine", "text"),
    [
        ("2.9", platform.machine(), f"is for Python 2.9, and {sys.executable} is {HERE}"),
        (HERE, "pdp11", f"is for pdp11, and this machine is {platform.machine()}"),
    ],
)
def test_another_python_or_machine_is_told(
    tmp_path: Path, python: str, machine: str, text: str
) -> None:
    """A laptop that the medium is not for gets a sentence, and no environment."""
    done = install(medium(tmp_path / "a stick", python, machine), tmp_path / "out")
    assert 1 == done.returncode and text in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_file_that_was_changed_is_told(tmp_path: Path) -> None:
    """A byte that the stick has lost keeps the script from installing anything."""
    folder = medium(tmp_path / "a stick")
    (folder / "wheels" / "one two.whl").write_text("a librarx")
    done = install(folder, tmp_path / "out")
    assert 1 == done.returncode and "A file differs from SHA256SUMS" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    """An environment of before is not written into."""
    (tmp_path / "out").mkdir()
    done = install(medium(tmp_path / "a stick"), tmp_path / "out")
    assert 1 == done.returncode and "is there already" in done.stderr
    assert [] == list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("name", [None, "referee.whl", "numpy-2.1.0-py3-none-any.whl"])
def test_what_is_no_wheel_is_refused(
    name: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the referee's own wheel nothing is written."""
    out, wheel = tmp_path / "stick", tmp_path / (name or WHEEL)
    if name is not None:
        wheel.touch()
    assert 2 == main(["medium", str(out), "--wheel", str(wheel)])
    assert "is no wheel" in capsys.readouterr().err and not out.exists()
