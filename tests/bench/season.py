# SPDX-License-Identifier: Apache-2.0
"""A season scored again: one worker, two, two of a Dask cluster with TLS, and one that is killed.

The bundles have 5,000 detections, and some a million, on 20,000 images of 200 classes. Each tenth
set of detections is distinct; the other bundles have its rows in a session of their own, so their
hashes differ. By themselves: python -m tests.bench.season --bundles 2000 --large 100
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from referee.extras.season.bundle_read import read_bundle
from referee.extras.season.choices import RESAMPLES
from referee.extras.season.rows import asked_key, row_line
from referee.extras.season.scored import DrawBlock, joined, measure, row_of
from referee.formats.ground_truth import read_ground_truth
from referee.scoring.ilsvrc import evaluate
from referee.scoring.rules import DEVKIT
from tests.bench.scoring_data import DETECTIONS, generate, write_files
from tests.support.dask_cluster import dask_cluster
from tests.support.running import eventually
from tests.support.season_bundles import images_of, members_of, rows_of, write

SMALL = 5_000
_ALIKE = 10
# Machines of the extrapolation, and the bytes a second of a shared disk behind ten gigabits.
_MACHINES, _DISK_BYTES = 100, 1.2e9


@dataclass(frozen=True)
class Took:
    """The seconds of a run, and its processor time; for a cluster that of the workers too."""

    seconds: float
    cpu_s: float


def run(bundles: int = 100, large: int = 5, folder: Path | None = None) -> None:
    """Make the bundles, score them in each way, and print."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        size, detections = _make(place, bundles, large)
        print(
            f"{bundles} bundles, {large} of them of a million detections: {size / 1e9:.2f} GB,"
            f" {detections / 1e6:.1f} million; load {os.getloadavg()[0]:.1f}",
            flush=True,
        )
        one = _say("one worker", bundles, _rescore(place, "one", "--jobs", "1"))
        two = _say("two workers", bundles, _rescore(place, "two", "--jobs", "2"))
        print(f"two workers are {one.seconds / two.seconds:.2f} times as fast as one", flush=True)
        scheduler_s = _on_a_cluster(place, bundles)
        print(f"a worker is killed after {_kill_in_the_middle(place, bundles)} rows")
        again = _rescore(place, "two", "--jobs", "2")
        print(f"all of it again: {again.seconds:.1f} s, to see that nothing is to do")
        files = [place / f"{name}.jsonl" for name in ("one", "two", "cluster", "killed")]
        same = len({path.read_bytes() for path in files}) == 1
        print(f"the four files are {'the same' if same else 'NOT the same'} bytes", flush=True)
        _parts(place, bundles, large, size, scheduler_s / bundles)


