# SPDX-License-Identifier: Apache-2.0
"""The meter's errors, one tree: the class tells a caller what to do.

    MeterError
    ├── MeterUnreachable    no link, or the link was lost: call `attach` again later
    │   └── MeterSilent     the link stands, but no answer came within the time-out
    ├── MeterMismatch       the instrument that answers is not a supported meter
    ├── MeterBusy           an integration runs, or another client holds the only connection
    ├── MeterHolds          it holds a result that nobody has fetched: rescue it, or discard it
    ├── MeterRefused        the meter refused a command or changed a setting (`code`, `text`)
    └── MeterReplyError     an answer that cannot be understood; never turned into a number
        └── MeterRestarted  the device has started again, and has lost how it was set up

A message says what is wrong, and what to do. It never contains advice that could destroy an energy;
such advice is in `MeterError.remedy`.
"""

from __future__ import annotations

from typing import Self

SWITCH_OFF = "if no integration has to be kept, switch the meter off and on"
"""A remedy for a meter that is stuck; it destroys the energy that the meter holds."""

PREPARE_AGAIN = "if no integration has to be kept, stop it and prepare the meter again"
"""A remedy for a meter that somebody has changed; it destroys the energy that the meter holds."""


class MeterError(Exception):
    """The base class of all errors that `power` raises about a meter.

    `remedy` is advice that destroys the energy in the meter. Follow it only if nobody needs that
    energy. The error's own text never contains it.
    """

    remedy = ""

    def with_remedy(self, remedy: str) -> Self:
        """Return this error with a remedy."""
        self.remedy = remedy
        return self

    def whole_text(self) -> str:
        """Return the text and the remedy, for a person who knows whether the energy is needed."""
        return f"{self}; {self.remedy}" if self.remedy else str(self)


class MeterUnreachable(MeterError):
    """No link to the meter: it was refused, lost, or never found."""


class MeterSilent(MeterUnreachable):
    """No answer in time. The answer may still come, so the link must be resynchronised."""


class MeterMismatch(MeterError):
    """The wrong instrument: one that the driver does not support, or another meter than before."""


class MeterBusy(MeterError):
    """A meter in use: an integration runs, or another client is connected."""


class MeterHolds(MeterError):
    """A meter whose integrator holds, or still counts, an energy that nobody has fetched."""


class MeterReplyError(MeterError):
    """An answer that does not fit the question."""


class MeterRestarted(MeterReplyError):
    """A device that has started again since it was opened, so what it was set to is gone."""


class MeterRefused(MeterError):
    """A command that the meter did not carry out.

    `code` and `text` are the entry of the meter's error queue (IM WT310E-17EN, pages App-1 to
    App-4). Code 0 means that the queue was empty but another value was read back.
    """

    def __init__(self, message: str, code: int = 0, text: str = "") -> None:
        super().__init__(message, code, text)
        self.code = code
        self.text = text

    def __str__(self) -> str:
        return str(self.args[0])
