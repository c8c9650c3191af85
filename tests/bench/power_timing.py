# SPDX-License-Identifier: Apache-2.0
"""The meter over a real VXI-11 connection on a busy machine: missed updates, jitter, START, STOP.

POWER_BENCH_SECONDS sets the length of the run (default 60), POWER_BENCH_BUSY the number of
processes that keep the cores busy (default 2). Recorder and emulator run at a raised priority where
the system allows it. `record` asks for that too, and a real meter has a processor of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median, quantiles

from power.bench.priority import hurried
from power.bench.recorder import Recorder
from power.connect import open_wt310
from power.meter import IntegrationState, MeterSettings, Reading
from power.wt310.driver import WT310
from tests.support.leave import LEAVE

INTERVAL_S = 0.1
ROUNDS = 40
_SPIN = """
import os
if hasattr(os, "SCHED_OTHER"):
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
while True:
    sum(range(10000))
"""


@contextmanager
def emulated() -> Iterator[str]:
    """Start an emulator process with this process's priority, and yield its resource string."""
    with subprocess.Popen(
        [sys.executable, "-m", "power", "emulate", "--bursts", "2,9,1.37,0.31"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        if process.stdout is None:
            raise RuntimeError("the emulator has no output")
        yield process.stdout.readline().split()[1]
        process.terminate()


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep the cores busy with processes that only count."""
    processes = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def settings(timer_s: int) -> MeterSettings:
    """Return settings at 100 ms on fixed ranges."""
    return MeterSettings(
        timer_s=timer_s, update_interval_s=INTERVAL_S, voltage_range_v=150.0, current_range_a=0.1
    )


def follow(resource: str, seconds: int) -> None:
    """Record at 100 ms and print missed updates and the jitter of the time stamps."""
    before = processor_times()
    with closing(open_wt310(resource)) as meter, tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(meter, clock=time.monotonic, sleep=time.sleep)
        recording = recorder.record(settings(seconds), Path(folder) / "log.csv")
    running = [row for row in recording.readings if row.state is IntegrationState.START]
    # The emulator's updates are whole intervals after START, so each reading's update is known.
    origin_s = recording.start.written_s
    updates = [int((row.monotonic_s - origin_s) / INTERVAL_S) for row in running]
    expected = range(updates[0], seconds * round(1 / INTERVAL_S))
    missed = len(set(expected) - set(updates))
    jitter = [abs(_phase(row, origin_s) - median_phase(running, origin_s)) for row in running]
    print(
        f"  {seconds} s: {len(set(updates))} of {len(expected)} updates read, {missed} missed, "
        f"{len(updates) - len(set(updates))} read twice"
    )
    print(
        f"  jitter of time stamps: median {1e3 * median(jitter):.2f} ms, "
        f"p99 {1e3 * quantiles(jitter, n=100)[98]:.2f} ms, most {1e3 * max(jitter):.2f} ms"
    )
    print(f"  {_used(before, processor_times())}")
    result = recording.result
    print(f"  {result.verdict.value}, {result.energy_wh} Wh, {len(recording.readings)} rows")


def processor_times() -> list[int]:
    """Return the kernel's counts of processor time (proc(5), /proc/stat), empty elsewhere."""
    path = Path("/proc/stat")
    if not path.exists():
        return []
    return [int(field) for field in path.read_text().splitlines()[0].split()[1:9]]


def _used(before: list[int], after: list[int]) -> str:
    """Return the machine's load, and the share that a hypervisor took away."""
    spent = [b - a for a, b in zip(before, after, strict=True)]
    if not spent:
        return "how busy the machine was is not known"
    idle, stolen, total = spent[3] + spent[4], spent[7], sum(spent)
    return f"processors {1 - idle / total:.0%} busy, {stolen / total:.0%} stolen by the hypervisor"


def _phase(row: Reading, origin_s: float) -> float:
    return (row.monotonic_s - origin_s) % INTERVAL_S


def median_phase(running: list[Reading], origin_s: float) -> float:
    """Return the median phase of the readings within an interval."""
    return median(_phase(row, origin_s) for row in running)


def switch(meter: WT310) -> tuple[float, float]:
    """Start and stop once; return the two durations."""
    begin_s = time.monotonic()
    start = meter.start()
    confirmed_s = start.confirmed_s - begin_s
    begin_s = time.monotonic()
    meter.stop()
    stopped_s = time.monotonic() - begin_s
    meter.reset(LEAVE)
    return confirmed_s, stopped_s


def run() -> None:
    """Print all figures."""
    seconds = int(os.environ.get("POWER_BENCH_SECONDS", "60"))
    count = int(os.environ.get("POWER_BENCH_BUSY", "2"))
    with hurried() as priority, busy(count):
        with emulated() as resource:
            print(
                f"at {priority}, recording at {INTERVAL_S} s with {count} busy processes beside it"
            )
            follow(resource, seconds)
        with emulated() as resource, closing(open_wt310(resource)) as meter:
            meter.prepare(settings(60))
            times = [switch(meter) for _ in range(ROUNDS)]
    for name, column in (("START to confirmed", 0), ("STOP to stopped", 1)):
        values = [1e3 * row[column] for row in times]
        print(
            f"  {name:20} median {median(values):7.2f} ms, "
            f"p99 {quantiles(values, n=100)[98]:7.2f} ms ({ROUNDS} times)"
        )
    print("  (START includes the 0.2 s in which the meter may be busy)")


if __name__ == "__main__":
    run()
