# SPDX-License-Identifier: Apache-2.0
"""Coverage-guided inputs to each parser: only its documented errors may come out, and soon.

It needs atheris: `pip install atheris`. `python -m tests.bench.parsers NAME … --seconds 60`
takes some of the parsers, and `--corpus DIR` keeps what was found interesting.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SECONDS = 30
# A parser gets this much memory and, for one input, this much time.
_MEMORY_MB, _INPUT_S, _LONGEST_BYTES = 1024, 20, 20_000
_STAT = re.compile(r"stat::(\w+):\s+(\d+)")
_COVERED = re.compile(r"cov: (\d+)")


def run(names: list[str] | None = None, seconds: int = SECONDS, corpus: Path | None = None) -> int:
    """Fuzz the parsers one after another, and print a line each; return how many failed."""
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed: pip install atheris")
        return 0
    from tests.bench.parser_targets import targets

    print("parser            inputs  a second   edges   peak MB   slowest s")
    failed = total = 0
    # Most parsers read files: in memory, not on the disk.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as scratch:
        for name, target in targets().items():
            if names and name not in names:
                continue
            folder = (corpus or Path(scratch)) / name
            folder.mkdir(parents=True, exist_ok=True)
            for number, seed in enumerate(target.seeds):
                (folder / f"seed-{number}").write_bytes(seed)
            inputs, bad = _fuzz(name, folder, Path(scratch), seconds)
            total, failed = total + inputs, failed + bad
    print(f"{total} inputs; parsers that failed: {failed}")
    return failed


def _fuzz(name: str, corpus: Path, scratch: Path, seconds: int) -> tuple[int, bool]:
    command = [sys.executable, "-m", "tests.bench.parser_fuzzer", name]
    command += [f"-max_total_time={seconds}", "-print_final_stats=1", f"-timeout={_INPUT_S}"]
    command += [f"-rss_limit_mb={_MEMORY_MB}", f"-max_len={_LONGEST_BYTES}"]
    command += [f"-artifact_prefix={scratch}/{name}-", "-seed=14", str(corpus)]
    environ = os.environ | {"TMPDIR": str(scratch)}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environ)
    stats = {key: int(value) for key, value in _STAT.findall(done.stderr)}
    edges = (_COVERED.findall(done.stderr) or ["0"])[-1]
    inputs = stats.get("number_of_executed_units", 0)
    print(
        f"{name:15} {inputs:8} {stats.get('average_exec_per_sec', 0):9} {edges:>7}"
        f" {stats.get('peak_rss_mb', 0):9} {stats.get('slowest_unit_time_sec', 0):11}",
        flush=True,
    )
    if done.returncode:
        print("\n".join(line for line in done.stderr.splitlines()[-40:] if line.strip()))
        for found in scratch.glob(f"{name}-*"):
            print(f"  the input: {found.read_bytes()[:500]!r}", flush=True)
    return inputs, done.returncode != 0


def main() -> int:
    """Fuzz the named parsers, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="the parsers; without names, all")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for each parser")
    parser.add_argument("--corpus", type=Path, help="a folder that keeps inputs for the next time")
    args = parser.parse_args()
    return int(run(args.names, args.seconds, args.corpus) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
