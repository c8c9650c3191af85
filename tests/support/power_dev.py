# SPDX-License-Identifier: Apache-2.0
"""A rehearsal with MLCommons' own programs: server, client and checker of a checkout, unmodified.

The environment variable POWER_DEV names the checkout of the repository mlcommons/power-dev.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.ports import free_port

VARIABLE = "POWER_DEV"
_LONGEST_S = 600
# `power_begin` and `power_end` stand in each line that LoadGen writes about the measured time.
_WORKLOAD = """\
import datetime, pathlib, sys, time

def line(key):
    now = datetime.datetime.now(datetime.timezone.utc)
    return f":::MLLOG {key} {now:%m-%d-%Y %H:%M:%S.%f}\\n"

folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
text = line("power_begin")
time.sleep(float(sys.argv[2]))
(folder / "mlperf_log_detail.txt").write_text(text + line("power_end"))
(folder / "mlperf_log_summary.txt").write_text("a workload of nothing\\n")
"""
_CONFIGURATION = """\
[server]
ntpServer: {ntp}
listen: 127.0.0.1 {listen}

[ptd]
ptd: {ptd}
analyzerCount: 1

[analyzer1]
networkPort: {port}
deviceType: 49
interfaceFlag: -n
devicePort: 127.0.0.1,{meter}
"""
_CHECKED = re.compile(r"^\w+:main:\[(?P<mark>[ x])\] (?P<name>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Rehearsal:
    """What a rehearsal left: its folder, what the programs printed, and the checker's items.

    `checks` maps each item of `compliance/check.py` to whether it passed.
    """

    folder: Path
    server: str
    client: str
    client_code: int
    checker: str
    checks: dict[str, bool]


def checkout() -> Path | None:
    """Return the checkout that the environment names, None without one."""
    named = os.environ.get(VARIABLE)
    path = Path(named) if named else None
    there = path is not None and (path / "ptd_client_server" / "server.py").is_file()
    return path if there else None


def ptd_script() -> Path:
    """Return the installed script `ptd`."""
    return Path(sys.executable).with_name("ptd")


def rehearse(
    source: Path, folder: Path, meter_port: int, ntp: str, *, debug: bool, seconds: float
) -> Rehearsal:
    """Run ranging and testing with a workload of so many seconds, and then the checker.

    `debug` shortens the server's four waits of 10 s to 0.5 s each; the checker objects to that.
    `meter_port` is that of an emulator on loopback.
    """
    listen, port = free_port(), free_port()
    (folder / "workload.py").write_text(_WORKLOAD)
    (folder / "server.conf").write_text(
        _CONFIGURATION.format(ntp=ntp, listen=listen, ptd=ptd_script(), port=port, meter=meter_port)
    )
    environment = {**os.environ, "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"MLPP_DEBUG": "1"} if debug else {}
    programs = source / "ptd_client_server"
    printed = folder / "server.txt"
    with printed.open("wb") as out:
        server = subprocess.Popen(
            [sys.executable, str(programs / "server.py"), "-c", "server.conf"],
            cwd=folder,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
        )
        try:
            _await_listener(printed, server)
            logs = folder / "loadgen"
            client = subprocess.run(
                [
                    *(sys.executable, str(programs / "client.py")),
                    *("--addr", "127.0.0.1", "--port", str(listen), "--ntp", ntp),
                    *("--run-workload", f"{sys.executable} workload.py {logs} {seconds}"),
                    *("--loadgen-logs", str(logs), "--output", str(folder / "out")),
                    *("--label", "rehearsal", "--stop-server"),
                ],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=_LONGEST_S,
                env=environment,
            )
            server.wait(_LONGEST_S)
        finally:
            server.kill()
            server.wait()
    session = next((folder / "out").glob("*_rehearsal"), folder / "out")
    checker = subprocess.run(
        [sys.executable, str(source / "compliance" / "check.py"), str(session)],
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        env=environment,
    )
    said = checker.stdout + checker.stderr
    return Rehearsal(
        folder=session,
        server=printed.read_text(errors="replace"),
        client=client.stdout + client.stderr,
        client_code=client.returncode,
        checker=said,
        checks={found["name"]: found["mark"] == "x" for found in _CHECKED.finditer(said)},
    )


def _await_listener(printed: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server says that it accepts clients; raise if it ends before."""
    while b"Ready to accept connections" not in printed.read_bytes():
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
        text = printed.read_text(errors="replace")
        raise RuntimeError(f"the server ended with code {process.returncode}:\n{text}")
