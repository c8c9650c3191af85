# SPDX-License-Identifier: Apache-2.0
"""The time from SIGTERM to the end of each command, in every fault of the emulated meter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from power.emulator.faults import CATALOGUE

ROOT = Path(__file__).parents[2]

# Faults that would end by themselves before the signal last through it.
LASTING = {
    "silent": "silent count=9999",
    "slow": "slow seconds=5 count=99",
    "garbage": "garbage count=9999",
    "truncate": "truncate count=9999",
    "unplug": "unplug seconds=600",
    "hang": "hang seconds=600",
    "power": "power seconds=600",
    "lose": "lose count=99",
    "refuse": "refuse count=99",
    "overrun": "overrun count=99",
    "no_data": "no_data updates=999 fields=all",
    "over": "over updates=999",
    "negative": "negative updates=999 watts=-12",
}
UPDATE_S = "1"
RANGES = ("--volts", "150", "--amps", "0.1")
COMMANDS = {
    "record": ("--seconds", "600", "--update", UPDATE_S, *RANGES, "--quiet", "--discard"),
    "range": ("--seconds", "600", "--discard"),
    "selftest": ("--seconds", "600", "--discard"),
    "read": ("--count", "600"),
}
# The faults that hold a link, for the other commands.
HOLDING = ("unplug", "hang", "silent", "slow", "garbage", "stale")


@dataclass(frozen=True)
class Ended:
    """How a command ended: after how many seconds, with which code, and its last words."""

    took_s: float
    code: int
    words: str


def play(command: str, fault: str, folder: Path) -> Ended:
    """Run a command, switch a fault on, send SIGTERM a second later, wait for the end."""
    environment = {**os.environ, "POWER_JOURNAL": str(folder / "runs.jsonl")}

    def start(*arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "power", *arguments],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    emulator = start("emulate", "--control", "0")
    try:
        assert emulator.stdout is not None and emulator.stderr is not None
        address = emulator.stderr.readline().split()[1]
        resource = emulator.stdout.readline().split()[1]
        options = COMMANDS[command]
        log = folder / f"{fault}.csv"
        if command == "record":
            options = (*options, "--out", str(log))
        process = start(command, resource, *options)
        _run_on(process, 5.0)
        while command == "record" and not _has_rows(log):
            _run_on(process, 0.1)
        start("fault", address, LASTING.get(fault, fault)).communicate(timeout=60)
        _run_on(process, 1.0)
        begin_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=600)
        took_s = time.monotonic() - begin_s
    finally:
        emulator.terminate()
        emulator.communicate(timeout=20)
    first = (out or err).strip().splitlines()
    return Ended(took_s, process.returncode, first[0][:60] if first else "")


def _has_rows(log: Path) -> bool:
    """Tell whether a recording has begun."""
    return log.exists() and log.read_text().count("\n") > 2


def _run_on(process: subprocess.Popen[str], seconds: float) -> None:
    """Let a command run on for this long, or until it ends by itself."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)


def run() -> None:
    """Print a row for each command and fault, and the longest time of each command."""
    with tempfile.TemporaryDirectory() as name:
        for command in COMMANDS:
            longest = 0.0
            for fault in CATALOGUE if command == "record" else HOLDING:
                ended = play(command, fault, Path(name))
                longest = max(longest, ended.took_s)
                row = f"{command:9} {fault:12} {ended.took_s:6.2f} s  {ended.code:3}  {ended.words}"
                print(row, flush=True)
            print(f"{command:9} {'longest':12} {longest:6.2f} s", flush=True)


if __name__ == "__main__":
    run()
