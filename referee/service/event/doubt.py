# SPDX-License-Identifier: Apache-2.0
"""Why an energy needs somebody's review before it may stand in final results."""

from __future__ import annotations

from referee.service.setup.config import Config
from referee.store.readings import EnergyRecord

EMULATED = "EMULATED"
"""The doubt about an energy that an emulator measured, as far as anybody can tell."""


def doubt_of(config: Config, energy: EnergyRecord) -> str:
    """Return what makes an energy doubtful, SUSPECT, INVALID or EMULATED; '' if nothing does.

    An event whose lanes are all configured as `emulated` is a trial that everybody can see to be
    one, and needs no reviews. As soon as one lane has a real meter, an emulated energy in the same
    ranking is a mistake, or the address of a tunnel. Only a person can tell.
    """
    if energy.verdict != "VALID":
        return energy.verdict
    trial = all(lane.meter.emulated for lane in config.lanes)
    return EMULATED if energy.emulated and not trial else ""
