# SPDX-License-Identifier: Apache-2.0
"""The joint board as lines of text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_HEADER = ("rank", "team", "station", "session", "mAP", "Wh", "score", "interval", "verdict")
_LEFT = ("team", "station", "verdict")


def board_text(view: Mapping[str, Any], standings: Sequence[Mapping[str, str]]) -> str:
    """Return the ranking, and how each station stands; see `joint_view` and `BoardFiles`."""
    rows = [_HEADER, *(_cells(entry) for entry in view["entries"])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"{view['contest']}: {view['state']}", ""]
    lines += ["  ".join(map(_aligned, row, widths, _HEADER)).rstrip() for row in rows]
    if not view["entries"]:
        lines.append("No station has told of a team yet.")
    told = {one["name"]: one["text"] for one in standings}
    lines += ["", "Stations:"]
    for one in view["stations"]:
        words = [one["fault"], told.get(one["name"], one["contest"]), one["remark"]]
        words += ["frozen"] if one["frozen"] else []
        words += ["final"] if one["final"] else []
        lines.append(f"  {one['name']}: {'; '.join(word for word in words if word)}")
    return "\n".join(lines)


def _cells(entry: Mapping[str, Any]) -> tuple[str, ...]:
    printed = entry["printed"]
    word = f" ({entry['word']})" if entry["word"] else ""
    return (
        *(printed["rank"], entry["team"] + word, entry["station"]),
        *("–" if entry["session"] is None else str(entry["session"]), printed["mean_ap"]),
        *(printed["energy"], printed["score"], printed["interval"], printed["verdict"]),
    )


def _aligned(cell: str, width: int, name: str) -> str:
    return cell.ljust(width) if name in _LEFT else cell.rjust(width)
