# SPDX-License-Identifier: Apache-2.0
"""The emulated meter as a whole: identity, settings, registers and measurement."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from power.emulated import SERIAL_PREFIX
from power.emulator.errors import TEXTS, CommandRefused, ErrorQueue, event_bit
from power.emulator.faults import ActiveFaults, ScheduledFault
from power.emulator.load import Load
from power.emulator.measurement import EmulatedMeasurement, Values
from power.emulator.settings import MODELS, Communication, EmulatedModel, EmulatedSettings


def serial_at(resource: str) -> str:
    """Return the serial number of the emulated meter at an address; other addresses have others."""
    return SERIAL_PREFIX + hashlib.sha256(resource.encode()).hexdigest()[:6].upper()


@dataclass(frozen=True)
class Options:
    """The options of the emulated meter: its model, and its behaviour where nobody knows the truth.

    `serial` is the serial number; left out, the program that serves the meter gives it one.
    `identity` replaces the whole `*IDN?` reply. `late_final` shows the final energy one update
    after the end instead of at once. Without `range_items` the firmware lacks the items URANge and
    IRANge. `ranges_while_running` accepts range changes during an integration. `refuse_illegal`
    refuses an illegal value (222) instead of taking the nearest legal one. `profile_from_start`
    restarts the load profile at each integration. `busy_window` says what is lost in the
    `busy_window_s` after START: `commands`, `all`, or nothing (`off`). With `wt200_alone` the
    command mode WT200 knows no commands but its own. `seed` seeds the garbage.
    """

    model: str = "WT310"
    serial: str = ""
    firmware: str = "F1.03"
    identity: str = ""
    late_final: bool = False
    range_items: bool = True
    ranges_while_running: bool = False
    refuse_illegal: bool = False
    profile_from_start: bool = True
    header: bool = True
    verbose: bool = False
    busy_window_s: float = 0.2
    busy_window: str = "commands"
    wt200_alone: bool = False
    seed: int = 0


class Instrument:
    """The state of one meter; the commands of `interpreter.Interpreter` change it.

    It was switched on `on_for_s` ago: a meter that has just been switched on has no values yet.
    Only one thread may use it at a time.
    """

    def __init__(
        self,
        load: Load,
        clock: Callable[[], float],
        options: Options,
        *,
        on_for_s: float = 0.0,
        schedule: Sequence[ScheduledFault] = (),
        act: Callable[[Instrument, ScheduledFault, float], None] | None = None,
    ) -> None:
        if options.model not in MODELS:
            raise ValueError(f"no model {options.model!r}; choose one of {', '.join(MODELS)}")
        self.options = options
        self.serial = options.serial or f"{SERIAL_PREFIX}000000"
        self.clock = clock
        self.model: EmulatedModel = MODELS[options.model]
        self.communication = Communication(
            options.header, options.verbose, command="WT300E" if self.model.e_series else "WT300"
        )
        self.settings = EmulatedSettings(current_range_a=self.model.current_ranges_a[-1])
        self.measurement = EmulatedMeasurement(
            load, self.model, self.settings, clock(), options.profile_from_start, on_for_s
        )
        self.measurement.late_final = options.late_final
        self.errors = ErrorQueue()
        self.messages = True
        self.standard_events = 0x80
        self.standard_enable = 0
        self.service_enable = 0
        self.extended_enable = 0
        self.line_errors = 0
        self.held_values: Values | None = None
        self.panels: dict[int, EmulatedSettings] = {}
        self.busy_until_s = 0.0
        self.faults = ActiveFaults(clock, seed=options.seed)
        self._act = act
        self._due = sorted(
            ((clock() + entry.at_s, entry) for entry in schedule if not entry.after_start),
            key=lambda item: item[0],
        )
        self._after_start = [entry for entry in schedule if entry.after_start]

    @property
    def identity(self) -> str:
        """Return the reply to `*IDN?`; a meter in WT300 mode names the older series (page 8-1)."""
        if self.options.identity:
            return self.options.identity
        name = self.options.model
        if self.model.e_series and self.communication.command == "WT300":
            name = name[:-2] + "HC" if name.endswith("EH") else name.rstrip("E")
        return f"YOKOGAWA,{name},{self.serial},{self.options.firmware}"

    def advance(self) -> None:
        """Advance the measurement to the present, with every scheduled fault at its time."""
        now = self.clock()
        while self._due and self._due[0][0] <= now:
            at_s, entry = self._due.pop(0)
            self.measurement.advance(at_s)
            if self._act is not None:
                self._act(self, entry, at_s)
        self.measurement.advance(now)

    def started(self, at_s: float) -> None:
        """Note the start of an integration; the times of some faults count from it."""
        self._due += [(at_s + entry.at_s, entry) for entry in self._after_start]
        self._due.sort(key=lambda item: item[0])
        self._after_start = []
        deaf = self.faults.take("deaf_start")
        if deaf is not None:
            self.faults.hanging_until_s = at_s + deaf.number("seconds")

    def next_fault_s(self) -> float | None:
        """Return the time of the next scheduled fault, or None if there is none."""
        return self._due[0][0] if self._due else None

    def report(self, code: int) -> None:
        """Put an error into the queue and set its bit in the standard event register."""
        self.errors.add(code)
        self.standard_events |= event_bit(code)

    def next_error(self) -> str:
        """Return the oldest error in the form of `:STATus:ERRor?`."""
        code = self.errors.take()
        return f'{code},"{TEXTS.get(code, "")}"' if self.messages else str(code)

    def take_standard_events(self) -> int:
        """Return the standard event register and clear it."""
        value, self.standard_events = self.standard_events, 0
        return value

    def take_events(self) -> int:
        """Return the extended event register and clear it."""
        value, self.measurement.latched = self.measurement.latched, 0
        return value

    def status_byte(self, message_available: bool) -> int:
        """Return the status byte, as in `*STB?` and a serial poll (page 7-3)."""
        bits = 0
        if len(self.errors):
            bits |= 1 << 2
        if self.measurement.latched & self.extended_enable:
            bits |= 1 << 3
        if message_available:
            bits |= 1 << 4
        if self.standard_events & self.standard_enable:
            bits |= 1 << 5
        if bits & self.service_enable & ~(1 << 6):
            bits |= 1 << 6
        return bits

    def clear_status(self) -> None:
        """Clear registers and queue, as `*CLS` does (page 6-34)."""
        self.standard_events = 0
        self.measurement.latched = 0
        self.errors.clear()

    def restore_defaults(self) -> None:
        """Reset everything except the communication settings, as `*RST` does (page 6-35)."""
        fresh = EmulatedSettings(current_range_a=self.model.current_ranges_a[-1])
        measurement = self.measurement
        if measurement.integrator.running:
            measurement.stop(self.clock())
        measurement.reset()
        self.settings.__dict__.update(fresh.__dict__)
        self.held_values = None
        measurement.restart_updates(self.clock())

    def hold_values(self, on: bool) -> None:
        """Hold the present numeric data, or release them; a second ON holds newer data."""
        self.held_values = self.measurement.values if on else None

    def require_reset(self) -> None:
        """Refuse with 813 unless the integrator is RESET; STOP is not enough."""
        if self.measurement.integrator.state != "RESET":
            raise CommandRefused(813)

    def nearest(self, value: float, legal: tuple[float, ...]) -> float:
        """Return the nearest legal value (page 5-6), or refuse if the options say so."""
        best = min(legal, key=lambda choice: abs(choice - value))
        if self.options.refuse_illegal and abs(best - value) > 1e-6 * best:
            raise CommandRefused(222)
        return best

    def press(self, key: str, at_s: float | None = None) -> None:
        """Press `START`, `STOP` or `RESET` at the front panel; a refusal goes to the queue."""
        if at_s is None:
            at_s = self.clock()
        self.measurement.advance(at_s)
        try:
            if key == "START":
                self.measurement.start(at_s)
                self.started(at_s)
            elif key == "STOP":
                self.measurement.stop(at_s)
            elif key == "RESET":
                self.measurement.reset()
            else:
                raise ValueError(f"no key {key!r}; choose START, STOP or RESET")
        except CommandRefused as refusal:
            self.report(refusal.code)
