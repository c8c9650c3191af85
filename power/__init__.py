# SPDX-License-Identifier: Apache-2.0
"""Drive a power meter: protocol, SCPI, Yokogawa WT310 driver, transports, recorder, emulator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from power.connect import open_meter

__all__ = ["open_meter"]


def __getattr__(name: str) -> Any:
    """Import `open_meter` at its first use, so that `import power.meter` stays light."""
    if name == "open_meter":
        from power.connect import open_meter

        return open_meter
    raise AttributeError(f"module 'power' has no attribute {name!r}")
