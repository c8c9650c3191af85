# SPDX-License-Identifier: Apache-2.0
"""Export and verify a bundle at full size: 20,000 images, a million detections.

Each number runs in a process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from referee.core.detections import pack
from referee.service.evidence.bundle import write_bundle
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import open_contest
from referee.store.answers import Answer, insert_answer
from referee.store.database import Database
from referee.store.images import ImageEntry, Manifest, replace_manifest
from referee.store.requests import Request, insert_requests
from referee.store.sessions import create_session, record_event
from tests.bench.scoring_data import generate, write_files
from tests.support.contests import write_config
from tests.support.fakes import FakeClock


def run() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begun = time.monotonic()
        make(folder)
        print(f"made the contest in {time.monotonic() - begun:.1f} s")
        told = _alone("export", folder)
        size_mb = (folder / "bundle.zip").stat().st_size / 1e6
        print(f"export {told['seconds']:.2f} s, {told['more_mib']:.0f} MiB, file {size_mb:.1f} MB")


def make(folder: Path, detections: int = 1_000_000) -> None:
    """Store a session whose detections have all digits, answer by answer."""
    truth, found = generate(detections)
    write_files(folder, truth, found.select(slice(0, 1)))
    config = load_config(write_config(folder, mode="event", seconds=600, shuffle=False))
    config.storage.folder.mkdir(parents=True)
    contest = open_contest_with_images(config, truth)
    chance = np.random.default_rng(2)
    found.confidence[:] += chance.random(len(found)) * 1e-6
    found.box[:] += chance.random(found.box.shape) * 1e-2
    starts = np.searchsorted(found.image_id, truth.image_ids)
    ends = np.searchsorted(found.image_id, truth.image_ids, side="right")
    with contest.database.write() as connection:
        now = contest.clock.now()
        number = create_session(connection, team="ants", length_s=600, order_seed=None, now=now)
        for kind in ("armed", "started"):
            record_event(connection, number, kind, now, actor="x")
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            part = found.select(slice(start, end))
            row = Answer(number, 1.5, "then", False, "csv", "::1", len(part), 0, pack(part))
            insert_answer(connection, row)
        sent = [
            Request(number, 1.0, "then", "GET", "/image", 200, image, 1, 0, 9, 0.5, "::1")
            for image in truth.image_ids.tolist()
        ]
        insert_requests(connection, sent)
        contest.clock.advance(600)
        record_event(connection, number, "ended", contest.clock.now(), actor="x", cause="deadline")
    contest.database.close()


def open_contest_with_images(config, truth):
    """Open a contest whose manifest names images that no folder has."""
    database = Database(config.database)
    database.migrate()
    entries = tuple(
        ImageEntry(n, n, f"{n}.jpg", "image/jpeg", 9, 1, "0" * 64, 500, 375)
        for n in truth.image_ids.tolist()
    )
    names = {n: str(n) for n in truth.class_ids.tolist()}
    with database.write() as connection:
        replace_manifest(connection, Manifest(entries, names, {}))
    database.close()
    return open_contest(config, FakeClock())


def _alone(what: str, folder: Path) -> dict[str, float]:
    """Run one measurement in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.evidence", what, str(folder)],
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


def _export(folder: Path) -> None:
    contest = open_contest(load_config(folder / "contest.toml"), FakeClock())
    write_bundle(contest, 1, folder / "bundle.zip")
    contest.database.close()


if __name__ == "__main__":
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun_s, begun_cpu_s = time.monotonic(), time.process_time()
    {"export": _export}[sys.argv[1]](Path(sys.argv[2]))
    print(
        json.dumps(
            {
                "seconds": time.monotonic() - begun_s,
                "cpu": time.process_time() - begun_cpu_s,
                "more_mib": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
            }
        )
    )
