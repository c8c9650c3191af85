# SPDX-License-Identifier: Apache-2.0
"""The one thread that talks to the meter: it takes scheduled readings and carries out commands."""

from __future__ import annotations

import logging
import math
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from power.errors import MeterError, MeterHolds, MeterRefused
from power.follow import Follower, Schedule, attach, read_result
from power.meter import (
    Identity,
    IntegrationStart,
    IntegrationState,
    IntegrationStop,
    Leave,
    Meter,
    MeterSettings,
    Reading,
    TellsStop,
)
from power.wipe_guard import Guard
from power.wipe_rule import OwnRuns, Runs
from referee.errors import Unavailable
from referee.service.desk.watched_thread import WatchedThread

T = TypeVar("T")

# The longest time for a command, including the wait for a reading in progress. All waits inside the
# meter's driver are shorter.
_COMMAND_S = 25.0
_OPEN_S = 10.0
# The integrator's clock counts whole seconds.
_WHOLE_S = 1.0

_log = logging.getLogger(__name__)


class LinkState(Enum):
    """The state of the link to the meter."""

    NONE = "none"
    CONNECTING = "connecting"
    OK = "ok"
    LOST = "lost"


@dataclass(frozen=True)
class MeterStatus:
    """The present knowledge about the meter.

    `text` says what is wrong, if anything. If the link is OK and `text` is not empty, the meter
    takes commands but cannot be read.
    """

    link: LinkState
    text: str = ""
    identity: Identity | None = None
    reading: Reading | None = None


