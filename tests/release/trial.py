# SPDX-License-Identifier: Apache-2.0
"""A wheel in an empty environment: it installs, its libraries agree, and the demo plays."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from tests.release.build import ROOT, ReleaseError
from tests.support.libraries import FOR_DEVELOPERS

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLAIN_MOST_MIB = 143
"""The room on disk that a contestant's install may take after a demo: 150 MB.

Its own Python and pip are apart. It is installed as the README says, so Python compiles what the
demo uses, and pip nothing.
"""

SETTINGS = (ROOT / "setup.cfg").read_text(encoding="utf-8")

_DEMO_S = "8"


@dataclass(frozen=True)
class Trial:
    """An environment to try: an interpreter, extras of the wheel, newest or lowest libraries."""

    python: str
    extras: str = ""
    lowest: bool = False

    def __str__(self) -> str:
        name = Path(self.python).name + (f" [{self.extras}]" if self.extras else "")
        return f"{name}, {'lowest' if self.lowest else 'newest'} libraries"


def trials() -> Iterator[Trial]:
    """Yield what to try on this machine; the lowest libraries run on the oldest Python alone.

    A library's oldest version is often older than the newest Python.
    """
    found = [path for one in PYTHONS if (path := _interpreter(one))]
    for python in found or [sys.executable]:
        yield Trial(python)
        yield Trial(python, "event")
    yield Trial((found or [sys.executable])[0], "event", lowest=True)


def _interpreter(version: str) -> str | None:
    """Return the path of a Python that runs; a version manager may leave a name that does not."""
    path = shutil.which(f"python{version}")
    if path is None or subprocess.run([path, "-c", ""], capture_output=True).returncode != 0:
        return None
    return path


def users_extras(settings: str) -> list[str]:
    """Return the extras of a `setup.cfg` that a user may install."""
    return sorted({*_parsed(settings)["options.extras_require"]} - FOR_DEVELOPERS)


def required(settings: str, extras: Sequence[str]) -> list[Requirement]:
    """Return what a `setup.cfg` asks for, with these extras."""
    parser = _parsed(settings)
    texts = [parser["options"]["install_requires"]]
    texts += [parser["options.extras_require"][extra] for extra in extras]
    stripped = map(str.strip, "\n".join(texts).splitlines())
    return [Requirement(line) for line in stripped if line and not line.startswith("#")]


def _parsed(settings: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser()
    parser.read_string(settings)
    return parser


def lowest(wanted: Sequence[Requirement]) -> list[str]:
    """Return a constraint for each library: the lowest version that is allowed."""
    return [
        f"{one.name}=={bound.version}"
        for one in wanted
        for bound in one.specifier
        if bound.operator == ">="
    ]


def run_trial(trial: Trial, wheel: Path, commit: str, folder: Path) -> str:
    """Try a wheel; return a sentence with its size, or raise ReleaseError."""
    home = folder / "environment"
    python = home / "bin" / "python"
    _run([trial.python, "-m", "venv", "--without-pip", str(home)], folder)
    what = f"{wheel}[{trial.extras}]" if trial.extras else str(wheel)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    install = [*pip, "install", "--quiet"]
    if not trial.extras:
        install.append("--no-compile")
    if trial.lowest:
        every = users_extras(SETTINGS)
        limits = folder / "constraints.txt"
        limits.write_text("\n".join(lowest(required(SETTINGS, every))))
        install += ["--constraint", str(limits)]
        # Those of the other extras are large: that they fit together is found without them.
        _run([*install, "--dry-run", f"{wheel}[{','.join(every)}]"], folder)
    _run([*install, what], folder)
    _run([*pip, "check"], folder)
    referee = str(home / "bin" / "referee")
    told = _run([referee, "--version"], folder)
    if commit[:12] not in told:
        raise ReleaseError(f"{trial}: 'referee --version' says {told!r}, not the commit.")
    played = _demo(referee, folder, charts=bool(trial.extras))
    size = _installed_mib(home)
    if not trial.extras and size > PLAIN_MOST_MIB:
        raise ReleaseError(f"{trial}: {size:.0f} MiB, more than {PLAIN_MOST_MIB}.")
    return f"{size:.0f} MiB, {played}"


def _demo(referee: str, folder: Path, *, charts: bool) -> str:
    """Play the demo outside of the checkout and verify its bundle; return its result."""
    demo = folder / "demo"
    told = json.loads(
        _run([referee, "demo", "--seconds", _DEMO_S, "--out", str(demo), "--json"], folder)
    )
    _run(
        [
            *(referee, "verify", str(demo / "session1.zip")),
            *("--ground-truth", str(demo / "scenes" / "ground_truth.json")),
        ],
        folder,
    )
    drawn = "image/svg+xml" in (demo / "result.html").read_text(encoding="utf-8")
    if drawn != charts:
        raise ReleaseError(f"the demo's page has {'' if drawn else 'no '}charts")
    return f"demo {told['verdict']}, {told['score']:.1f} mAP/Wh, verified"


def _installed_mib(home: Path) -> float:
    """Return the room on disk that was installed into an environment without pip."""
    files = [path for path in (home / "lib").rglob("*") if not path.is_dir()]
    return sum(path.lstat().st_blocks for path in files) * 512 / 2**20


def _run(command: Sequence[str], folder: Path) -> str:
    """Run a program in a folder, as from a shell that knows no other environment."""
    known = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in known}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=1800
    )
    if done.returncode != 0:
        said = f"{done.stdout}{done.stderr}".strip()
        raise ReleaseError(f"{' '.join(command)} ended with {done.returncode}:\n{said}")
    return done.stdout
