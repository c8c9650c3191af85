# SPDX-License-Identifier: Apache-2.0
"""The sections of `contest.toml` about meters and lanes, as `config` has the others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from power.energy.conditions import AmbientConditions
from power.meter import InputMode, MeterSettings
from power.resource import is_official, split_resource
from referee.core.host_port import bracketed
from referee.service.setup.config_values import setting


@dataclass(frozen=True)
class MeterSection:
    """What measures the energy, and how it is set for official runs."""

    resource: str = setting(
        "VISA resource of the meter, for example TCPIP::192.168.1.3::inst0::INSTR, "
        "USB0::0x0B21::0x0025::SERIAL::INSTR or ASRL/dev/ttyUSB0::INSTR; 'emulated' for an "
        "emulator on this machine, 'none' for sessions without energy. Another kind of meter, as "
        "shelly:192.0.2.7, is for rehearsals (docs/meters.md). The settings of a serial "
        "line stand behind it, as ASRL/dev/ttyUSB0::INSTR@38400,7E1,RTS-CTS,LF.",
        "emulated",
        check=split_resource,
    )
    update_interval_s: float = setting(
        "Update interval of the meter in seconds.",
        1.0,
        duration=True,
        choices=(0.1, 0.25, 0.5, 1.0, 2.0, 5.0),
    )
    mode: str = setting(
        "Input mode: RMS, VMEAN or DC. DC on an AC load reads nonsense.",
        "RMS",
        choices=("RMS", "VMEAN", "DC"),
    )
    voltage_range_v: float | None = setting(
        "Fixed voltage range in volts; leave it out for auto-range, which official runs must not "
        "use.",
        None,
        least=0,
    )
    current_range_a: float | None = setting(
        "Fixed current range in amperes; leave it out for auto-range.", None, least=0
    )
    crest_factor: int = setting("Crest factor, 3 or 6.", 3, choices=(3, 6))
    line_filter: bool = setting("Line filter on.", False)
    frequency_filter: bool = setting("Frequency filter on.", False)
    element: str = setting(
        "Measured element of a meter with several: 1, 2 or 3, or SIGMA for the sum of all.",
        "1",
        choices=("1", "2", "3", "SIGMA"),
    )
    ambient_c: float | None = setting(
        "Temperature of the room in °C, for the uncertainty of the energy; left out, it is "
        "reported as not recorded.",
        None,
        least=-50,
        most=100,
    )
    calibrated: date | None = setting(
        "Day of the meter's last calibration, for example 2026-01-31; its limits of error hold for "
        "12 months. Left out, it is reported as not recorded.",
        None,
    )
    allow_unofficial: bool = setting(
        "Arm sessions of an event although a lane's meter is none of the WT300 series (a Shelly, "
        "for example). Their energies are SUSPECT. Rehearsals need no permission.",
        False,
    )
    emulated_load: str = setting(
        "Load of the emulated meter: watts, or steps 'second:watts,…', or a CSV file.", "5.0"
    )

    @property
    def emulated(self) -> bool:
        """Tell whether the referee starts an emulator of its own in place of the meter."""
        return self.resource == "emulated"

    @property
    def other_kind(self) -> bool:
        """Tell whether a meter of another kind than the WT300 series measures, by its resource."""
        return not is_official(self.resource)

    @property
    def old_after_s(self) -> float:
        """Return the age from which on a reading counts as old: its figures no longer change.

        That is three update intervals, and two seconds at least. People stop believing an alarm
        that comes and goes.
        """
        return max(3 * self.update_interval_s, 2.0)

    @property
    def settings(self) -> MeterSettings:
        """Return the settings for the meter, without a timer: each session has its own."""
        return MeterSettings(
            timer_s=0,
            update_interval_s=self.update_interval_s,
            mode=InputMode(self.mode),
            voltage_range_v=self.voltage_range_v,
            current_range_a=self.current_range_a,
            crest_factor=self.crest_factor,
            line_filter=self.line_filter,
            frequency_filter=self.frequency_filter,
            element=self.element,
        )

    @property
    def conditions(self) -> AmbientConditions:
        """Return the answers that the uncertainty of an energy needs from people."""
        return AmbientConditions(self.ambient_c, self.calibrated)


@dataclass(frozen=True)
class LaneKeys:
    """The keys of a table [[lane]] beside those of its meter."""

    name: str = setting("What the pages call the lane, for example left.")
    contest: str = setting("Address and port for the contestants of this lane.", form=bracketed)


@dataclass(frozen=True)
class LaneSection(LaneKeys):
    """A place where a team runs, with a meter and a port of its own, beside other lanes.

    `meter` is the section [meter] with the keys that the lane itself gives in its place.
    """

    meter: MeterSection = MeterSection()


def lane_suffix(number: int) -> str:
    """Return what marks the files and programs of a lane: nothing for lane 1, else its number."""
    return "" if number == 1 else str(number)
