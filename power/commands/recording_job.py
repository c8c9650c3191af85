# SPDX-License-Identifier: Apache-2.0
"""One recording in a thread of its own, which an interrupt ends even if the meter hangs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from power.bench.priority import hurried
from power.bench.run_notes import RunNotes
from power.clock import asleep_s, real_elapsed_s
from power.commands.interrupt import Interrupt, Job
from power.commands.live_view import Shows
from power.commands.options import conditions_of, guard_of, settings_of
from power.energy.conditions import AmbientConditions
from power.errors import MeterSilent
from power.meter import Identity, Meter, MeterSettings, Reading
from power.resource import is_official
from power.transports.transport import utc_now

if TYPE_CHECKING:
    from power.bench.recorder import Recorder, Recording
    from power.bench.run_notes import Notes, RunPlace
    from power.commands.progress import Draw

# The recorder ends by itself at its `end_s`, unless it hangs in a call.
_HANGING_S = 0.15


class InterruptibleNotes(RunNotes):
    """The notes of this run; from the first one on, an interrupt ends the run properly."""

    def __init__(
        self,
        place: RunPlace,
        interrupt: Interrupt,
        conditions: AmbientConditions,
    ) -> None:
        super().__init__(place, clock=real_elapsed_s, utc=utc_now, conditions=conditions)
        self._interrupt = interrupt

    def prepared(self, identity: Identity, settings: MeterSettings) -> None:
        """Note the run, and keep Ctrl-C from breaking off what begins now.

        Raises KeyboardInterrupt if somebody wants the end already.
        """
        if self._interrupt.asked():
            raise KeyboardInterrupt
        super().prepared(identity, settings)
        self._interrupt.abort = False


def require_new(log: Path) -> None:
    """Raise ValueError or FileExistsError if a recording cannot have this log."""
    from power.logs.facts_file import PACKED, facts_path, unpacked
    from power.logs.marks import marks_path
    from power.logs.packed import packed_path

    if log.suffix == PACKED:
        raise ValueError(
            f"{log} would be a packed log, and the rows of a run are written plain: give "
            f"{unpacked(log)}; `record --gzip` packs it after the run"
        )
    for path in (log, facts_path(log), marks_path(log), packed_path(log)):
        if path.exists():
            raise FileExistsError(f"{path} already exists; choose a new file")


def recorded(
    meter: Meter,
    options: argparse.Namespace,
    interrupt: Interrupt,
    notes: Notes,
    draw: Draw,
    shown: Shows,
    *,
    over: Callable[[], bool] = lambda: False,
    look: Callable[[], object] = lambda: None,
) -> Recording:
    """Record in a thread of its own; when that hangs after an interrupt, return what is known.

    The recording ends early when `over` says so. `look` is called by this thread again and again.
    Raises KeyboardInterrupt if nothing was about to start, and `MeterSilent` if nothing is known of
    what may have started.
    """
    from power.bench.recorder import Recorder

    recordings: list[Recording] = []
    news = _News(draw, shown, options.update)
    recorder = Recorder(
        meter,
        clock=real_elapsed_s,
        sleep=interrupt.sleep,
        progress=news.keep,
        notes=notes,
        conditions=conditions_of(options),
        asleep_s=asleep_s,
    )

    def work() -> None:
        with hurried():
            recordings.append(
                recorder.record(
                    settings_of(options, options.seconds),
                    options.out,
                    leave=guard_of(meter, options).leave(),
                    should_stop=lambda: interrupt.asked() or over(),
                    on_start=lambda identity, read_back, start: shown.begin(identity, read_back),
                )
            )

    def watch() -> None:
        look()
        if interrupt.asked():
            recorder.hurry(interrupt.asked_s)
        news.draw_now()

    job = Job(work, "record")
    done = job.wait(lambda: recorder.end_s + _HANGING_S, lambda: interrupt.ordered, watch)
    news.draw_last()
    return recordings[0] if done else _known(recorder, options, interrupt)


class _News:
    """The newest reading, which the recording's thread brings and the command's thread draws."""

    def __init__(self, draw: Draw, shown: Shows, update_s: float) -> None:
        self._draw = draw
        self._shown = shown
        self._update_s = update_s
        self._newest: tuple[Reading, float] | None = None

    def keep(self, reading: Reading, elapsed_s: float) -> None:
        self._newest = (reading, elapsed_s)
        self._shown.add(reading, elapsed_s)

    def draw_now(self) -> None:
        if self._newest is not None:
            reading, elapsed_s = self._newest
            age_s = real_elapsed_s() - reading.monotonic_s
            self._draw(elapsed_s + age_s, _words(reading, age_s, self._update_s))

    def draw_last(self) -> None:
        if self._newest is not None:
            reading, elapsed_s = self._newest
            self._draw(elapsed_s, _words(reading, 0.0, self._update_s))


def left_behind(recording: Recording, resource: str) -> str:
    """Return the sentence about a meter that was left before its result was read."""
    if not is_official(resource):
        return (
            f"left before the result was read: {recording.left}. This program was the integrator,"
            " so the rest of the energy is lost; record again"
        )
    left_s = recording.start.sent_s + recording.settings.timer_s - real_elapsed_s()
    end = f"; if it still integrates, its timer ends that in {left_s:.0f} s" if left_s > 0 else ""
    return (
        f"left before the result was read: {recording.left}. The meter keeps its energy{end}. "
        f"Fetch it later: python -m power rescue {resource}"
    )


def _known(recorder: Recorder, options: argparse.Namespace, interrupt: Interrupt) -> Recording:
    """Return what is known of a recording whose thread hangs."""
    recording = recorder.known()
    if recording is not None:
        return recording
    if interrupt.abort:
        options.out.unlink(missing_ok=True)  # it has no row, because nothing was about to start
        raise KeyboardInterrupt
    if not is_official(options.resource):
        raise MeterSilent("interrupted while the meter did not answer; there is no energy")
    raise MeterSilent(
        "interrupted while the meter did not answer; if it integrates already, its energy is "
        f"not lost: python -m power rescue {options.resource}"
    )


def _words(reading: Reading, age_s: float, interval_s: float) -> str:
    """Return the newest reading for the progress line, or since when there is none."""
    if age_s > 2.5 * interval_s + 1.0:
        return f"no reading for {age_s:.0f} s"
    watts = "-" if reading.power_w is None else f"{reading.power_w:.4g}"
    energy = "-" if reading.energy_wh is None else f"{reading.energy_wh:.6g}"
    return f"{watts} W, {energy} Wh"
