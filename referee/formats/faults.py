# SPDX-License-Identifier: Apache-2.0
"""The faults of a text that somebody wrote, collected and told at once in printable words."""

from __future__ import annotations

from referee.core.written_text import JOINERS, storable
from referee.errors import RefereeError

_MOST_LISTED = 20
_SHOWN = 40


class FormatError(RefereeError):
    """The error of a text that cannot be read, with its faults.

    The error's string joins the faults. It has no capital and no full stop, so a caller can put
    the text's origin before it: `file.csv, line 3, xmin: 'x' is not a number`.
    """

    def __init__(self, faults: tuple[str, ...], unlisted: int = 0) -> None:
        super().__init__(faults, unlisted)
        self.faults = faults
        self.unlisted = unlisted

    def __str__(self) -> str:
        more = f"; and {self.unlisted} more" if self.unlisted else ""
        return "; ".join(self.faults) + more


class Faults:
    """The faults of one text: it keeps the first 20 and counts the others."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._count = 0

    def add(self, text: str) -> None:
        """Note one fault."""
        self._count += 1
        if len(self._texts) < _MOST_LISTED:
            self._texts.append(text)

    def error(self) -> FormatError:
        """Return the error with the faults so far."""
        return FormatError(tuple(self._texts), self._count - len(self._texts))

    def raise_if_any(self) -> None:
        """Raise `FormatError` when a fault was noted."""
        if self._texts:
            raise self.error()


def harmless(text: str) -> str:
    """Return a stranger's text without what could harm a terminal; halves become escapes."""
    return "".join(c if c.isprintable() or c in JOINERS else "?" for c in storable(text))


def quoted(text: str) -> str:
    """Return the beginning of a text in quotes, with escapes for unprintable characters."""
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:_SHOWN])
    return f"'{shown}…'" if len(text) > _SHOWN else f"'{shown}'"
