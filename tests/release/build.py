# SPDX-License-Identifier: Apache-2.0
"""The wheel and the sdist of a commit: the same commit gives the same bytes."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


class ReleaseError(Exception):
    """What keeps this commit from being a release, in a sentence."""


@dataclass(frozen=True)
class Source:
    """A commit: its full name, when it was made in seconds of Unix, and its tags."""

    commit: str
    epoch_s: int
    tags: tuple[str, ...]


def read_source() -> Source:
    """Return the commit of the checkout; raise ReleaseError if its files differ from it."""
    changed = _git("status", "--porcelain")
    if changed:
        raise ReleaseError(f"These files differ from the commit. Commit them first:\n{changed}")
    commit, epoch = _git("show", "--no-patch", "--format=%H %ct", "HEAD").split()
    return Source(commit, int(epoch), tuple(_git("tag", "--points-at", "HEAD").split()))


def require_tag(tags: tuple[str, ...], version: str) -> str:
    """Return a sentence about the tag of a version; raise ReleaseError for that of another one."""
    versions = [tag for tag in tags if tag.startswith("v")]
    if not versions:
        return f"no tag: a trial. To release it: git tag v{version}"
    if f"v{version}" not in versions:
        raise ReleaseError(
            f"The tag {versions[0]} is not v{version}, which referee/__init__.py says."
        )
    return f"tag v{version}"


def build_same_twice(source: Source, folder: Path) -> list[Path]:
    """Build wheel and sdist in two places; return them, or raise ReleaseError if they differ."""
    first, second = (_built(source, folder / name) for name in ("first", "second place"))
    for one, other in zip(first, second, strict=True):
        if (one.name, one.read_bytes()) != (other.name, other.read_bytes()):
            raise ReleaseError(f"{one} and {other} differ, from one commit.")
    return first


def _built(source: Source, folder: Path) -> list[Path]:
    """Return the sdist and the wheel, the latter from the unpacked former."""
    made = folder / "dist"
    # Whatever lies in the checkout beside the commit's files stays out.
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "-c", "tar.umask=0022", "archive", source.commit],
        capture_output=True,
        check=True,
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as packed:
        packed.extractall(folder / "source", filter="data")
    _make_site(folder / "source", source.epoch_s)
    done = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(made), str(folder / "source")],
        capture_output=True,
        text=True,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(source.epoch_s)},
    )
    if done.returncode != 0:
        raise ReleaseError(f"The build failed:\n{done.stdout}{done.stderr}")
    built = sorted(made.iterdir())
    for path in built:
        if path.suffix == ".gz":
            path.write_bytes(steady(path.read_bytes(), source.epoch_s))
    return built


def _make_site(tree: Path, epoch_s: int) -> None:
    """Make the site of the documents, which the wheel takes along."""
    # This environment has what `make docs` would install into the tree's own one.
    binaries = f"BIN={Path(sys.executable).parent}"
    done = subprocess.run(
        ["make", "docs", "--old-file=.venv/docs", binaries],
        cwd=tree,
        capture_output=True,
        text=True,
        env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch_s)},
    )
    if done.returncode != 0:
        raise ReleaseError(f"The site of the documents failed:\n{done.stdout}{done.stderr}")


def steady(sdist: bytes, epoch_s: int) -> bytes:
    """Return an sdist without the hour, the user and the order of its making."""
    tar = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(sdist)) as packed,
        tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as ours,
    ):
        for member in sorted(packed.getmembers(), key=lambda it: it.name):
            member.mtime, member.pax_headers = epoch_s, {}
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            ours.addfile(member, packed.extractfile(member) if member.isfile() else None)
    return gzip.compress(tar.getvalue(), mtime=epoch_s)


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *words], capture_output=True, check=True, text=True
    )
    return done.stdout.strip()
