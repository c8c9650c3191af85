# SPDX-License-Identifier: Apache-2.0
"""An emulated WT310 at the far end of the wire: other programs cannot tell it from the meter.

It follows the manuals (page numbers are those of IM WT310E-17EN) and recordings of real meters. It
does not follow the driver: neither package imports the other.
"""

from __future__ import annotations

from power.emulator.profile import LoadProfile, energy_wh

__all__ = ["LoadProfile", "energy_wh"]
