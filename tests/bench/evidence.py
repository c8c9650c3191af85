# SPDX-License-Identifier: Apache-2.0
"""Export and verify a bundle at full size: 20,000 images, a million detections.

Each number runs in a process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from referee.formats.hashed_reads import HashedReads
from referee.formats.number_text import detection_rows
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.verify import verify_bundle
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.service.setup.signing_key import ensure_signing_key
from referee.store.database import Database
from referee.store.images import (
    ImageEntry,
    InputFile,
    Manifest,
    note_material,
    replace_manifest,
)
from tests.bench.scoring_data import generate, write_files
from tests.support.contests import write_config
from tests.support.fakes import FakeClock
from tests.support.played_sessions import play


def run() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begun = time.monotonic()
        make(folder)
        print(f"made the contest in {time.monotonic() - begun:.1f} s")
        for what in ("export", "verify"):
            told = _alone(what, folder)
            print(
                f"{what} {told['seconds']:.2f} s ({told['cpu']:.2f} s of processors), "
                f"{told['more_mib']:.0f} MiB of memory"
            )
        print(f"file {(folder / 'bundle.zip').stat().st_size / 1e6:.1f} MB")


def make(folder: Path, detections: int = 1_000_000) -> None:
    """Play and score a session whose detections have all digits, one answer for each image."""
    truth, found = generate(detections)
    write_files(folder, truth, found.select(slice(0, 1)))
    config = load_config(write_config(folder, mode="event", seconds=20, shuffle=False))
    config.storage.folder.mkdir(parents=True)
    contest = _without_pictures(config, truth)
    chance = np.random.default_rng(2)
    found.confidence[:] += chance.random(len(found)) * 1e-6
    found.box[:] += chance.random(found.box.shape) * 1e-2
    starts = np.searchsorted(found.image_id, truth.image_ids)
    ends = np.searchsorted(found.image_id, truth.image_ids, side="right")
    posts = [
        list(detection_rows(found.select(slice(start, end))))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    play(contest, shuffled=False, posts=posts)
    contest.database.close()


def _without_pictures(config, truth):
    """Open a contest whose manifest names images that no folder has."""
    database = Database(config.database)
    database.migrate()
    entries = tuple(
        ImageEntry(n, n, f"{n}.jpg", "image/jpeg", 9, 1, "0" * 64, 500, 375)
        for n in truth.image_ids.tolist()
    )
    names = {n: str(n) for n in truth.class_ids.tolist()}
    path = config.images.ground_truth
    inputs = {"ground_truth": InputFile(str(path), HashedReads().sha256_of(path))}
    with database.write() as connection:
        replace_manifest(connection, Manifest(entries, names, inputs))
        note_material(connection, config.path.read_text(encoding="utf-8"))
    database.close()
    ensure_signing_key(config.storage.folder, config.path)
    return open_contest(config, FakeClock())


def _alone(what: str, folder: Path) -> dict[str, float]:
    """Run one measurement in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.evidence", what, str(folder)],
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def _verify(folder: Path) -> None:
    key = folder / "signing.pub"
    found = verify_bundle(folder / "bundle.zip", folder / "truth.json", public_keys=[key])
    if found:
        raise SystemExit(f"the bundle does not hold: {found[:3]}")


def _export(folder: Path) -> None:
    contest = open_contest(load_config(folder / "contest.toml"), FakeClock())
    write_bundle(contest, 1, folder / "bundle.zip")
    contest.database.close()


def _peak_kib() -> int:
    """Return this process's peak of memory; that of getrusage may be the parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    before = _peak_kib()
    begun_s, begun_cpu_s = time.monotonic(), time.process_time()
    {"export": _export, "verify": _verify}[sys.argv[1]](Path(sys.argv[2]))
    print(
        json.dumps(
            {
                "seconds": time.monotonic() - begun_s,
                "cpu": time.process_time() - begun_cpu_s,
                "more_mib": (_peak_kib() - before) / 1024,
            }
        )
    )
