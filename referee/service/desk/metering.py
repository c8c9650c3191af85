# SPDX-License-Identifier: Apache-2.0
"""The one thread that talks to the meter: readings on a schedule, commands in between."""

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

from power.errors import MeterError, MeterRefused
from power.follow import Follower, Schedule, attach, read_result
from power.meter import (
    Identity,
    IntegrationStart,
    IntegrationState,
    Meter,
    MeterSettings,
    Reading,
)
from referee.errors import Unavailable
from referee.service.desk.watched_thread import WatchedThread

T = TypeVar("T")

# The longest that a command may take, with its wait for a reading that is being taken. The meter's
# own waits are shorter.
_COMMAND_S = 25.0
_OPEN_S = 10.0
# The integrator counts whole seconds, and its newest figure is up to an update old.
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
    """What is known of the meter at this moment.

    `text` says what is wrong, if anything. A link that is OK may have one, too: then the meter
    takes commands and cannot be read.
    """

    link: LinkState
    text: str = ""
    identity: Identity | None = None
    reading: Reading | None = None


class Metering:
    """The owner of the meter: its thread `meter` opens it, reads it, and carries out commands.

    `open_meter` makes a new link; None means that sessions are run without a meter. `on_reading`
    gets each reading and `on_link` each change of the link, both on the meter's thread. `on_death`
    gets a sentence when that thread has died, before it goes on. A link that fails is closed,
    opened again and attached. That never resets a running integration.
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
    ) -> None:
        self.settings = settings
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
        self._thread = WatchedThread("meter", self._run, self._stopping, on_death)

    @property
    def status(self) -> MeterStatus:
        """Return the newest status; it may be read from any thread."""
        return self._status

    def start_thread(self) -> None:
        """Begin to connect and read."""
        if self._open_meter is not None:
            self._thread.start()

    def close(self, timeout_s: float = 10.0) -> None:
        """End the thread and release the link; an integration that runs goes on."""
        self._stopping.set()
        if self._thread.is_alive():
            self._jobs.put((lambda meter: None, Future()))
            self._thread.join(timeout_s)

    def prepare(self, timer_s: int) -> MeterSettings:
        """Reset the integrator and set everything for a session of `timer_s` seconds."""
        wanted = replace(self.settings, timer_s=timer_s)
        if self._open_meter is None:
            return wanted
        return self._do(lambda meter: meter.prepare(wanted))

    def start(self) -> IntegrationStart | None:
        """Start the integration; returns when the meter reports that it runs, None without one."""
        if self._open_meter is None:
            return None
        return self._do(lambda meter: meter.start())

    def stop(self) -> IntegrationState | None:
        """End the integration and return how it ended; None without a meter."""
        if self._open_meter is None:
            return None
        return self._do(lambda meter: meter.stop())

    def read_final(
        self, sleep: Callable[[float], object], expected_s: float = math.nan
    ) -> list[Reading]:
        """Return the readings after an end, the last two equal and one update apart.

        `expected_s` is how long the meter should have integrated. If it shows another time, its
        display may be held: then its output is set right, and it is read again. The scheduled
        readings go on in between. Without a meter the list is empty.
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
        """Have the meter's thread carry out a job and return its result, or raise its error."""
        with self._told:
            # A command that comes while the first link is being opened waits for it.
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
            except Exception as error:  # A mistake in a driver: told, and survived as a lost link.
                _log.exception("the meter's driver failed")
                self._lose(f"Its driver failed ({error!r}); the log says where.")
        self._drop()

    def _step(self) -> None:
        """Wait for a command and carry it out, or do what is due before one comes."""
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
                # Somebody changed what the meter sends. It goes on integrating, and can be stopped.
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
            future.set_result(self._follower.call(job))
        except Exception as error:  # The one who asked gets it; the thread must live on.
            future.set_exception(error)
            if not self._follower.attached:
                self._lose(str(error))

    def _lose(self, text: str) -> None:
        if self._follower.attached:
            self._follower.lose()
        self._drop()
        self._tell(MeterStatus(LinkState.LOST, text, self._status.identity))

    def _drop(self) -> None:
        meter, self._meter = self._meter, None
        try:
            if meter is not None:
                meter.close()
        except Exception:  # A mistake in a driver: what is to be closed is given up anyway.
            _log.exception("the link to the meter was not closed cleanly")

    def _tell(self, status: MeterStatus) -> None:
        """Publish a status; tell of it when link or text are new."""
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
    """Return what somebody asked of the meter; an error of the meter is `Unavailable` for them."""
    try:
        return ask()
    except MeterError as error:
        raise Unavailable(str(error)) from error


def _hand_on(sink: Callable[[T], None], value: T) -> None:
    """Give somebody a value; what goes wrong there is no fault of the meter's link."""
    try:
        sink(value)
    except Exception:
        _log.exception("what the meter reported was not taken")
