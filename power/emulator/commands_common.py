# SPDX-License-Identifier: Apache-2.0
"""The common commands and COMMunicate:WAIT (pages 6-7 and 6-34 to 6-36)."""

from __future__ import annotations

from collections.abc import Callable

from power.emulator import formats
from power.emulator.commands_input import one
from power.emulator.errors import CommandRefused
from power.emulator.grammar import Pattern, Unit
from power.emulator.instrument import Instrument

WAIT = Pattern.parse(":COMMunicate:WAIT")
COMMON = tuple("*CAL? *CLS *ESE *ESR? *IDN? *OPC *OPT? *RST *SRE *STB? *TRG *TST? *WAI".split())
"""The common commands; those without a question mark that set a register can also be asked."""

# The self-test takes about 6 s (page 6-36), the zero calibration half a minute, as users report.
_SLOW_S = {"*TST": 6.0, "*CAL": 30.0}


def execute(
    meter: Instrument, unit: Unit, status_byte: Callable[[], int]
) -> tuple[str | None, float]:
    """Execute one common command; return its answer, if any, and the seconds that it takes."""
    name = unit.common
    if unit.query:
        if name == "*CAL":
            meter.require_reset()
        return _ask(meter, name, status_byte), _SLOW_S.get(name, 0.0)
    if name == "*RST":
        meter.restore_defaults()
    elif name == "*ESE":
        meter.standard_enable = formats.register(one(unit.data)) & 0xFF
    elif name == "*SRE":
        # Bit 6 is ignored: 239 reads back 175 (page 6-35).
        meter.service_enable = formats.register(one(unit.data)) & 0xBF
    elif name == "*OPC":
        meter.standard_events |= 1
    elif name not in ("*WAI", "*TRG"):
        raise CommandRefused(113)
    return None, 0.0


def _ask(meter: Instrument, name: str, status_byte: Callable[[], int]) -> str:
    answers: dict[str, Callable[[], str]] = {
        "*IDN": lambda: meter.identity,
        "*ESR": lambda: str(meter.take_standard_events()),
        "*ESE": lambda: str(meter.standard_enable),
        "*SRE": lambda: str(meter.service_enable),
        "*STB": lambda: str(status_byte()),
        # There are no overlapped commands: the answer is always 1, at once (page 6-35).
        "*OPC": lambda: "1",
        "*OPT": lambda: "C1,C7,EX2,G5,DA4",
        "*TST": lambda: "0",
        "*CAL": lambda: "0",
    }
    if name not in answers:
        raise CommandRefused(113)
    return answers[name]()
