# SPDX-License-Identifier: Apache-2.0
"""Write a folder for a USB stick that installs the referee on a laptop without Internet.

  referee medium /media/stick/referee --wheel lpirc_referee-1.0.0-py3-none-any.whl
  referee medium stick --wheel FILE.whl --python 3.12 --machine x86_64 --extra usb

It needs the Internet, and minutes: pip downloads every library for each Python and each machine
that is named, or for all of them. The folder also has the documents as a site, a sample event, and
checksums of all its files. There 'sh install.sh' makes an environment from the folder alone. The
wheel is that of a release, or of 'make release'. The laptop needs Linux and a Python from 3.11 to
3.14 with its venv.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterable
from hashlib import file_digest
from pathlib import Path

from referee.errors import InputError, Unavailable
from referee.programs.terminal import tell_on_terminal
from referee.service.setup.real_path import real_path

_PYTHONS = ("3.11", "3.12", "3.13", "3.14")
_MACHINES = ("x86_64", "aarch64")
# The C library that a laptop has at least: of Debian 12, Ubuntu 22.04 and Raspberry Pi OS 12.
# Wheels for older ones run there, too.
_GLIBC_MINORS = range(35, 16, -1)
_SUMS = "SHA256SUMS"
_SITE = Path(__file__).parents[1] / "site"
_SAMPLE_IMAGES = 100
_SAMPLE_TEAMS = "team,organisation\nAnts,Colony A\nBees,Hive B\nWasps,Nest C\n"

_INSTALL = """\
#!/bin/sh
# Makes an environment with the referee from the files beside this script. It needs no network.
# sh install.sh [FOLDER]: the environment's folder (default: referee in the home folder).
# PYTHON=python3.12 sh install.sh chooses the Python.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-"$HOME/referee"}
python=${PYTHON:-python3}
(cd "$here" && sha256sum --check --quiet --strict SHA256SUMS) ||
    { echo "A file differs from SHA256SUMS. Make the medium again." >&2; exit 1; }
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
case " @PYTHONS@ " in
    *" $version "*) ;;
    *) echo "This medium is for Python @PYTHONS@, and $python is $version." \\
        "Name another: PYTHON=python3.12 sh install.sh" >&2; exit 1 ;;
esac
case " @MACHINES@ " in
    *" $(uname -m) "*) ;;
    *) echo "This medium is for @MACHINES@, and this machine is $(uname -m)." >&2; exit 1 ;;
esac
if [ -e "$folder" ]; then
    echo "$folder already exists. Name a new one: sh install.sh FOLDER" >&2; exit 1
fi
"$python" -m venv "$folder"
PIP_CONFIG_FILE=/dev/null "$folder/bin/python" -m pip --isolated install --quiet \\
    --disable-pip-version-check --no-index --find-links "$here/wheels" '@REQUIREMENT@'
"$folder/bin/referee" --version
echo "Now try it: $folder/bin/referee demo"
echo "The documents: $here/documents/index.html"
echo "A sample event: $here/sample/README.txt"
"""

_SAMPLE = """\
A sample event: @IMAGES@ generated images, their ground truth, three teams, and the answers of a
detector.

Copy this folder to the laptop and work in the copy, with the referee's environment:

  . ~/referee/bin/activate
  referee init event --images images --ground-truth ground_truth.json --seconds 60
  export REFEREE_CONFIG=event/contest.toml
  referee team import teams.csv
  referee team slips --out slips.html
  referee check
  referee serve

The meter is emulated. slips.html has each team's password. On the console, make a session of Ants
and arm it. In another terminal, the team:

  . ~/referee/bin/activate
  python -m client_sample.client --user Ants --password PASSWORD \\
    --answers answers.json --images images --no-logout

