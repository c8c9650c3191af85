# SPDX-License-Identifier: Apache-2.0
"""The one loop that follows a meter, in single steps: take it up, read it when a reading is due."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from power.errors import MeterBusy, MeterRefused, MeterReplyError, MeterUnreachable
from power.follow.schedule import Schedule, back_off_s
from power.meter import Meter, Reading

_T = TypeVar("_T")

LOST = (MeterUnreachable, MeterReplyError, MeterBusy)
"""The errors after which a meter is taken up again: no link, a spoilt reply, a link in use."""


class Follower:
    """A meter that is read on a schedule and taken up again after each fault.

    `take_up` returns the meter when its link stands, as `attach` makes sure; with `meter` it stands
    already. Nothing waits in here: `due_s` says when `step` has something to do, and the caller
    waits as it likes. No fault resets a running integration. Not safe for several threads.
    """

    def __init__(
        self,
        take_up: Callable[[], Meter],
        schedule: Schedule,
        *,
        clock: Callable[[], float],
        meter: Meter | None = None,
    ) -> None:
        self._take_up = take_up
        self._schedule = schedule
        self._clock = clock
        self._meter = meter
        self._failures = 0
        self.due_s = clock()

    @property
    def attached(self) -> bool:
        """Tell whether the meter is there, as far as the last step knows."""
        return self._meter is not None

    @property
    def schedule(self) -> Schedule:
        """Return the instants at which the meter is read."""
        return self._schedule

    def keep_to(self, schedule: Schedule) -> None:
        """Read at other instants from now on."""
        self._schedule = schedule
        if self._meter is not None:
            self.due_s = schedule.next_after(self._clock())

    def step(self) -> Reading | None:
        """Read the meter, or take it up first; None means that it was only taken up.

        Errors are passed on. After one that loses the meter the next step takes it up again; it is
        due when a pause is over.
        """
        if self._meter is None:
            self._reach()
            return None
        # An early wake-up must not read twice for the same instant.
        read_for_s = max(self._clock(), self.due_s)
        try:
            return self.call(lambda meter: meter.read())
        finally:
            if self._meter is not None:
                self.due_s = self._schedule.next_after(max(self._clock(), read_for_s))

    def call(self, job: Callable[[Meter], _T]) -> _T:
        """Return what a job on the meter returns; a link that fails in it is lost."""
        if self._meter is None:
            raise MeterUnreachable("the meter is not connected")
        try:
            return job(self._meter)
        except (MeterUnreachable, MeterReplyError):
            self.lose()
            raise

    def insist(
        self, job: Callable[[Meter], _T], deadline_s: float, sleep: Callable[[float], object]
    ) -> _T:
        """Repeat a job through lost links until it is done, but begin none after the deadline."""
        while True:
            try:
                if self._meter is None:
                    self._reach()
                return self.call(job)
            except LOST:
                if self._meter is not None or self.due_s >= deadline_s:
                    raise
            sleep(max(0.0, self.due_s - self._clock()))

    def lose(self) -> None:
        """Give the meter up until the next step, which is due after a pause."""
        self._meter = None
        self._failures += 1
        self.due_s = self._clock() + back_off_s(self._failures)

    def _reach(self) -> None:
        try:
            self._meter = self._take_up()
        except Exception:
            self.lose()
            raise
        self._failures = 0
        self.due_s = self._schedule.next_after(self._clock())


def attach(meter: Meter) -> str:
    """Attach to a meter; return why it cannot be read, or nothing. Its integration goes on.

    Output items that are not ours are set right, except while an integration runs: then the meter
    still takes commands, and its readings have to wait for the end.
    """
    try:
        meter.attach()
    except MeterRefused as refused:
        try:
            meter.arrange()
        except MeterBusy:
            return str(refused)
        meter.attach()
    return ""
