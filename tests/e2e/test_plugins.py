# SPDX-License-Identifier: Apache-2.0
"""Packages beside the referee, installed by pip into an empty environment, and used in a session.

Each package stands alone in `tests/plugins`: a kind of meter, an answer format, and a guest.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import time
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from power.testing.http_device import serving
from referee.plugins import ANSWER_FORMATS, EXTRAS, METERS, TRACKS
from referee.service.evidence.verify import verify_bundle
from tests.e2e.conftest import Material
from tests.support.installed import PLUGINS, put_metadata
from tests.support.running import get, program, referee, request

pytestmark = pytest.mark.slow

WATTS = 5
TABLE_TYPE = "text/tab-separated-values"
TABLE = "image\tclass\tleft\ttop\tright\tbottom\tconfidence\n1\t58\t10\t20\t110\t220\t0.9\n"
NAMED = {
    ("guest", "chess", "chess-club", "2.0"),
    ("kind of meter", "tasmota", "tasmota-meter", "1.2"),
    ("answer format", "table", "tab-answers", "0.3"),
}
GROUPS = (EXTRAS, TRACKS, ANSWER_FORMATS, METERS)
TRAP = "from pathlib import Path\nPath(__file__).with_name('loaded').touch()\nraise SystemExit(3)\n"


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the referee and the packages, and the folder of its packages."""

    python: Path
    packages: Path

    def pip(self, *words: str) -> None:
        """Run pip on the environment, without a network."""
        command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, "--python", str(self.python), *words], check=True)

    def lay_trap(self) -> Path:
        """Install a package that leaves a file when it is imported, and ends the program."""
        put_metadata(
            *(self.packages, "trap", "6.6"), {group: {"trap": "trap:X"} for group in GROUPS}
        )
        (self.packages / "trap.py").write_text(TRAP)
        return self.packages / "loaded"


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Make an environment that has the referee as this one has it, and install the packages."""
    folder = tmp_path_factory.mktemp("beside")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    (packages,) = (folder / "env").glob("lib/python*/site-packages")
    line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (packages / "referee.pth").write_text(line)
    made = Environment(folder / "env/bin/python", packages)
    shutil.copytree(PLUGINS, folder / "plugins", ignore=shutil.ignore_patterns("__pycache__"))
    for _, _, name, _ in NAMED:
        # As pip builds them, with a third of its processes. The guest is used in place.
        kind = "build_editable" if name == "chess-club" else "build_wheel"
        build = f"from setuptools import build_meta; build_meta.{kind}({str(folder)!r})"
        source = folder / "plugins" / name
        subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    wheels = sorted(map(str, folder.glob("*.whl")))
    made.pip("install", "--no-deps", "--no-index", "--no-compile", *wheels)
    return made


@pytest.fixture(scope="module")
def plug() -> Iterator[str]:
    """Serve a Tasmota plug on loopback; it draws a constant power."""
    begin = time.monotonic()

    def answer(path: str) -> tuple[int, str]:
        kwh = 12 + WATTS * (time.monotonic() - begin) / 3.6e6
        answers = {
            "Status%202": {"StatusFWR": {"Version": "14.2.0(release)", "Hardware": "ESP8266EX"}},
            "Status%205": {"StatusNET": {"Hostname": "plug", "Mac": "5C:CF:7F:00:00:01"}},
            "Status%208": {
                "StatusSNS": {
                    "Time": "2026-11-29T12:00:00",
                    "ENERGY": {
                        "Total": round(kwh, 5),
                        "Power": WATTS,
                        "Voltage": 230,
                        "Current": 0.022,
                    },
                }
            },
            "WattRes": {"WattRes": 0},
            "EnergyRes": {"EnergyRes": 5},
        }
        return 200, json.dumps(answers[path.removeprefix("/cm?cmnd=")])

    with serving(answer) as at:
        yield at


@dataclass(frozen=True)
class Played:
    """An event in which a session was played, and the bundle of that session."""

    config: Path
    ground_truth: Path
    bundle: Path
    row: dict[str, Any]
    pages: dict[str, str]


@pytest.fixture(scope="module")
def played(
    beside: Environment, plug: str, material: Material, tmp_path_factory: pytest.TempPathFactory
) -> Played:
    """Serve a contest whose meter, answers and guest are of the packages; play a session in it."""
    folder = tmp_path_factory.mktemp("event")
    config = folder / "contest.toml"
    config.write_text(
        f"""[contest]
