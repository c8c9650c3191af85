# SPDX-License-Identifier: Apache-2.0
"""Drive a power meter: protocol, SCPI, Yokogawa WT310 driver, transports, recorder, emulator."""

from __future__ import annotations

# `python -m power` runs this before it can answer a Ctrl-C, so nothing is imported here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from power.connect import open_meter as open_meter
    from power.logs.frame import read_columns as read_columns
    from power.logs.frame import read_log as read_log

_HOME = {
    "open_meter": "power.connect",
    "read_columns": "power.logs.frame",
    "read_log": "power.logs.frame",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a name at its first use, so that `import power.meter` stays light."""
    if name not in _HOME:
        raise AttributeError(f"module 'power' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    """Return the names of the package, for a notebook's completion."""
    return __all__
