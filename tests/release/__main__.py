# SPDX-License-Identifier: Apache-2.0
"""Build a release of the commit, try it, and write it with its components and checksums.

It builds wheel and sdist twice, in two places, and compares the bytes. Each Python from 3.11 to
3.14 that is on this machine gets the wheel in empty environments: plain, with the extra `event`,
and, on the oldest Python, with the lowest version of every library. There the demo is played and
verified. It takes minutes, and an index for the libraries.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

from referee import __version__
from tests.release.build import (
    ROOT,
    ReleaseError,
    Source,
    build_same_twice,
    read_source,
    require_tag,
)
from tests.release.trial import SETTINGS, required, run_trial, trials

SUMS = "SHA256SUMS"


def main() -> int:
    """Make the release; return 1 and say why where it is none."""
    parser = argparse.ArgumentParser(prog="python -m tests.release", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder (default: dist)")
    args = parser.parse_args()
    os.umask(0o022)  # The modes of files are in the wheel.
    try:
        source = read_source()
        print(f"{__version__} of {source.commit[:12]}, {require_tag(source.tags, __version__)}")
        with tempfile.TemporaryDirectory() as name:
            files = _tried(source, Path(name))
            args.out.mkdir(parents=True, exist_ok=True)
            for path in files:
                (args.out / path.name).write_bytes(path.read_bytes())
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Wrote {', '.join(path.name for path in files)} into {args.out}.")
    return 0


def _tried(source: Source, folder: Path) -> list[Path]:
    """Build and try; return the files of the release."""
    files = build_same_twice(source, folder)
    wheel = next(path for path in files if path.suffix == ".whl")
    print("the same bytes, built twice: " + ", ".join(path.name for path in files), flush=True)
    for number, trial in enumerate(trials()):
        place = folder / f"trial{number}"
        place.mkdir()
        print(f"{trial}: ", end="", flush=True)
        print(run_trial(trial, wheel, source.commit, place), flush=True)
        if trial.extras == "event" and not trial.lowest:
            listed = place / "environment" / "bin" / "python"
    files.append(_components(listed, wheel, source.epoch_s))
    sums = folder / SUMS
    sums.write_text("".join(f"{sha256(it.read_bytes()).hexdigest()}  {it.name}\n" for it in files))
    return [*files, sums]


def _components(python: Path, wheel: Path, epoch_s: int) -> Path:
    """Write what an event's environment holds as CycloneDX, checked against its schema."""
    name, version = wheel.name.split("-")[:2]
    out = wheel.with_name(f"{name}-{version}.cdx.json")
    # Of the project itself the program reads no setup.cfg.
    root = wheel.with_name("pyproject.toml")
    needed = json.dumps([str(one) for one in required(SETTINGS, ["event"])])
    root.write_text(
        f'[project]\nname = "lpirc-referee"\nversion = "{version}"\n'
        f'license = "Apache-2.0"\ndependencies = {needed}\n'
    )
    command = [str(Path(sys.executable).parent / "cyclonedx-py"), "environment", str(python)]
    command += ["--pyproject", str(root), "--output-reproducible", "--of", "JSON", "-o", str(out)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch_s)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        raise ReleaseError(f"The components could not be listed:\n{done.stderr}")
    return out


if __name__ == "__main__":
    sys.exit(main())
