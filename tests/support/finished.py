# SPDX-License-Identifier: Apache-2.0
"""Commands that run to their end, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.forks import FORKS, environment, forked

_PATIENCE_S = 180.0


def finished(
    module: str, *arguments: str, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m MODULE ARGUMENTS…` to its end."""
    command = [sys.executable, "-m", module, *arguments]
    if not FORKS:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, cwd=cwd, env=environment()
        )
    with tempfile.TemporaryDirectory() as name:
        outputs = (os.path.join(name, "out"), os.path.join(name, "err"))
        process = forked(module, arguments, cwd or Path.cwd(), outputs)
        process.join(_PATIENCE_S)
        if process.is_alive():
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(command, _PATIENCE_S)
        told = [Path(path).read_text() for path in outputs]
    code = process.exitcode
    process.close()
    assert code is not None
    return subprocess.CompletedProcess(command, code, *told)
