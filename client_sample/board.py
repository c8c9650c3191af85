# SPDX-License-Identifier: Apache-2.0
"""The configuration of this machine as TOML, as a submission to AIoTBench has to state it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from importlib import metadata
from pathlib import Path
from typing import Dict, Mapping

# What boards and what laptops call themselves.
_DEVICE = ("/proc/device-tree/model", "/sys/class/dmi/id/product_name")
_LIBRARIES = ("ai-edge-litert", "torch", "onnxruntime", "numpy", "pillow")


def describe(models: Mapping[str, Path], settings: Mapping[str, object]) -> str:
    """Return the tables [hardware] and [software].

    The software has the system, the versions of the libraries, the settings of the run, and the
    SHA-256 of the model of each workload.
    """
    software = {"system": platform.platform(), "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            software[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    software.update({name: str(value) for name, value in settings.items()})
    for workload, path in models.items():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        software[f"model_{workload}"] = f"{path.name}, SHA-256 {digest}"
    return _table("hardware", _hardware()) + "\n" + _table("software", software)


def _hardware() -> Dict[str, str]:
    hardware = {
        "device": next(filter(None, map(_text, _DEVICE)), "unknown"),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
    }
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        hardware["memory"] = f"{memory / 2**20:.0f} MiB"
    except (AttributeError, ValueError, OSError):  # Not every system tells it.
        pass
    return hardware


def _processor() -> str:
    named = re.search(r"^(?:model name|Hardware)\s*: (.+)$", _text("/proc/cpuinfo"), re.MULTILINE)
    return named[1] if named else platform.processor() or platform.machine()


def _text(path: str) -> str:
    """Return a file's text without the NUL at the end of a device tree's texts, or ''."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    except OSError:
        return ""


def _table(name: str, values: Mapping[str, str]) -> str:
    return "".join([f"[{name}]\n", *(f"{key} = {_quoted(it)}\n" for key, it in values.items())])


def _quoted(text: str) -> str:
    # JSON's texts are TOML's texts, apart from the character DEL and JSON's way to write emoji.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
