# SPDX-License-Identifier: Apache-2.0
"""The thread that reads a device again and again, and opens it anew when it was lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from power.errors import (
    MeterBusy,
    MeterError,
    MeterMismatch,
    MeterReplyError,
    MeterRestarted,
)
from power.follow import Schedule, back_off_s
from power.sampled.source import Sample, Source

_log = logging.getLogger(__name__)

# A source that waits by itself may still come back with nothing. This bounds how often.
_NOTHING_S = 0.005
_JOIN_S = 5.0
# A reply that nobody understands is a sample less. So many in a row are a lost device.
_BAD_REPLIES = 3


class DeviceThread:
    """The owner of an open device: its thread `device` reads it until `close`.

    `take` gets the open source and its samples. `trouble` gets a sentence when the device is lost,
    and "" when it answers again. `lose` is called for each reply that was no sample. `back` gets
    the source when a device was opened again, and whether that had started anew in between. All are
    called on that thread. The device must keep its identity, but for its firmware.
    """

    def __init__(
        self,
        open_source: Callable[[], Source],
        take: Callable[[Source, Sequence[Sample]], object],
        trouble: Callable[[str], object],
        clock: Callable[[], float],
        lose: Callable[[str], object] = lambda why: None,
        back: Callable[[Source, bool], object] = lambda source, restarted: None,
    ) -> None:
        """Open the device; raises its `MeterError`."""
        self._open_source = open_source
        self._take = take
        self._trouble = trouble
        self._clock = clock
        self._lose_sample = lose
        self._back = back
        self.source = open_source()
        self.identity = self.source.identity
        self._lost = self._restarted = False
        self._bad_replies = 0
        self._stopping = threading.Event()
        self._wake = threading.Event()
        # A daemon, because a call that hangs in a library must not keep the program alive.
        self._thread = threading.Thread(target=self._run, name="device", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def hurry(self) -> None:
        """Read now instead of at the next instant."""
        self._wake.set()

    def close(self) -> None:
        """End the thread and release the device; returns within five seconds."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(_JOIN_S)

    def _run(self) -> None:
        failures = 0
        origin_s = self._clock()
        while not self._stopping.is_set():
            try:
                samples = self._read()
            except Exception as error:  # a mistake in a driver counts as a lost device
                failures += 1
                self._lose(error)
                self._pause(back_off_s(failures))
                continue
            if failures and not self._bad_replies:
                failures = 0
                self._trouble("")
            self._take(self.source, samples)
            if self.source.poll_s:
                now_s = self._clock()
                due_s = Schedule(origin_s, self.source.poll_s).next_after(now_s)
                self._pause(due_s - now_s)
            elif not samples:
                self._pause(_NOTHING_S)
        self.source.close()

    def _read(self) -> Sequence[Sample]:
        if self._lost:
            self._open_again()
        try:
            samples = self.source.read()
        except MeterRestarted as error:
            _log.warning("%s; it is set up again", error)
            self.source.close()
            self._lost = self._restarted = True
            self._open_again()
            samples = self.source.read()
        except (MeterReplyError, MeterBusy) as error:
            self._bad_replies += 1
            if self._bad_replies >= _BAD_REPLIES:
                raise
            self._lose_sample(str(error))
            return ()
        self._bad_replies = 0
        return samples

    def _open_again(self) -> None:
        source = self._open_source()
        same = replace(source.identity, firmware=self.identity.firmware) == self.identity
        if not same:
            source.close()
            raise MeterMismatch(f"another device answers: {source.identity.serial}")
        # Only a device that has started anew has another firmware.
        restarted = self._restarted or source.identity != self.identity
        self.source, self.identity = source, source.identity
        self._lost = self._restarted = False
        self._back(source, restarted)

    def _lose(self, error: Exception) -> None:
        if not isinstance(error, MeterError):
            _log.exception("the driver of the meter failed")
        if not self._lost:
            self.source.close()
            self._lost = True
        self._trouble(str(error) if isinstance(error, MeterError) else repr(error))

    def _pause(self, seconds: float) -> None:
        self._wake.wait(max(0.0, seconds))
        if not self._stopping.is_set():
            self._wake.clear()
