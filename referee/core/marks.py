# SPDX-License-Identifier: Apache-2.0
"""The marks that a score carries wherever it is printed: what makes it less than official."""

from __future__ import annotations

from collections.abc import Sequence

EMULATED = "EMULATED"
"""The mark of an energy that a program measured in place of a meter."""

NOT_ALIKE = "not alike"
"""The mark of a session that was not run as the others were, where there is no room to say how."""


def energy_marks(verdict: str | None, *, emulated: bool) -> list[str]:
    """Return what is to be said of a score's energy: a verdict that is not VALID, and EMULATED."""
    doubted = [] if verdict in (None, "VALID") else [str(verdict)]
    return [*doubted, EMULATED] if emulated else doubted


def verdict_words(verdict: str, *, emulated: bool) -> list[str]:
    """Return the verdict of an energy, VALID too, with the marks that go with it."""
    return [
        verdict,
        *(mark for mark in energy_marks(verdict, emulated=emulated) if mark != verdict),
    ]


def with_marks(text: str, marks: Sequence[str]) -> str:
    """Return a name with its marks in parentheses behind it."""
    return f"{text} ({', '.join(marks)})" if marks else text