It answers all images in a second. Without its logout the session lasts its minute, which the
meter needs for an energy that is VALID. Then 'referee results' has the ranking.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the folder, the wheel, and what the medium is for."""
    add = parser.add_argument
    add("folder", type=Path, metavar="DIR", help="folder to write, which must be new")
    add("--wheel", type=Path, required=True, metavar="FILE.whl", help="the referee's own wheel")
    add(
        "--python",
        action="append",
        choices=_PYTHONS,
        help="a Python that the medium is for; may be repeated (default: all)",
    )
    add(
        "--machine",
        action="append",
        choices=_MACHINES,
        help="a kind of machine; may be repeated (default: all)",
    )
    add(
        "--extra",
        action="append",
        default=[],
        metavar="NAME",
        help="an extra of the wheel beside 'event'; may be repeated",
    )


def run(args: argparse.Namespace) -> int:
    """Write the folder, and say how it is used."""
    if not _is_own_wheel(args.wheel):
        raise InputError(
            f"{args.wheel} is not a wheel of the referee under its own name. A release has one, "
            "and 'make release' makes it."
        )
    if importlib.util.find_spec("pip") is None:
        raise InputError("This environment has no pip, which downloads the libraries.")
    if not (_SITE / "index.html").is_file():
        raise InputError("This installation has no pages: in a checkout 'make docs' makes them.")
    try:
        args.folder.mkdir(parents=True)
    except FileExistsError as error:
        raise InputError(f"{args.folder} already exists. Name a new folder.") from error
    pythons, machines = args.python or _PYTHONS, args.machine or _MACHINES
    extras = ",".join(dict.fromkeys(["event", *args.extra]))
    wheels = args.folder / "wheels"
    for machine in machines:
        for python in pythons:
            tell_on_terminal(f"Python {python} on {machine}…")
            _load(f"{real_path(args.wheel)}[{extras}]", wheels, python, machine)
    shutil.copytree(_SITE.resolve(), args.folder / "documents")
    write_sample(args.folder / "sample")
    script = install_script(args.wheel.name, extras, pythons, machines)
    (args.folder / "install.sh").write_text(script, encoding="utf-8")
    write_sums(args.folder)
    print(f"Wrote {args.folder}. On the laptop: sh install.sh")
    return 0


def _is_own_wheel(path: Path) -> bool:
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        name, *_ = parse_wheel_filename(path.name)
    except InvalidWheelFilename:
        return False
    return name == "lpirc-referee" and path.is_file()


def _load(wheel: str, out: Path, python: str, machine: str) -> None:
    """Load a wheel's libraries for a Python on a machine; raise Unavailable with pip's reason."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary=:all:", "--python-version", python, "--dest", str(out)]
    for minor in _GLIBC_MINORS:
        command += ["--platform", f"manylinux_2_{minor}_{machine}"]
    command += ["--platform", f"manylinux2014_{machine}", wheel]
    done = subprocess.run(command, stderr=subprocess.PIPE, stdout=sys.stderr, text=True)
    if done.returncode != 0:
        why = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise Unavailable(
            f"The libraries for Python {python} on {machine} could not be downloaded: "
            f"{' '.join(why) or done.stderr.strip()} Remove {out.parent} and try again."
        )


def install_script(wheel: str, extras: str, pythons: Iterable[str], machines: Iterable[str]) -> str:
    """Return the text of `install.sh`: this version of the referee, for these machines."""
    from packaging.utils import parse_wheel_filename

    name, version, *_ = parse_wheel_filename(wheel)
    values = {
        "@PYTHONS@": " ".join(pythons),
        "@MACHINES@": " ".join(machines),
        "@REQUIREMENT@": f"{name}[{extras}]=={version}",
    }
    script = _INSTALL
    for mark, text in values.items():
        script = script.replace(mark, text)
    return script


def write_sample(folder: Path, images: int = _SAMPLE_IMAGES) -> None:
    """Write an event to try everything with: images, ground truth, teams, and a team's answers."""
    from referee.demo.imperfect_answers import write_answers
    from referee.demo.scenes import generate

    scenes = generate(folder, count=images)
    write_answers(scenes.ground_truth, folder / "answers.json")
    (folder / "teams.csv").write_text(_SAMPLE_TEAMS, encoding="utf-8")
    text = _SAMPLE.replace("@IMAGES@", str(scenes.count))
    (folder / "README.txt").write_text(text, encoding="utf-8")


def write_sums(folder: Path) -> None:
    """Write the checksums of all files of a folder into it, as `sha256sum --check` reads them."""
    lines = []
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        lines.append(f"{digest}  {path.relative_to(folder).as_posix()}\n")
    (folder / _SUMS).write_text("".join(lines), encoding="utf-8")
