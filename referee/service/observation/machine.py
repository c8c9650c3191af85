# SPDX-License-Identifier: Apache-2.0
"""What a maintainer asks of a machine: versions, system, memory, disk, clock."""

from __future__ import annotations

import os
import platform
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from referee import __version__


def machine_facts(folder: Path) -> dict[str, Any]:
    """Return versions, and what the machine has; `folder` is on the disk that counts."""
    memory, disk = psutil.virtual_memory(), psutil.disk_usage(str(folder))
    return {
        "referee": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "libraries": {
            it.metadata["Name"]: it.version
            for it in sorted(metadata.distributions(), key=lambda it: it.metadata["Name"].lower())
        },
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "memory_bytes": {"all": memory.total, "available": memory.available},
        "disk_bytes": {"all": disk.total, "free": disk.free},
        "time_zone": time.strftime("%Z %z"),
        "running_s": time.monotonic(),
    }
