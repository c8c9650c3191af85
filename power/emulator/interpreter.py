# SPDX-License-Identifier: Apache-2.0
"""Execute program messages one after another, with the meter's rules for replies (page 5-2)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from power.emulator import (
    commands_common,
    commands_display,
    commands_input,
    commands_list,
    commands_numeric,
    commands_ranges,
    commands_rate,
    commands_store,
    commands_system,
    commands_wt200,
    formats,
)
from power.emulator.command_tree import Tree
from power.emulator.errors import OPC_WITHIN, CommandRefused
from power.emulator.grammar import Unit, parse_unit, split_message
from power.emulator.instrument import Instrument

# Input buffer (page 5-2).
MOST_MESSAGE_BYTES = 1024

COMMANDS = (
    *commands_input.COMMANDS,
    *commands_ranges.COMMANDS,
    *commands_rate.COMMANDS,
    *commands_display.COMMANDS,
    *commands_numeric.COMMANDS,
    *commands_list.COMMANDS,
    *commands_store.COMMANDS,
    *commands_system.COMMANDS,
)
_TREE = Tree(COMMANDS)
_BOTH_TREE = Tree((*commands_wt200.COMMANDS, *COMMANDS))
_WT200_TREE = Tree(
    (
        *commands_wt200.COMMANDS,
        *(command for command in COMMANDS if commands_wt200.in_both(command.pattern.text)),
    )
)
_CLEAR = "*CLS"


@dataclass
class _Message:
    """A message in execution: its units still to be executed, and its answers so far."""

    units: deque[str]
    after_terminator: bool
    level: list[tuple[str, int | None]] = field(default_factory=list)
    replies: list[bytes] = field(default_factory=list)
    begun: bool = False
    indefinite: bool = False


@dataclass(frozen=True)
class _Reply:
    data: bytes
    ready_s: float


class Interpreter:
    """The meter's command processor: it executes messages in order and keeps replies to be read.

    It does nothing by itself. `pump` does everything that is due; `next_event_s` says when to call
    it again. Only one thread may use it at a time.
    """

    def __init__(self, instrument: Instrument) -> None:
        self.instrument = instrument
        self._input: deque[_Message] = deque()
        self._output: _Reply | None = None
        self._wait_mask = 0
        self._pause_until_s = 0.0

    def receive(self, message: bytes) -> None:
        """Take one complete program message, with or without its line feed, and execute it.

        An inner line feed ends a message (page 5-1). An empty message does nothing, but a *CLS
        directly after its terminator also drops the unread reply (page 7-3).
        """
        if self.instrument.faults.take("overrun") is not None:
            self.instrument.report(390)
            return
        if len(message) > MOST_MESSAGE_BYTES:
            self.instrument.report(225)
            return
        parts = message.decode("latin-1").replace("\r", "").split("\n")
        for index, part in enumerate(parts):
            units = split_message(part)
            if units:
                self._input.append(_Message(deque(units), after_terminator=index > 0))
        self.pump()

    def fetch(self, most: int) -> tuple[bytes, bool] | None:
        """Return up to `most` bytes of a ready reply, and whether they include its end."""
        self.pump()
        output = self._output
        if output is None or self.instrument.clock() < output.ready_s:
            return None
        rest = output.data[most:]
        self._output = _Reply(rest, output.ready_s) if rest else None
        return output.data[:most], not rest

    @property
    def answers(self) -> bool:
        """Tell whether a reply waits for somebody to fetch it."""
        return self._output is not None

    def unterminated(self) -> None:
        """Note a read without a preceding question."""
        if self._output is None and not self._input:
            self.instrument.report(420)

    def clear(self) -> None:
        """Execute a device clear: drop input and output, end a WAIT at once (page 2-7)."""
        self.instrument.faults.clear_link()
        self._input.clear()
        self._output = None
        self._wait_mask = 0
        self._pause_until_s = 0.0

    def status_byte(self) -> int:
        """Return the status byte for a serial poll."""
        self.pump()
        return self.instrument.status_byte(self._output is not None)

    def next_event_s(self) -> float:
        """Return the next time at which `pump` may have something to do."""
        times = [self.instrument.measurement.next_update_s()]
        fault_s = self.instrument.next_fault_s()
        if fault_s is not None:
            times.append(fault_s)
        if self._output is not None:
            times.append(self._output.ready_s)
        if self._input:
            times.append(self._pause_until_s)
        now = self.instrument.clock()
        return min((time for time in times if time > now), default=now)

    def pump(self) -> None:
        """Execute everything that can be executed now."""
        self.instrument.advance()
        while self._input and not self._blocked():
            message = self._input[0]
            if not message.begun:
                self._begin(message)
            if message.units:
                self._execute(message)
                self.instrument.advance()
            # The last unit may be a WAIT: then the message ends when the WAIT is over.
            if not message.units and not self._blocked():
                self._input.popleft()
                if message.replies:
                    self._answer(b";".join(message.replies) + b"\n")

    def _blocked(self) -> bool:
        if self._wait_mask:
            if not self.instrument.measurement.latched & self._wait_mask:
                return True
            self._wait_mask = 0
        return self.instrument.clock() < self._pause_until_s

    def _begin(self, message: _Message) -> None:
        """Discard an unread reply, as the meter does at a new message."""
        message.begun = True
        if self._output is None:
            return
        self._output = None
        if not (message.after_terminator and message.units[0].upper() == _CLEAR):
            self.instrument.report(410)

    def _execute(self, message: _Message) -> None:
        try:
            reply = self._unit(parse_unit(message.units.popleft(), message.level), message)
        except CommandRefused as refusal:
            self.instrument.report(refusal.code)
            if 100 <= refusal.code < 200:
                # After a syntax error the rest is not executed, and nothing is answered.
                message.units.clear()
                message.replies.clear()
            return
        if reply is not None:
            message.replies.append(reply)

    def _answer(self, data: bytes) -> None:
        altered, late_s = self.instrument.faults.tamper(data)
        if altered:
            self._output = _Reply(altered, self.instrument.clock() + late_s)

    def _unit(self, unit: Unit, message: _Message) -> bytes | None:
        meter = self.instrument
        if unit.query and message.indefinite:
            # The reply to *IDN? or *OPT? has no definite end, so no other reply may follow (App-3).
            raise CommandRefused(440)
        if unit.common:
            message.indefinite = unit.query and unit.common in ("*IDN", "*OPT")
            wanted = meter.settings.kept.get((":STATus:QENable", 1), "0") == "1"
            if unit.common == "*OPC" and message.units and wanted:
                meter.report(OPC_WITHIN)
            return self._common(unit)
        if self._lost_in_busy_window(unit):
            return None
        if commands_common.WAIT.match(unit.words) is not None:
            self._wait_mask = formats.register(commands_input.one(unit.data))
            return b"1" if unit.query else None
        if not unit.query:
            refused = meter.faults.take("refuse")
            if refused is not None:
                raise CommandRefused(int(refused.number("code")))
            if meter.faults.take("lose") is not None:
                return None
            write, numbers = self._tree.writer(unit)
            write(meter, numbers, unit.data)
            return None
        return self._asked(unit)

    @property
    def _tree(self) -> Tree:
        """Return the commands of the present command mode (page 8-1)."""
        if self.instrument.communication.command != "WT200":
            return _TREE
        return _WT200_TREE if self.instrument.options.wt200_alone else _BOTH_TREE

    def _asked(self, unit: Unit) -> bytes:
        """Answer one setting or a group, whose answer can be sent back as a command (page 5-4).

        A header is full where its group differs from that before.
        """
        parts: list[bytes] = []
        communication = self.instrument.communication
        level = ""
        for command, ask, numbers in self._tree.asked(unit, self.instrument):
            answer = ask(self.instrument, numbers, unit.data)
            data = answer if isinstance(answer, bytes) else answer.encode("ascii")
            if command.headed and communication.header:
                header = command.pattern.header(communication.verbose, numbers)
                above, _, last = header.rpartition(":")
                header, level = (last if parts and above == level else header), above
                data = header.encode("ascii") + b" " + data
            parts.append(data)
        return b";".join(parts)

    def _common(self, unit: Unit) -> bytes | None:
        if unit.common == _CLEAR and not unit.query:
            self.instrument.clear_status()
            return None
        answer, seconds = commands_common.execute(self.instrument, unit, self.status_byte_now)
        if seconds:
            self._pause_until_s = self.instrument.clock() + seconds
        return None if answer is None else answer.encode("ascii")

    def status_byte_now(self) -> int:
        """Return the status byte without executing anything first."""
        return self.instrument.status_byte(self._output is not None)

    def _lost_in_busy_window(self, unit: Unit) -> bool:
        """Tell whether a unit comes so soon after START that the meter loses it."""
        meter = self.instrument
        if meter.clock() >= meter.busy_until_s or meter.options.busy_window == "off":
            return False
        return meter.options.busy_window == "all" or not unit.query