mode = "practice"
seconds = 4
[images]
folder = "{material.images}"
ground_truth = "{material.ground_truth}"
[server]
contest = "127.0.0.1:0"
console = "127.0.0.1:0"
[meter]
resource = "tasmota:{plug}?interval=0.2&accuracy=2"
update_interval_s = 0.25
[chess]
boards = 2
"""
    )
    with program(["serve", "--config", str(config)], folder, beside.python) as running:
        token = request(f"{running.contest}/login", b"username=ants&password=practice", {})[1]
        headers = {"Authorization": f"Bearer {token.decode()}", "Content-Type": TABLE_TYPE}
        status, receipt = request(f"{running.contest}/result", TABLE.encode(), headers)
        assert (200, 1) == (status, json.loads(receipt)["stored"])
        assert (423, b"All boards are taken.\n") == get(f"{running.contest}/chess")
        asked = [f"{running.contest}/help"]
        asked += [f"{running.console}/{page}" for page in ("chess", "static/chess/chess.js")]
        noted = referee("chess", "ants", "bees", "--config", str(config), python=beside.python)
        assert (0, "ants against bees\n") == (noted.returncode, noted.stdout), noted.stderr
        asked += [f"{running.console}/chess/games", f"{running.console}/board"]
        pages = {url.split("/", 3)[3]: get(url)[1].decode() for url in asked}
        row = running.scored()
        export = ("export", "1", "--out", str(folder / "a.zip"), "--config", str(config))
        done = referee(*export, python=beside.python)
        assert 0 == done.returncode, done.stderr
    return Played(config, material.ground_truth, folder / "a.zip", row, pages)


def test_a_session_uses_what_the_packages_bring(played: Played) -> None:
    """The plug measures, answers come as tables, and the guest has its box, pages and routes."""
    assert played.row["energy_wh"] == pytest.approx(WATTS * 4 / 3600, rel=0.05)
    assert "Tasmota" in played.row["reasons"][0]
    pages = played.pages
    assert "tables of tabs" in pages["help"] and "/chess" in pages["help"]
    assert "static/chess/chess.js" in pages["chess"]
    assert "chess/games" in pages["static/chess/chess.js"]
    assert [["ants", "bees"]] == json.loads(pages["chess/games"])
    assert "1 game" in [box["text"] for box in json.loads(pages["board"])["guests"]]


def test_a_bundle_names_the_packages_and_is_verified_without_them(played: Played) -> None:
    """It tells what the session used; where none of the packages is installed, it holds as well."""
    with zipfile.ZipFile(played.bundle) as bundle:
        told = json.loads(bundle.read("session.json"))["plugins"]
    assert NAMED == {tuple(one.values()) for one in told}
    assert [] == verify_bundle(played.bundle, played.ground_truth)


def test_what_comes_from_strangers_imports_no_package(
    beside: Environment, played: Played, tmp_path: Path
) -> None:
    """A package that nobody names is not imported; one that fails when it is used is a sentence."""
    loaded = beside.lay_trap()
    truth = ("--ground-truth", str(played.ground_truth))
    bundle, folder = str(played.bundle), str(played.bundle.parent)
    rows = str(tmp_path / "rows.csv")
    commands = [
        ("verify", bundle, *truth),
        ("rescore", folder, *truth, "--out", rows),
        ("season", "report", rows),
        ("board", "--bundles", folder, "--json"),
        ("coach", bundle, *truth),
    ]
    program = f"from referee.cli import main; print([main(one) for one in {commands}])"
    done = subprocess.run(
        [beside.python, "-c", program], cwd=tmp_path, capture_output=True, text=True
    )
    assert "[0, 0, 0, 0, 0]" == done.stdout.splitlines()[-1], done.stderr
    said = referee("--version", python=beside.python).stdout
    assert not loaded.exists()
    named = referee("verify", bundle, *truth, "--track", "trap", python=beside.python)
    assert loaded.exists() and 2 == named.returncode
    assert "trap 6.6 brings 'trap' (trap:X), which cannot be used: SystemExit" in named.stderr
    listed = referee("check", "--quick", "--config", str(played.config), python=beside.python)
    assert "trap 6.6: guest 'trap': SystemExit: 3" in listed.stdout
    assert "Traceback" not in listed.stderr + named.stderr
    for kind, name, package, version in NAMED:
        for text in (said, listed.stdout):
            assert f"{package} {version}: {kind} '{name}'" in text