def _say(what: str, bundles: int, took: Took) -> Took:
    print(
        f"{what}: {took.seconds:.1f} s, {bundles / took.seconds:.2f} bundles a second,"
        f" {took.cpu_s:.1f} s of processors; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    return took


def _make(place: Path, bundles: int, large: int) -> tuple[int, int]:
    """Write the ground truth and the bundles; return their bytes and their detections."""
    truth, found = generate()
    write_files(place, truth, found.select(slice(0, 1)))
    images = images_of(truth)
    (place / "hall").mkdir()
    size = total = 0
    for number in range(bundles):
        many = number < large
        if (number if many else number - large) % _ALIKE == 0:
            detections = _varied(found, number, DETECTIONS if many else SMALL)
            rows, mean_ap = rows_of(truth, detections), evaluate(truth, detections).mean_ap
        members = members_of(
            truth,
            detections,
            session=number,
            team=f"team {number % 40}",
            energy_wh=0.4 + number % 17 / 50,
            mean_ap=mean_ap,
            rows=rows,
            images=images,
        )
        size += write(place / f"hall/{number}.zip", members).stat().st_size
        total += len(detections)
    return size, total


def _varied(found, seed, count):
    """Return `count` of the rows with boxes that are moved, and all digits."""
    chance = np.random.default_rng(seed)
    chosen = np.sort(chance.choice(len(found), count, replace=False))
    rows = found.select(chosen)
    rows.box[:] += chance.normal(0, 2, rows.box.shape)
    rows.confidence[:] += chance.random(count) * 1e-6
    return rows


def _command(place: Path, name: str, *options: str) -> list[str]:
    return [
        *(sys.executable, "-m", "referee", "rescore", str(place / "hall"), *options),
        *("--ground-truth", str(place / "truth.json"), "--out", str(place / f"{name}.jsonl")),
    ]


def _rescore(place: Path, name: str, *options: str) -> Took:
    """Run the command, and return what it and its processes took."""
    begun = time.monotonic()
    process = subprocess.Popen(
        _command(place, name, *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"'referee rescore' ended with {process.returncode}")
    return Took(time.monotonic() - begun, used.ru_utime + used.ru_stime)


def _kill_in_the_middle(place: Path, bundles: int) -> int:
    """Kill one of two workers when half of the rows are there; return how many there were."""
    part = place / "killed.jsonl.part"

    def rows() -> int:
        return part.read_bytes().count(b"\n") if part.exists() else 0

    with subprocess.Popen(
        _command(place, "killed", "--jobs", "2"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while rows() < bundles // 2 and process.poll() is None:
            threading.Event().wait(0.02)
        done = rows()
        worker = eventually(lambda: _workers_of(process.pid), "a worker")[0]
        worker.send_signal(signal.SIGKILL)
    if process.returncode:
        raise SystemExit(f"with a killed worker it ended with {process.returncode}")
    return done


def _workers_of(pid: int) -> list[psutil.Process]:
    children = psutil.Process(pid).children()
    return [it for it in children if "spawn_main" in " ".join(it.cmdline())]


def _cpu_s(process: subprocess.Popen) -> float:
    used = psutil.Process(process.pid).cpu_times()
    return used.user + used.system


def _on_a_cluster(place: Path, bundles: int) -> float:
    """Score on a cluster and print; return the processor time of its scheduler."""
    with dask_cluster(place) as cluster:
        before = [_cpu_s(it) for it in (cluster.scheduler, *cluster.workers)]
        took = _rescore(place, "cluster", *cluster.options)
        after = [_cpu_s(it) for it in (cluster.scheduler, *cluster.workers)]
    scheduler_s, *workers_s = (b - a for a, b in zip(before, after, strict=True))
    _say("Dask, two workers, TLS", bundles, Took(took.seconds, took.cpu_s + sum(workers_s)))
    return scheduler_s


def _parts(place: Path, bundles: int, large: int, size: int, scheduler_s: float) -> None:
    """Print the processor time of a bundle of each kind, and what 100 machines would wait for."""
    truth = read_ground_truth(place / "truth.json").truth
    kinds = {"small": (place / f"hall/{large}.zip", bundles - large)}
    if large:
        kinds["large"] = (place / "hall/0.zip", large)
    working_s = rows_s = 0.0
    for kind, (path, count) in kinds.items():
        working, row = _alone(path, truth)
        print(
            f"a {kind} bundle takes a worker {working:.3f} s of a processor, and the command"
            f" {1000 * row:.1f} ms"
        )
        working_s, rows_s = working_s + count * working, rows_s + count * row
    processors = _MACHINES * (os.cpu_count() or 1)
    waits = {
        "the workers' processors": working_s / processors,
        "a shared disk of ten gigabits a second": size / _DISK_BYTES,
        "the command, which makes the rows": rows_s,
        "the scheduler": scheduler_s * bundles,
    }
    print(f"{_MACHINES} machines like this one, {processors} processors, would wait for")
    for what, seconds in sorted(waits.items(), key=lambda it: -it[1]):
        print(f"  {what}: {seconds:.1f} s")


def _alone(path: Path, truth) -> tuple[float, float]:
    """Return the processor time of a bundle's task, and of its row: the least of three each."""
    key = asked_key("", DEVKIT, 0, RESAMPLES)
    tasks, rows = [], []
    for _ in range(3):
        begun = time.process_time()
        bundle = read_bundle(path)
        measured = measure(bundle, truth, DEVKIT, 0, RESAMPLES, DrawBlock(0, RESAMPLES))
        sent = pickle.dumps(measured)
        tasks.append(time.process_time() - begun)
        begun = time.process_time()
        row_line(row_of(key, bundle.sha256, bundle.told, joined([pickle.loads(sent)])))
        rows.append(time.process_time() - begun)
    return min(tasks), min(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundles", type=int, default=2000)
    parser.add_argument("--large", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="where there is room for the bundles")
    given = parser.parse_args()
    run(given.bundles, given.large, given.folder)
