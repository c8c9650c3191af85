# SPDX-License-Identifier: Apache-2.0
"""A whole rehearsal with the programs of MLCommons' power-dev, and what their checker says.

The environment variable POWER_DEV names a checkout of mlcommons/power-dev. It takes about 80 s, as
power-dev waits four times for 10 s, and root, as power-dev asks for the time at port 123.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support import power_dev
from tests.support.ntp_responder import NtpResponder

ROOT = Path(__file__).parents[2]
WORKLOAD_S = 15.0
LOAD = ("--watts", "23", "--volts", "228", "--power-factor", "0.9", "--model", "WT310E")


def run() -> None:
    """Run ranging and testing on an emulated meter, and print each item of the checker."""
    source = power_dev.checkout()
    if source is None:
        print(f"left out: {power_dev.VARIABLE} names no checkout of mlcommons/power-dev")
        return
    with subprocess.Popen(
        [sys.executable, "-m", "power", "emulate", *LOAD],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as emulator:
        try:
            if emulator.stdout is None:
                raise RuntimeError("the emulator has no output")
            port = int(emulator.stdout.readline().split(",")[1].partition(":")[0])
            _rehearse(source, port)
        finally:
            emulator.terminate()


def _rehearse(source: Path, port: int) -> None:
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, NtpResponder("127.0.0.123") as ntp:
        found = power_dev.rehearse(
            source, Path(folder), port, ntp.host, debug=False, seconds=WORKLOAD_S
        )
        rows = len((found.folder / "run_1" / "spl.txt").read_text().split("Time,")) - 1
    print(f"client's exit code    {found.client_code}")
    print(f"samples of the test   {rows}, with a workload of {WORKLOAD_S:g} s")
    print(f"whole rehearsal       {time.monotonic() - begun_s:.0f} s")
    for name, passed in found.checks.items():
        print(f"{'passed' if passed else 'FAILED'}  {name}")
    if not found.checks or not all(found.checks.values()):
        print(found.checker, found.client[-2000:], sep="\n")