class Metering:
    """The owner of the meter: its thread `meter` opens it, reads it, and carries out commands.

    `open_meter` makes a new link; None means that the contest has no meter. `on_reading` gets each
    reading and `on_link` each change of the link, both on the meter's thread. `on_death` gets a
    sentence when that thread has died, before the thread is restarted. A failed link is closed,
    opened again and attached. That never resets a running integration. `resource` is the meter's
    address, and `runs` what is known of the runs on it; by default only what this owner learns.
    """

    def __init__(
        self,
        open_meter: Callable[[], Meter] | None,
        settings: MeterSettings,
        *,
        on_reading: Callable[[Reading], None] = lambda reading: None,
        on_link: Callable[[MeterStatus], None] = lambda status: None,
        clock: Callable[[], float] = time.monotonic,
        on_death: Callable[[str], object] = lambda text: None,
        resource: str = "",
        runs: Runs | None = None,
    ) -> None:
        self.settings = settings
        self.resource = resource
        self.runs: Runs = OwnRuns() if runs is None else runs
        self._open_meter = open_meter
        self._on_reading = on_reading
        self._on_link = on_link
        self._clock = clock
        self._meter: Meter | None = None
        self._found = MeterStatus(LinkState.OK)
        schedule = Schedule(clock(), settings.update_interval_s)
        self._follower = Follower(self._take_up, schedule, clock=clock)
        self._jobs: queue.Queue[tuple[Callable[[Meter], object], Future[object]]] = queue.Queue()
        self._stopping = threading.Event()
        self._status = MeterStatus(LinkState.CONNECTING if open_meter else LinkState.NONE)
        self._told = threading.Condition()
        # What the prepared meter reported; None once it has started, or is lost: a lost meter may
        # come back after a power cycle, or may be replaced by another one.
        self.prepared: MeterSettings | None = None
        self.last_start: IntegrationStart | None = None
        self.last_stop: IntegrationStop | None = None
        self._thread = WatchedThread("meter", self._run, self._stopping, on_death)

    @property
    def status(self) -> MeterStatus:
        """Return the newest status; any thread may read it."""
        return self._status

    def start_thread(self) -> None:
        """Start the thread, which connects to the meter and reads it."""
        if self._open_meter is not None:
            self._thread.start()

    def close(self, timeout_s: float = 10.0) -> None:
        """End the thread and release the link; a running integration continues."""
        self._stopping.set()
        if self._thread.is_alive():
            self._jobs.put((lambda meter: None, Future()))
            self._thread.join(timeout_s)

    def prepare(self, timer_s: int) -> MeterSettings:
        """Reset the integrator, set up a session of `timer_s` seconds, return the settings.

        `prepared` keeps them. Raises `Unavailable` if nobody has fetched what the meter holds.
        """
        self.prepared = None
        wanted = replace(self.settings, timer_s=timer_s)

        def prepare(meter: Meter) -> MeterSettings:
            self.prepared = meter.prepare(wanted, self.leave(meter))
            return self.prepared

        if self._open_meter is None:
            self.prepared = wanted
            return wanted
        return self._do(prepare)

    def leave(self, meter: Meter) -> Leave:
        """Return leave to reset the meter; raise `MeterHolds` if nobody has fetched its result.

        A job asks for it on the meter's thread, right before the reset.
        """
        return Guard(meter, self.runs, self.resource).leave()

    def look(self, job: Callable[[Meter], T]) -> T:
        """Run a job that resets nothing on the meter's thread; return its result.

        Raises `Unavailable` as any command does.
        """
        return self._do(job)

    def start(self) -> IntegrationStart | None:
        """Start the integration and wait until the meter confirms it; None without a meter."""
        # The meter must be prepared again before another start, even if this start fails.
        self.prepared = None
        if self._open_meter is None:
            return None
        self.last_start = self._do(lambda meter: meter.start())
        return self.last_start

    def stop(self) -> IntegrationState | None:
        """End the integration and return how it ended; None without a meter.

        `last_stop` tells then when that was, None if something else has ended it.
        """
        if self._open_meter is None:
            return None

        def stop(meter: Meter) -> IntegrationState:
            state = meter.stop()
            self.last_stop = meter.last_stop if isinstance(meter, TellsStop) else None
            return state

        return self._do(stop)

    def read_final(
        self, sleep: Callable[[float], object], expected_s: float = math.nan
    ) -> list[Reading]:
        """Return readings after an end; the last two are equal and one update interval apart.

        `expected_s` is the expected integration time. If the meter shows another time, its display
        may be on hold. Its output is then set right, and it is read again. Scheduled readings
        continue meanwhile. Without a meter the list is empty.
        """
        if self._open_meter is None:
            return []
        interval_s = self.settings.update_interval_s
        return _answered(
            lambda: read_result(
                self._ask,
                interval_s,
                sleep,
                expected_s=expected_s,
                tolerance_s=interval_s + _WHOLE_S,
            )
        )

    def _do(self, job: Callable[[Meter], T]) -> T:
        return _answered(lambda: self._ask(job))

    def _ask(self, job: Callable[[Meter], T]) -> T:
        """Run a job on the meter's thread; return its result or raise its error."""
        with self._told:
            # While the first link is being opened, a command waits for it.
            self._told.wait_for(lambda: self._status.link is not LinkState.CONNECTING, _OPEN_S)
        status = self.status
        if status.link is not LinkState.OK:
            raise Unavailable(f"The power meter is not connected. {status.text}".strip())
        future: Future[T] = Future()
        self._jobs.put((job, future))  # type: ignore[arg-type]
        try:
            return future.result(_COMMAND_S)
        except FutureTimeoutError:
            future.cancel()
            raise Unavailable(
                f"The power meter did not finish a command within {_COMMAND_S:.0f} s."
            ) from None

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._step()
            except Exception as error:  # A mistake in a driver counts as a lost link.
                _log.exception("the meter's driver failed")
                self._lose(f"Its driver failed ({error!r}); the log says where.")
        self._drop()

    def _step(self) -> None:
        """Carry out the next command; if none comes in time, do the next scheduled step."""
        try:
            wait_s = max(0.0, self._follower.due_s - self._clock())
            job, future = self._jobs.get(timeout=wait_s)
        except queue.Empty:
            self._follow()
        else:
            self._execute(job, future)

    def _follow(self) -> None:
        try:
            reading = self._follower.step()
        except MeterError as error:
            if isinstance(error, MeterRefused) and self._follower.attached:
                # Somebody changed the meter's output. It still integrates, and it can be stopped.
                self._tell(replace(self._status, text=str(error)))
            else:
                self._lose(str(error))
            return
        if reading is None:
            self._tell(self._found)
            return
        self._tell(replace(self._status, text=""))
        self._status = replace(self._status, reading=reading)
        _hand_on(self._on_reading, reading)

    def _take_up(self) -> Meter:
        if self._open_meter is None:
            raise Unavailable("There is no power meter in this contest.")
        self._drop()
        self._meter = meter = self._open_meter()
        identity = meter.identify()
        self._found = MeterStatus(LinkState.OK, attach(meter), identity)
        return meter

    def _execute(self, job: Callable[[Meter], object], future: Future[object]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            with self._follower.lend() as meter:
                future.set_result(job(meter))
        except Exception as error:  # The caller gets the error; the thread must live on.
            future.set_exception(error)
            if not self._follower.attached:
                self._lose(str(error))

    def _lose(self, text: str) -> None:
        if self._follower.attached:
            self._follower.lose()
        self._drop()
        self.prepared = None
        self._tell(MeterStatus(LinkState.LOST, text, self._status.identity))

    def _drop(self) -> None:
        meter, self._meter = self._meter, None
        try:
            if meter is not None:
                meter.close()
        except Exception:  # A mistake in a driver. The link is dropped anyway.
            _log.exception("the link to the meter was not closed cleanly")

    def _tell(self, status: MeterStatus) -> None:
        """Publish a status; report it if its link or text has changed."""
        with self._told:
            before, self._status = self._status, status
            self._told.notify_all()
        if (before.link, before.text) == (status.link, status.text):
            return
        good = status.link is LinkState.OK and not status.text
        level = logging.INFO if good else logging.WARNING
        _log.log(level, "meter link %s: %s", status.link.value, status.text)
        _hand_on(self._on_link, status)


def _answered(ask: Callable[[], T]) -> T:
    """Return the result of `ask`; turn an error of the meter into `Unavailable`."""
    try:
        return ask()
    except MeterHolds as error:
        text = f"The power meter is not reset: {error.whole_text()}. Stop the referee meanwhile."
        raise Unavailable(text) from error
    except MeterError as error:
        raise Unavailable(str(error)) from error


def _hand_on(sink: Callable[[T], None], value: T) -> None:
    """Call `sink` with a value; its errors are logged, since they do not concern the meter."""
    try:
        sink(value)
    except Exception:
        _log.exception("what the meter reported was not taken")
