# SPDX-License-Identifier: Apache-2.0
"""`referee medium`: what the script of the medium checks before it makes an environment.

That pip loads every library, and that the demo then plays without a network, was tried by hand.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from client_sample import client
from referee.cli import main
from referee.commands import medium as medium_command
from referee.commands.medium import install_script, write_sample, write_sums

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
    assert 1 == done.returncode and "already exists" in done.stderr
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
    assert "is not a wheel" in capsys.readouterr().err and not out.exists()


def test_the_sample_event_is_set_up_as_its_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command up to the check runs in a copy of the folder, and the answers have a score."""
    write_sample(tmp_path / "sample", images=5)
    monkeypatch.chdir(tmp_path / "sample")
    page = Path("README.txt").read_text("utf-8")
    typed = [line.split() for line in page.splitlines() if line.startswith("  ")]
    variable, _, value = typed[2][1].partition("=")
    monkeypatch.setenv(variable, value)
    assert ["referee", "check"] == typed[5]
    for words in (typed[1], *typed[3:5]):
        assert 0 == main(words[1:]), capsys.readouterr().err
    assert "Ants" in Path("slips.html").read_text("utf-8")
    named = [name for name in page.split() if name.endswith((".json", ".csv"))]
    assert all(Path(name).is_file() for name in named)
    files = ["--ground-truth", "ground_truth.json", "--detections", "answers.json"]
    assert 0 == main(["score", *files])


def test_the_sample_team_waits_for_nothing_but_a_referee(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The client takes the page's line, with its answers and images, and stays to the end."""
    write_sample(tmp_path / "sample", images=2)
    monkeypatch.chdir(tmp_path / "sample")
    page = Path("README.txt").read_text("utf-8").replace("\\\n", " ")
    (line,) = [line.split() for line in page.splitlines() if "client_sample.client" in line]
    assert "--no-logout" in line, "a session of a second has no VALID energy"
    assert 1 == client.main([*line[3:], "--url", "http://127.0.0.1:1"])
    assert "127.0.0.1" in capsys.readouterr().err


@pytest.fixture
def no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let pip load nothing, beside a site of one page; return the referee's own wheel."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").touch()
    monkeypatch.setattr(medium_command, "_SITE", site)
    monkeypatch.setattr(medium_command, "_load", lambda wheel, out, *where: out.mkdir())
    monkeypatch.setattr(medium_command, "write_sample", partial(write_sample, images=1))
    wheel = tmp_path / WHEEL
    wheel.touch()
    return wheel


def test_sample_and_documents_are_on_the_medium(no_network: Path, tmp_path: Path) -> None:
    """Both lie beside the wheels, and the checksums have them."""
    out = tmp_path / "stick"
    options = ["--wheel", str(no_network), "--python", "3.11", "--machine", "x86_64"]
    assert 0 == main(["medium", str(out), *options])
    sums = (out / "SHA256SUMS").read_text("utf-8")
    assert {"sample/README.txt", "documents/index.html"} <= {
        line.partition("  ")[2] for line in sums.splitlines()
    }
