# SPDX-License-Identifier: Apache-2.0
"""What a benchmark ran on: the machine, the core, and the versions of the libraries."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import NotRequired, TypedDict

from referee import __version__
from referee.errors import InputError

_LIBRARIES = ("ai-edge-litert", "numpy", "pillow")
_CPUINFO = Path("/proc/cpuinfo")
_FREQUENCY = "/sys/devices/system/cpu/cpu{core}/cpufreq/{name}"


def choose_core(wanted: int | None) -> int | None:
    """Return the core to measure on: the wanted one, or the last that this process may use.

    The system's own work prefers the first. On big.LITTLE boards the last core is a big one. Return
    None without pinning (macOS). Raises InputError for a core that is not available.
    """
    if not hasattr(os, "sched_getaffinity"):
        if wanted is not None:
            raise InputError("this system cannot pin a process to a core: leave --core out")
        return None
    cores = sorted(os.sched_getaffinity(0))
    if wanted is not None and wanted not in cores:
        raise InputError(f"core {wanted} is not available: choose one of {_listed(cores)}")
    return cores[-1] if wanted is None else wanted


class JudgingMachine(TypedDict):
    """Machine, core and versions; what is not known is null. A board's have its address."""

    machine: str
    processor: str | None
    cores: int | None
    core: int | None
    governor: str | None
    frequency_khz: str | None
    load: list[float]
    system: str
    python: str
    libraries: dict[str, str]
    board: NotRequired[str]


def machine_facts(core: int | None) -> JudgingMachine:
    """Return what this machine is."""
    return {
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "core": core,
        "governor": _frequency(core, "scaling_governor"),
        "frequency_khz": _frequency(core, "scaling_cur_freq"),
        "load": list(os.getloadavg()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "libraries": {name: importlib.metadata.version(name) for name in _LIBRARIES},
    }


def build_of(facts: JudgingMachine) -> str:
    """Return in words what measured: this program, LiteRT, and the machine of these facts.

    Teams read them, so a board's address is none of them.
    """
    litert = facts.get("libraries", {}).get(_LIBRARIES[0], "of an unknown version")
    machine = facts.get("processor") or facts.get("machine") or "an unknown machine"
    core = [] if facts.get("core") is None else [f"core {facts['core']}"]
    return ", ".join([f"referee {__version__}", f"LiteRT {litert}", machine, *core])


def _processor() -> str | None:
    """Return the processor's name; ARM boards often give none, but the board's model."""
    for path, key in ((_CPUINFO, "model name"), (_CPUINFO, "Model")):
        for line in _text(path).splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    return platform.processor() or None


def _frequency(core: int | None, name: str) -> str | None:
    return _text(Path(_FREQUENCY.format(core=core, name=name))).strip() or None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _listed(cores: list[int]) -> str:
    return ", ".join(map(str, cores))
