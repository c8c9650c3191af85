# SPDX-License-Identifier: Apache-2.0
"""The one thread that talks to the meter: readings on a schedule, commands in between."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

from power.energy.final import read_final
from power.errors import MeterError, MeterRefused, MeterReplyError, MeterUnreachable
from power.meter import (
    Identity,
    IntegrationStart,
    IntegrationState,
    Meter,
    MeterSettings,
    Reading,
)
from referee.errors import Unavailable

T = TypeVar("T")

# Longest time that a command may take, its wait for a reading under way included; the meter's
# own waits are bounded below it.
_COMMAND_S = 25.0
_OPEN_S = 10.0
_RETRY_FIRST_S = 0.5
_RETRY_MOST_S = 5.0

_THREAD_GONE = "The referee's thread for the meter has ended; start the referee again."

_log = logging.getLogger(__name__)


class LinkState(Enum):
    """Name how the link to the meter is."""

    NONE = "none"
    CONNECTING = "connecting"
    OK = "ok"
    LOST = "lost"


@dataclass(frozen=True)
class MeterStatus:
    """Hold what is known of the meter at this moment; `text` says what is wrong, if anything."""

    link: LinkState
    text: str = ""
    identity: Identity | None = None
    reading: Reading | None = None


class Metering:
    """Own the meter: thread `meter` opens it, reads it, and takes it up again after a fault.

    `open_meter` makes a new link (None: sessions are run without a meter). `on_reading` gets each
    reading and `on_link` each change of the link, both on the meter's thread. A lost link is
    closed, opened again and attached, which never resets a running integration.
    """

    def __init__(
        self,
        open_meter: Callable[[], Meter] | None,
        settings: MeterSettings,
        *,
        on_reading: Callable[[Reading], None] = lambda reading: None,
        on_link: Callable[[MeterStatus], None] = lambda status: None,
    ) -> None:
        self.settings = settings
        self._open_meter = open_meter
        self._on_reading = on_reading
        self._on_link = on_link
        self._meter: Meter | None = None
        self._jobs: queue.Queue[tuple[Callable[[Meter], object], Future[object]]] = queue.Queue()
        self._begun = False
        self._stopping = threading.Event()
        self._retry_s = _RETRY_FIRST_S
        self._status = MeterStatus(LinkState.CONNECTING if open_meter else LinkState.NONE)
        self._told = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="meter", daemon=True)

    @property
    def status(self) -> MeterStatus:
        """Return the newest status; it may be read from any thread."""
        status = self._status
        if self._begun and not self._stopping.is_set() and not self._thread.is_alive():
            return MeterStatus(LinkState.LOST, _THREAD_GONE, status.identity)
        return status

    def start_thread(self) -> None:
        """Begin to connect and read."""
        if self._open_meter is not None:
            self._begun = True
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

    def read_final(self, sleep: Callable[[float], object]) -> list[Reading]:
        """Return the readings after an end, the last two equal and one update apart.

        The scheduled readings go on in between; without a meter the list is empty.
        """
        if self._open_meter is None:
            return []
        return read_final(
            lambda: self._do(lambda meter: meter.read()), self.settings.update_interval_s, sleep
        )

    def _do(self, job: Callable[[Meter], T]) -> T:
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
        except MeterError as error:
            raise Unavailable(str(error)) from error

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopping.is_set():
            try:
                due = self._step(due)
            except Exception as error:  # A mistake in a driver: told, and survived as a lost link.
                _log.exception("the meter's driver failed")
                self._lose(f"Its driver failed ({error!r}); the log says where.")
                self._stopping.wait(self._retry_s)
        self._drop()

    def _step(self, due: float) -> float:
        """Connect, or carry out one command, or read when it is due; return the next due time."""
        if self._meter is None:
            self._connect()
            return time.monotonic()
        try:
            job, future = self._jobs.get(timeout=max(0.0, due - time.monotonic()))
        except queue.Empty:
            self._take_reading()
            # The grid of due times is kept; after a delay the missed ones are left out.
            step = self.settings.update_interval_s
            return due + step * max(1, round((time.monotonic() - due) / step))
        self._execute(self._meter, job, future)
        return due

    def _connect(self) -> None:
        open_meter = self._open_meter
        if open_meter is None:
            return
        try:
            self._meter = open_meter()
            identity = self._meter.identify()
            _attach(self._meter)
        except MeterError as error:
            self._lose(str(error))
            self._stopping.wait(self._retry_s)
            self._retry_s = min(2 * self._retry_s, _RETRY_MOST_S)
            return
        self._retry_s = _RETRY_FIRST_S
        self._tell(MeterStatus(LinkState.OK, "", identity))

    def _take_reading(self) -> None:
        meter = self._meter
        if meter is None:
            return
        try:
            reading = meter.read()
        except MeterError as error:
            self._lose(str(error))
            return
        self._status = replace(self._status, reading=reading)
        _hand_on(self._on_reading, reading)

    def _execute(
        self, meter: Meter, job: Callable[[Meter], object], future: Future[object]
    ) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(job(meter))
        except (MeterUnreachable, MeterReplyError) as error:
            future.set_exception(error)
            self._lose(str(error))
        except Exception as error:  # The one who asked gets it; the thread must live on.
            future.set_exception(error)

    def _lose(self, text: str) -> None:
        self._drop()
        if self._status.link is not LinkState.LOST or self._status.text != text:
            self._tell(MeterStatus(LinkState.LOST, text, self._status.identity))

    def _drop(self) -> None:
        meter, self._meter = self._meter, None
        try:
            if meter is not None:
                meter.close()
        except Exception:  # A mistake in a driver: what is to be closed is given up anyway.
            _log.exception("the link to the meter was not closed cleanly")

    def _tell(self, status: MeterStatus) -> None:
        with self._told:
            self._status = status
            self._told.notify_all()
        _log.log(
            logging.INFO if status.link is LinkState.OK else logging.WARNING,
            "meter link %s: %s",
            status.link.value,
            status.text,
        )
        _hand_on(self._on_link, status)


def _hand_on(sink: Callable[[T], None], value: T) -> None:
    """Give somebody a value; what goes wrong there is no fault of the meter's link."""
    try:
        sink(value)
    except Exception:
        _log.exception("what the meter reported was not taken")


def _attach(meter: Meter) -> IntegrationState:
    """Attach, after telling a meter that was never ours what to send; no integration changes."""
    try:
        return meter.attach()
    except MeterRefused:
        meter.arrange()
        return meter.attach()
