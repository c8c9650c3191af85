# SPDX-License-Identifier: Apache-2.0
"""A real Dask cluster on loopback: a scheduler and its workers, each a process, all with TLS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography.x509.oid import ExtendedKeyUsageOID

from tests.support.certificates import self_signed
from tests.support.running import eventually


@dataclass(frozen=True)
class DaskCluster:
    """The address of the scheduler, the files of TLS, and the processes."""

    address: str
    certificate: Path
    key: Path
    scheduler: subprocess.Popen
    workers: list[subprocess.Popen]

    @property
    def options(self) -> list[str]:
        """Return the options of a command that uses the cluster."""
        return [
            *("--dask", self.address, "--tls-ca-file", str(self.certificate)),
            *("--tls-cert", str(self.certificate), "--tls-key", str(self.key)),
        ]


@contextmanager
def dask_cluster(folder: Path, workers: int = 2):
    """Run a cluster; one certificate is its authority and everybody's own."""
    both = (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH)
    files = self_signed(folder / "tls", datetime.now(UTC), usages=both)
    told = folder / "scheduler.json"
    tls = ["--tls-ca-file", files.certificate, "--tls-cert", files.certificate]
    common = [*tls, "--tls-key", files.key, "--scheduler-file", told, "--no-dashboard"]
    with ExitStack() as stack:
        loopback = ["--host", "tls://127.0.0.1", "--port", "0"]
        scheduler = _started(stack, folder, "scheduler", [*loopback, *common])
        address = eventually(lambda: _told(told), "the scheduler's address")
        here = ["--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--local-directory", folder]
        running = [_started(stack, folder, "worker", [*here, *common]) for _ in range(workers)]
        yield DaskCluster(address, files.certificate, files.key, scheduler, running)


def _started(stack, folder, what, options):
    log = stack.enter_context((folder / f"{what}.log").open("ab"))
    process = subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{what}", *map(str, options)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        # Workers stay in the folder, and find the package where this process finds it.
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    stack.callback(_stop, process)
    return process


def _stop(process):
    process.kill()
    process.wait()


def _told(path):
    """Return the scheduler's address, or None before it has written it."""
    try:
        return json.loads(path.read_text())["address"]
    except (OSError, ValueError):
        return None
