# SPDX-License-Identifier: Apache-2.0
"""The wheel holds every file, and works far from the project's tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.running import PATIENCE_S

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAPERS = ("LICENSE", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md")
# An environment in which the checkout is used in place finds each of its modules once more.
WITHOUT_THE_CHECKOUT = """import runpy, sys
sys.meta_path = [it for it in sys.meta_path if "__editable__" not in getattr(it, "__module__", "")]
sys.argv = ["referee", "team", "--help"]
runpy.run_module("referee", run_name="__main__")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel, built from a copy so that no file of an earlier build gets into it."""
    out = tmp_path_factory.mktemp("wheel")
    copy = tmp_path_factory.mktemp("source")
    for name in ("referee", "power", "client_sample", "static"):
        shutil.copytree(
            ROOT / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("setup.cfg", "pyproject.toml", "README.md", *PAPERS):
        shutil.copy(ROOT / name, copy)
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)],
        cwd=copy,
        check=True,
        capture_output=True,
    )
    return next(out.glob("*.whl"))


def test_wheel_holds_pages_schema_and_client(wheel: Path) -> None:
    """The wheel holds every package, and the files that are no Python modules."""
    names = set(zipfile.ZipFile(wheel).namelist())
    pages = [path.relative_to(ROOT) for path in (ROOT / "static").rglob("*") if path.is_file()]
    # `power` stands alone, so it has the page of a recording, and what all pages use once more.
    static = {f"referee/{path}" for path in pages if path.parts[1] != "live"}
    static |= {f"power/{path}" for path in pages if path.parts[1] in ("live", "shared")}
    assert {"referee/static/console/console.html", "power/static/shared/curve.js"} <= static
    sources = {
        str(path.relative_to(ROOT))
        for folder in ("referee", "power", "client_sample")
        for path in (ROOT / folder).rglob("*.py")
    }
    schema = {str(path.relative_to(ROOT)) for path in ROOT.glob("referee/**/migrations/*.sql")}
    assert {name.split("/migrations")[0] for name in schema} == {
        "referee/store",
        "referee/extras/ovic",
    }
    expected = static | sources | schema
    assert expected - names == set()
    about = next(name.partition("/")[0] for name in names if ".dist-info/" in name)
    papers = {f"{about}/licenses/{name}" for name in PAPERS}
    assert papers | {"referee/commit.txt"} <= names


@pytest.mark.parametrize(
    ("path", "safe", "code"),
    [
        pytest.param("{site}", "1", 0, id="in the folder of the start, which is not looked at"),
        pytest.param("{site}", "", 1, id="in the folder of the start"),
        pytest.param("{site}{os.pathsep}{other}", "1", 0, id="installed behind it"),
        pytest.param("{other}{os.pathsep}{site}", "1", 1, id="installed before it"),
    ],
)
def test_beside_another_package_of_the_name_power(
    wheel: Path, tmp_path: Path, path: str, safe: str, code: int
) -> None:
    """The first of two packages on Python's path counts, as the README says; ours is not mixed in.

    Python's own error then names the module that the other one lacks.
    """
    site, other = tmp_path / "site", tmp_path / "other"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    (other / "power").mkdir(parents=True)
    (other / "power" / "__init__.py").write_text("VOLTS = 230\n")
    folders = path.format(site=site, other=other, os=os)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_CHECKOUT],
        cwd=other,
        env=os.environ | {"PYTHONPATH": folders, "PYTHONSAFEPATH": safe},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (code, code == 0) == (done.returncode, "usage: referee team" in done.stdout)
    assert ("No module named 'power." in done.stderr) == (code == 1)


def test_wheel_runs_a_session_elsewhere(wheel: Path, tmp_path: Path) -> None:
    """Unpacked far from the project's tree, the demo plays a session and keeps its evidence.

    It prints mAP, energy, verdict and score.
    """
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "site")
    # As pip does. Otherwise each of the demo's processes compiles all that it loads.
    subprocess.run([sys.executable, "-m", "compileall", "-q", tmp_path / "site"], check=True)
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1"}
    where = subprocess.run(
        [sys.executable, "-c", "import referee; print(referee.__file__)"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert where.startswith(str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "referee", "demo", "--seconds", "3", "--out", str(tmp_path / "out")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    for word in ("images", "detections", "mAP", "energy", "verdict     VALID", "mAP/Wh"):
        assert word in done.stdout
    assert (tmp_path / "out" / "session1.zip").exists()
    assert "<h1>" in (tmp_path / "out" / "result.html").read_text()
    after = done.stdout.partition("Next:\n")[2].splitlines()
    assert ["verify", "explain", "practice"] == [line.split()[1] for line in after]
