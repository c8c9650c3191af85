# SPDX-License-Identifier: Apache-2.0
"""The end of a run: stop the integration, read its result, within the time that is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from power.bench.wish import HASTY_S, Wish
from power.energy.accuracy import CLOCKS_SHARE
from power.errors import MeterBusy, MeterError, MeterSilent
from power.follow import LOST_METER_S, Follower, read_result
from power.meter import (
    IntegrationStart,
    IntegrationState,
    IntegrationStop,
    Meter,
    MeterSettings,
    Reading,
    TellsStop,
)

T = TypeVar("T")

# After our own STOP the meter shows the whole seconds until then. More than this below our clock
# means a held display, which shows the past.
_EARLY_S = 1.2
_RESTARTED = "somebody started the integration again after its end"
# Two readings, 1.1 updates apart, and a third one if the final energy came late.
_LAST_UPDATES = 3.3


@dataclass(frozen=True)
class RunEnd:
    """How a run ended: the session's length, the readings after it, and why the meter was left.

    `left` is empty if the result was read. `stop` says when our STOP ended it, if it did.
    """

    session_s: float
    readings: tuple[Reading, ...]
    left: str = ""
    stop: IntegrationStop | None = None


class Restarted(MeterBusy):
    """Somebody started the integration again after it had ended."""


class Ending:
    """The end of one run.

    A lost meter gets two minutes to come back, or until the end of the `wish` if somebody wants the
    end. A meter that answers after its STOP with an energy gets the time for its last readings.
    """

    def __init__(
        self,
        follower: Follower,
        wish: Wish,
        asked: Callable[[], bool],
        *,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._follower = follower
        self._wish = wish
        self._asked = asked
        self._clock = clock
        self._sleep = sleep
        self._limit_s = clock() + LOST_METER_S
        self._interval_s = follower.schedule.interval_s
        self._stop_sent_s = self._stopped_s = clock()
        self._stop: IntegrationStop | None = None
        self._readings: list[Reading] = []
        self._hurried = False

    def finish(self, settings: MeterSettings, start: IntegrationStart, early: bool) -> RunEnd:
        """Stop the integration and read its result; `early` if this is before the timer's end.

        Without a wish a meter that stays lost raises `MeterError`, and one that somebody started
        again raises `Restarted`.
        """
        # A run that we did not end should have lasted as long as its timer. If somebody else ended
        # it, the judge sees that it was too short.
        session_s = float(settings.timer_s)
        stopped = False
        try:
            self._insist(self._stop_meter)
            stopped = True
            self._stopped_s = self._clock()
            if early:
                session_s = min(self._stop_sent_s - start.sent_s, session_s)
            read_result(
                self._keep,
                self._interval_s,
                self._pause,
                expected_s=session_s,
                tolerance_s=_EARLY_S + CLOCKS_SHARE * session_s if early else 0.0,
            )
        except MeterError as error:
            if not self._asked():
                raise
            if not stopped:
                session_s = min(self._clock() - start.sent_s, session_s)
            return RunEnd(session_s, tuple(self._readings), str(error), self._stop)
        return RunEnd(session_s, tuple(self._readings), stop=self._stop)

    def _stop_meter(self, meter: Meter) -> None:
        self._stop_sent_s = self._clock()  # A slow answer makes the session no longer.
        meter.stop()
        self._stop = meter.last_stop if isinstance(meter, TellsStop) else None

    def _end_s(self) -> float:
        if not self._asked():
            return self._limit_s
        if not self._hurried:
            self._follower.hurry()
            self._hurried = True
        return min(self._limit_s, self._wish.end_s)

    def _insist(self, job: Callable[[Meter], T]) -> T:
        if self._clock() > self._end_s():
            raise MeterSilent("the time to reach the meter is over")
        return self._follower.insist(job, self._end_s, self._sleep)

    def _pause(self, seconds: float) -> None:
        """Wait until the next reading, also after a wish; raise if there is no time for that."""
        until_s = self._clock() + seconds
        while (left_s := until_s - self._clock()) > 0:
            self._allow(until_s)
            if until_s > self._end_s():
                raise MeterSilent("there was no time for another reading")
            self._sleep(left_s)

    def _allow(self, until_s: float) -> None:
        """Give a meter that shows an energy the time for another reading at `until_s`."""
        last = self._readings[-1] if self._readings else None
        if last is None or None in (last.energy_wh, last.integration_s) or not self._asked():
            return
        most_s = self._stopped_s + _LAST_UPDATES * self._interval_s
        self._wish.allow(min(until_s, most_s) + HASTY_S)

    def _keep(self, job: Callable[[Meter], T], /) -> T:
        """Have a job done on the meter, and keep the readings that it returns.

        When the readings begin again, because the meter's output was set right, only the new ones
        are kept.
        """
        try:
            done = self._insist(job)
        except MeterBusy:
            if self._follower.attached:  # no other client is in the way
                raise Restarted(_RESTARTED) from None
            raise
        if isinstance(done, Reading):
            if done.state is IntegrationState.START:
                raise Restarted(_RESTARTED)
            self._readings.append(done)
        elif done is None:
            self._readings.clear()
        return done
