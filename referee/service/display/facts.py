# SPDX-License-Identifier: Apache-2.0
"""The display as values, for the console and for the checks before an event."""

from __future__ import annotations

from msgspec import Struct

from referee.service.display.display import DisplayStatus


class DisplayFacts(Struct, frozen=True, kw_only=True):
    """A display; `fault` is '' while it can show frames."""

    page: str
    connected: bool
    fault: str
    width: int | None
    height: int | None
    refresh_hz: float | None
    round_trip_ms: float | None
    card: bool
    text: str


def display_facts(status: DisplayStatus) -> DisplayFacts:
    """Return a display's status as the console shows it."""
    screen = status.screen
    return DisplayFacts(
        page=status.page,
        connected=status.pages > 0,
        fault=status.fault,
        width=None if screen is None else screen.width_px,
        height=None if screen is None else screen.height_px,
        refresh_hz=None if screen is None else screen.refresh_hz,
        round_trip_ms=None if status.round_trip_s is None else 1000 * status.round_trip_s,
        card=status.card,
        text=display_text(status),
    )


def display_text(status: DisplayStatus) -> str:
    """Return a sentence about a display: its fault, or its pixels, refresh and round trip."""
    screen = status.screen
    if screen is None or status.fault:
        return status.fault
    parts = [f"{screen.width_px}x{screen.height_px} pixels"]
    if screen.refresh_hz is not None:
        parts.append(f"{screen.refresh_hz:.0f} Hz")
    if status.round_trip_s is not None:
        parts.append(f"a frame painted in {1000 * status.round_trip_s:.0f} ms")
    return ", ".join(parts)
