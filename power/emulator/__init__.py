# SPDX-License-Identifier: Apache-2.0
"""Imitate a WT310 below the wire: a process that other programs cannot tell from the meter.

It is written from the manuals (page numbers are those of IM WT310E-17EN) and from recordings, not
from the driver. Neither imports the other.
"""

from __future__ import annotations

from power.emulator.profile import LoadProfile, energy_wh

__all__ = ["LoadProfile", "energy_wh"]
