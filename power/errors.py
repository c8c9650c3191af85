# SPDX-License-Identifier: Apache-2.0
"""The meter's errors: one tree, so that a caller can tell what to do about each.

    MeterError
    ├── MeterUnreachable    no link, or the link was lost: call `attach` again later
    │   └── MeterSilent     the link stands, but no answer came within the time-out
    ├── MeterMismatch       something else answers than a supported meter
    ├── MeterBusy           an integration runs, or another client holds the only connection
    ├── MeterRefused        the meter refused a command or changed a setting (`code`, `text`)
    └── MeterReplyError     an answer that cannot be understood; never turned into a number

A message is one sentence: what is wrong, and what to do. What could destroy an energy is no part of
the message: `MeterError.remedy` has it.
"""

from __future__ import annotations

from typing import Self

SWITCH_OFF = "if no integration has to be kept, switch the meter off and on"
"""A remedy for a meter that is stuck; it destroys the energy that the meter holds."""


class MeterError(Exception):
    """The root of everything that `power` raises on purpose about a meter.

    `remedy` is what may be done only while the meter holds no energy that somebody needs. The
    error's own text never contains it.
    """

    remedy = ""

    def with_remedy(self, remedy: str) -> Self:
        """Return this error with a remedy."""
        self.remedy = remedy
        return self

    def whole_text(self) -> str:
        """Return the text and the remedy, for somebody who knows what the meter holds."""
        return f"{self}; {self.remedy}" if self.remedy else str(self)


class MeterUnreachable(MeterError):
    """Report that there is no link to the meter: refused, lost, or never found."""


class MeterSilent(MeterUnreachable):
    """Report that a question was not answered in time; the answer may still come, so resync."""


class MeterMismatch(MeterError):
    """Report that an instrument answers which this driver must not drive."""


class MeterBusy(MeterError):
    """Report that somebody else uses the meter: an integration runs or a client is connected."""


class MeterReplyError(MeterError):
    """Report an answer that does not fit the question."""


class MeterRefused(MeterError):
    """Report that the meter did not do what it was told.

    `code` and `text` are the entry of the meter's error queue (IM WT310E-17EN, pages App-1 to
    App-4); code 0 means that the queue was empty and the read-back showed another value.
    """

    def __init__(self, message: str, code: int = 0, text: str = "") -> None:
        super().__init__(message, code, text)
        self.code = code
        self.text = text

    def __str__(self) -> str:
        return str(self.args[0])
