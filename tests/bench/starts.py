# SPDX-License-Identifier: Apache-2.0
"""One start of `referee practice` until it is ready, and its end: processor time by program.

The programs are forked from the command, which has loaded their modules. Beside it stands the same
start with each program as a command of its own, as where no fork is safe.
"""

from __future__ import annotations

import resource
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from referee.demo.scenes import generate
from referee.service.observation.processes import processes_under

TIMES = 5
_COMMANDS = "from referee.programs import forked; forked._is_safe = lambda: False\n"
_WAYS = {
    "forked": "",
    "as commands": _COMMANDS,
}
_END_S = 60.0


def run(times: int = TIMES) -> None:
    """Print the median of each program's processor time, in seconds, for both ways."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder, count=10, seed=7)
        # The first start of each way compiles what no program has compiled yet.
        found = {
            way: [_start(folder, code) for _ in range(times + 1)][1:] for way, code in _WAYS.items()
        }
    programs = sorted(
        {program for starts in found.values() for start in starts for program in start}
    )
    programs.sort(key=lambda program: (program.startswith("in all"), program))
    print(f"{'s of processor time':28}" + "".join(f"{way:>14}" for way in _WAYS))
    for program in programs:
        medians = [statistics.median(start[program] for start in found[way]) for way in _WAYS]
        print(f"{program:28}" + "".join(f"{median:14.2f}" for median in medians))


def _start(folder: Path, code: str) -> Counter[str]:
    """Start and stop a rehearsal; return the time of each program until the line `ready`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [
        *(
            sys.executable,
            "-c",
            f"{code}import sys; from referee.cli import main; sys.exit(main())",
        ),
        *("practice", "--images", str(folder / "images"), "--data", str(folder / "data")),
        *("--ground-truth", str(folder / "ground_truth.json")),
        *("--contest", "127.0.0.1:0", "--console", "127.0.0.1:0"),
    ]
    times: Counter[str] = Counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("ready"):
                break
        for process in processes_under(child.pid):
            itself = process.pid == child.pid
            times["practice" if itself else process.program] += process.cpu_s
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=_END_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    times["in all, with the end"] = (
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    )
    return times


if __name__ == "__main__":
    run()
