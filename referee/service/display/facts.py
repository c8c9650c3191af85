# SPDX-License-Identifier: Apache-2.0
"""The display as plain values, for the console and for the checks before an event."""

from __future__ import annotations

from typing import Any

from referee.service.display.display import DisplayStatus


def display_facts(status: DisplayStatus) -> dict[str, Any]:
    """Return a display's status, ready for JSON; `fault` is '' while it can show frames."""
    screen = status.screen
    return {
        "page": status.page,
        "connected": status.pages > 0,
        "fault": status.fault,
        "width": None if screen is None else screen.width_px,
        "height": None if screen is None else screen.height_px,
        "refresh_hz": None if screen is None else screen.refresh_hz,
        "round_trip_ms": None if status.round_trip_s is None else 1000 * status.round_trip_s,
        "card": status.card,
        "text": display_text(status),
    }


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
