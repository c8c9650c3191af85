# SPDX-License-Identifier: Apache-2.0
"""A recording drawn in the terminal: figures, the curve of the whole run, and the last minute."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from power.live.run_view import RECENT_S, RunView, Stage
from power.live.thinned import Thinned

_REDRAW_S = 0.5
# Where nothing can be drawn in place, a line goes out this often.
_LINE_S = 10.0
_LOOK_S = 0.05
_LEAST_ROWS, _MOST_ROWS = 3, 10
# A reading this many updates after the one before is the next one.
_NEXT_UPDATES = 1.5
# Lines beside the rows of the charts: figures, titles, scales, gaps, and the prompt.
_OTHER_LINES = 10
_COLOURS = {
    Stage.WAITING: "yellow",
    Stage.RUNNING: "green",
    Stage.ENDED: "cyan",
    Stage.LOST: "bold red",
}
_VERDICTS = {"VALID": "green", "SUSPECT": "yellow", "INVALID": "bold red"}

Values = tuple[float, float, float]
"""The least, the mean and the greatest value of a stretch of time."""

Column = tuple[float, Values | None]
"""When a stretch begins, in seconds, and its values; None has no value."""

_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}
_LOWEST, _HIGHEST = min(_PREFIXES), max(_PREFIXES)


def draw_until(
    view: RunView,
    lock: threading.Lock,
    ended: Callable[[], bool],
    clock: Callable[[], float],
) -> None:
    """Draw a view on standard error until `ended` says so, and once more.

    rich finds out what the terminal can do: its size, its colours, NO_COLOR, and whether there is a
    terminal at all. Without one, or on a dumb one, a line goes out every ten seconds.
    """
    console = Console(stderr=True, highlight=False, soft_wrap=False)
    messages = _Messages()
    if not console.is_terminal or console.is_dumb_terminal:
        _lines_until(view, lock, ended, clock, messages)
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        last = False
        while not last:
            last = ended()
            with lock:
                new = messages.new(view)
                shown = picture(view, console.width, console.height, clock(), console.encoding)
            for message in new:
                live.console.print(Text(message, "yellow"))
            live.update(shown, refresh=True)
            _wait(_REDRAW_S, ended)


def picture(view: RunView, width: int, height: int, now_s: float, encoding: str) -> Group:
    """Return the picture for a terminal of so many columns and rows."""
    marks = BLOCKS if encoding.lower().replace("-", "") == "utf8" else ASCII
    lines = [_headline(view, width), *_figures(view, width, now_s, marks.micro)]
    wide = max(8, width - 1)
    rows = (height - _OTHER_LINES) // 2
    curves = [_whole(view), _recent(view)] if rows >= _LEAST_ROWS else [_recent(view)]
    rows = min(_MOST_ROWS, max(_LEAST_ROWS, rows if len(curves) > 1 else height - _OTHER_LINES))
    for title, span_s, curve in curves:
        lines.append(Text(title, "dim"))
        drawn = chart(columns_of(curve, span_s, wide - 9, view.interval_s), rows, marks)
        lines += [Text(line, "blue") for line in drawn]
    if view.gaps:
        first, last = view.newest_gaps[-1]
        lines.append(
            Text(
                f"gaps {view.gaps}, {view.gaps_s:.1f} s in all; the newest from {first:.1f} to "
                f"{last:.1f} s",
                "yellow",
            )
        )
    if view.without_power:
        lines.append(Text(f"readings without a power: {view.without_power}", "yellow"))
    if view.newest is not None and view.newest.flags:
        flags = ", ".join(sorted(flag.value for flag in view.newest.flags))
        lines.append(Text(f"the meter reports: {flags}", "yellow"))
    for line in lines:
        line.truncate(width)
    return Group(*lines)


def line_of(view: RunView, now_s: float) -> str:
    """Return the view as one line of text."""
    newest, age_s = view.newest, view.age_s(now_s) or 0.0
    if newest is None:
        return view.stage.value
    if _silent(view, now_s):
        return f"{view.elapsed_s:.1f} s: no reading for {age_s:.0f} s"
    # It may go into a file of any encoding.
    values = (_figure(newest.power_w, "W", "u"), _figure(view.energy_wh, "Wh", "u", 6))
    return f"{view.elapsed_s:.1f} s: {', '.join(values)}, {newest.state.value}"


class _Messages:
    """Which messages have been printed already."""

    def __init__(self) -> None:
        self._last: tuple[float | None, str] | None = None

    def new(self, view: RunView) -> list[str]:
        """Return the messages since the last call, oldest first."""
        messages: list[str] = []
        for message in reversed(view.messages):
            if message is self._last:
                break
            messages.insert(0, message[1])
        self._last = view.messages[-1] if view.messages else None
        return messages


def _lines_until(
    view: RunView,
    lock: threading.Lock,
    ended: Callable[[], bool],
    clock: Callable[[], float],
    messages: _Messages,
) -> None:
    last = False
    while not last:
        _wait(_LINE_S, ended)
        last = ended()
        with lock:
            lines = [*messages.new(view), line_of(view, clock())]
        print("\n".join(lines), file=sys.stderr, flush=True)


def _wait(seconds: float, ended: Callable[[], bool]) -> None:
    """Wait, but no longer than until the end."""
    end_s = time.monotonic() + seconds
    while not ended() and time.monotonic() < end_s:
        time.sleep(_LOOK_S)


def _headline(view: RunView, width: int) -> Text:
    about = view.about
    text = Text()
    text.append(view.stage.value.upper(), _COLOURS[view.stage])
    if view.result is not None:
        text.append(f" {view.result['verdict']}", _VERDICTS[str(view.result["verdict"])])
    text.append(f"  {about.get('log', '')}", "bold")
    if width >= 60:
        text.append(f"  {about.get('meter', '')}", "dim")
    return text


def _figures(view: RunView, width: int, now_s: float, micro: str) -> list[Text]:
    """Return the figures, side by side where there is room."""
    newest, (volts, amperes) = view.newest, view.ranges()
    timer_s = view.about.get("timer_s")
    known = f"{_figure(volts, 'V', micro)}, {_figure(amperes, 'A', micro)}"
    ranges = known if volts or amperes else "auto"
    measured_s = None if newest is None else newest.integration_s
    of_timer = "" if timer_s is None else f" of {timer_s} s"
    figures = [
        f"power {_figure(None if newest is None else newest.power_w, 'W', micro)}",
        f"energy {_figure(view.energy_wh, 'Wh', micro, 6)}",
        f"time {'-' if measured_s is None else f'{measured_s:.6g} s'}{of_timer}",
        f"range {ranges}",
    ]
    if _silent(view, now_s):
        figures.append(f"no reading for {view.age_s(now_s):.0f} s")
    rows: list[Text] = []
    for figure in figures:
        if rows and rows[-1].cell_len + 3 + len(figure) < width:
            rows[-1].append(f"   {figure}")
        else:
            rows.append(Text(figure, "bold"))
    return rows


def _silent(view: RunView, now_s: float) -> bool:
    """Tell whether a reading is overdue, as the progress line of `record` does."""
    age_s = view.age_s(now_s)
    running = view.stage is Stage.RUNNING
    return running and age_s is not None and age_s > 2.5 * view.interval_s + 1.0


def _figure(value: float | None, unit: str, micro: str, digits: int = 4) -> str:
    return "-" if value is None else prefixed(value, unit, digits, micro)


def _whole(view: RunView) -> tuple[str, tuple[float, float], list[Column]]:
    """Return the curve of the whole run: its title, its time, and its bins."""
    return _curve("the whole run", view.whole, 0.0, max(view.elapsed_s, view.whole.width_s))


def _recent(view: RunView) -> tuple[str, tuple[float, float], list[Column]]:
    """Return the curve of the last minute."""
    last_s = max(view.elapsed_s, RECENT_S)
    curve = Thinned(width_s=view.interval_s / 4)
    for _, at_s, power_w in view.recent:
        curve.add(at_s - (last_s - RECENT_S), power_w)
    return _curve("the last minute", curve, last_s - RECENT_S, last_s)


def _curve(
    title: str, curve: Thinned, from_s: float, to_s: float
) -> tuple[str, tuple[float, float], list[Column]]:
    bins = [(from_s + place * curve.width_s, one) for place, one in enumerate(curve.bins())]
    return f"{title}, {from_s:.0f} to {to_s:.0f} s", (from_s, to_s), bins


@dataclass(frozen=True)
class Marks:
    """The characters: a block's parts from low to high, a peak's mark, the axis, a millionth."""

    parts: str
    peak: str
    axis: str
    micro: str


BLOCKS = Marks("▁▂▃▄▅▆▇█", "·", "┤", "µ")
ASCII = Marks("#", ".", "|", "u")


def columns_of(
    bins: Sequence[Column], span_s: tuple[float, float], width: int, update_s: float
) -> list[Values | None]:
    """Return `width` columns over a span of time; a bin reaches as far as the next one.

    A power is that of the update before its reading. So where bins are shorter than updates, it
    fills the empty columns back to the reading before; where that is longer ago than an update, it
    fills one update alone.
    """
    from_s, to_s = span_s
    columns: list[Values | None] = [None] * max(1, width)
    scale = len(columns) / max(to_s - from_s, 1e-9)
    # Each bin fills all columns that it covers, so a curve of few bins has no holes.
    starts = [at_s for at_s, _ in bins]
    step_s = starts[1] - starts[0] if len(starts) > 1 else to_s - from_s
    known_s = -math.inf
    for at_s, values in bins:
        if values is None:
            continue
        first = math.floor((at_s - from_s) * scale + 1e-9)
        last = math.ceil((at_s + step_s - from_s) * scale - 1e-9)
        for place in range(max(0, first), min(len(columns), max(last, first + 1))):
            columns[place] = _joined(columns[place], values)
        if step_s >= update_s:
            continue
        since_s = known_s if at_s - known_s <= _NEXT_UPDATES * update_s else at_s - update_s
        behind = math.floor((since_s - from_s) * scale + 1e-9)
        for place in range(max(0, behind), min(len(columns), first)):
            columns[place] = columns[place] or values
        known_s = at_s + step_s
    return columns


def chart(columns: Sequence[Values | None], rows: int, marks: Marks) -> list[str]:
    """Return the rows of a chart from 0 to a round number, the highest first, with a scale.

    A column is as high as its mean. A peak that rises above its column by a row has a mark. A
    column without a value stays empty. Negative power shows as nothing: the figures tell it.
    """
    top = nice_top(max((values[2] for values in columns if values is not None), default=0.0))
    drawn = []
    for row in range(rows - 1, -1, -1):
        label = {rows - 1: prefixed(top, "W", micro=marks.micro), 0: "0 W"}.get(row, "")
        cells = "".join(_cell(values, row, rows / top, marks) for values in columns)
        drawn.append(f"{label:>8}{marks.axis}{cells}".rstrip())
    return drawn


def nice_top(value: float) -> float:
    """Return a round number a tenth above a value, and 1 for a value that no meter shows."""
    if not 1e-12 < value < 1e12:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next(
        step * unit for step in (1, 1.5, 2, 3, 4, 6, 8, 10, 15) if step * unit >= 1.1 * value
    )


def _cell(values: Values | None, row: int, scale: float, marks: Marks) -> str:
    if values is None:
        return " "
    _, mean, high = values
    filled = mean * scale - row
    if filled > 0:
        return marks.parts[min(len(marks.parts), max(1, round(filled * len(marks.parts)))) - 1]
    return marks.peak if high * scale - row > 0 and mean * scale < row else " "


def _joined(first: Values | None, second: Values) -> Values:
    """Return the values of two bins in one column; bins are as wide, so their means are as good."""
    if first is None:
        return second
    return min(first[0], second[0]), (first[1] + second[1]) / 2, max(first[2], second[2])


def prefixed(value: float, unit: str, digits: int = 4, micro: str = "µ") -> str:
    """Return a value with its unit, and with a prefix where it would need an exponent.

    From 0.001 to 10,000 there is none. `micro` is the prefix of a millionth, for a terminal that
    lacks the Greek letter.
    """
    size = abs(value)
    power = 0
    if 0 < size < math.inf and not 1e-3 <= size < 1e4:
        power = 3 * math.floor(math.log10(float(f"{size:.{digits - 1}e}")) / 3 + 1e-9)
        power = min(_HIGHEST, max(_LOWEST, power))
    prefix = micro if power == -6 else _PREFIXES[power]
    return f"{value / 10.0**power:.{digits}g} {prefix}{unit}"
