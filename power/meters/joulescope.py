# SPDX-License-Identifier: Apache-2.0
"""Joulescopes over `pyjoulescope_driver`: the means that the device itself makes.

The topics are those of the library's own command `statistics`.
"""

from __future__ import annotations

import json
import math
import queue
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from power.errors import MeterMismatch, MeterReplyError, MeterUnreachable
from power.meter import Identity, Sampling
from power.meters.kinds import MeterKind, Seen, sampled
from power.resource import Resource
from power.sampled.source import DeviceTime, Sample, Tools, finite

_SIGNALS = ("power", "voltage", "current")


@dataclass(frozen=True)
class _Model:
    """How a model is told to measure, and how often it sends means.

    `range_topic` chooses automatic ranges. `stats_hz` is the rate of the samples of which it makes
    means; 0 if it sends them unasked. `most_w` is the end of its ranges of voltage and current.
    """

    range_topic: str
    value_topic: str
    interval_s: float
    stats_hz: int
    most_w: float


_MODELS = {
    # The sensor's own means, twice a second.
    "js110": _Model("s/i/range/select", "s/sstats/value", 0.5, 0, 15.0 * 10.0),
    "js220": _Model("s/i/range/mode", "s/stats/value", 0.1, 1_000_000, 15.0 * 10.0),
    "js320": _Model("s/i/range/mode", "s/stats/value", 0.1, 1_000_000, 15.0 * 15.0),
}
_MISSED = 5
_WAIT_S = 0.5
# A device that was unplugged is told by its silence alone.
_SILENT_S = 3.0
# No reader falls so far behind: at ten means a second these are ten minutes.
_MOST_WAITING = 6000


class Joulescope:
    """One device by its serial number, or the only one; each sample is the mean of its span."""

    poll_s = 0.0
    counter_lag_s = 1.0
    counter_step_wh = 0.0
    counter_lasts = False  # the library begins at zero

    def __init__(
        self, resource: Resource, tools: Tools, make_driver: Callable[[], Any] | None = None
    ) -> None:
        self._clock, self._note = tools.clock, tools.note
        self._driver = _driver() if make_driver is None else make_driver()
        self._came: queue.Queue[tuple[float, Any]] = queue.Queue(_MOST_WAITING)
        # A bound method is a new object each time, and only the same one can be unsubscribed.
        self._keep = self._take
        self._time, self._end_s = DeviceTime(), -math.inf
        self._heard_s = tools.clock()
        self._lost = 0
        try:
            paths = self._driver.device_paths()
            self._note("received", json.dumps(list(paths)))
            self._path = _chosen(paths, resource.address)
            self._topic = self._set_up()
        except RuntimeError as error:
            self._driver.finalize()
            raise MeterUnreachable(f"the Joulescope cannot be opened: {error}") from error
        except BaseException:
            self._driver.finalize()
            raise
        _, model, serial = self._path.split("/")
        self.identity = Identity("Jetperch", model.upper(), serial, "")
        self.sampling = Sampling(
            "joulescope",
            None,
            longest_gap_s=_MISSED * _MODELS[model].interval_s,
            most_w=_MODELS[model].most_w,
            current_step_a=1e-3,
        )

    def read(self) -> Sequence[Sample]:
        """Wait for means at most half a second, and return all that have come."""
        came = []
        with suppress(queue.Empty):
            came.append(self._came.get(timeout=_WAIT_S))
            while True:
                came.append(self._came.get_nowait())
        self._heard_s = came[-1][0] if came else self._heard_s
        if self._clock() - self._heard_s > _SILENT_S:
            raise MeterUnreachable(f"the Joulescope {self.identity.serial} sends nothing any more")
        samples: list[Sample] = []
        faults: list[MeterReplyError] = []
        for arrived_s, value in came:
            try:
                sample = self._sample(arrived_s, value)
            except MeterReplyError as error:
                faults.append(error)
                sample = None
            if sample is None:
                self._lost += 1
                continue
            samples.append(replace(sample, lost=self._lost))
            self._lost = 0
        if faults and not samples:
            raise faults[0]
        return samples

    def close(self) -> None:
        """Release the device."""
        with suppress(RuntimeError):  # it may be unplugged
            self._driver.unsubscribe(self._topic, self._keep)
            self._driver.close(self._path)
        self._driver.finalize()

    def _set_up(self) -> str:
        """Open the device on automatic ranges, and return the topic of its means."""
        driver, path = self._driver, self._path
        model = _MODELS[path.split("/")[1]]
        driver.open(path)
        driver.publish(f"{path}/{model.range_topic}", "auto")
        if model.stats_hz:
            driver.publish(f"{path}/s/stats/scnt", round(model.stats_hz * model.interval_s))
            driver.publish(f"{path}/s/stats/ctrl", 1)
        topic = f"{path}/{model.value_topic}"
        driver.subscribe(topic, "pub", self._keep)
        return topic

    def _take(self, topic: str, value: Any) -> None:
        """Keep a mean; this is called on the driver's own thread."""
        with suppress(queue.Full):
            self._came.put_nowait((self._clock(), value))
        self._note("received", json.dumps(value, default=repr))

    def _sample(self, arrived_s: float, value: Any) -> Sample | None:
        """Return a mean as a sample; None for NaN, which stands where the device has lost data."""
        try:
            begin_s, end_s = value["time"]["range"]["value"]
            means = {name: value["signals"][name]["avg"]["value"] for name in _SIGNALS}
            joules = value["accumulators"]["energy"]["value"]
        except (KeyError, TypeError, ValueError) as error:
            raise MeterReplyError(f"the Joulescope sent no statistics: {error!r}") from None
        numbers = [one for one in (*means.values(), joules) if isinstance(one, float)]
        if not all(map(math.isfinite, numbers)):
            return None
        end_s = finite(end_s, "the end of a mean")
        if end_s <= self._end_s:
            # It counts its time anew, so what told the clocks apart tells nothing any more.
            self._time = DeviceTime()
            self._lost += 1
        self._end_s = end_s
        power_w, voltage_v, current_a = (finite(means[name], name) for name in _SIGNALS)
        return Sample(
            self._time.host_s(end_s, arrived_s),
            power_w,
            voltage_v,
            current_a,
            span_s=end_s - finite(begin_s, "the begin of a mean"),
            counter_wh=finite(joules, "energy") / 3600,
        )


def _driver() -> Any:
    try:
        from pyjoulescope_driver import Driver
    except ImportError:
        raise MeterUnreachable(
            "a Joulescope needs the library pyjoulescope_driver: "
            "pip install pyjoulescope_driver (the extra 'meters')"
        ) from None
    return Driver()


def _chosen(paths: Sequence[str], serial: str) -> str:
    """Return the path of the device with a serial number, or of the only one."""
    ours = [path for path in paths if path.split("/")[1] in _MODELS]
    devices = [path for path in ours if not serial or path.endswith(f"/{serial}")]
    listed = ", ".join(path.rsplit("/", 1)[-1] for path in ours) or "none"
    if not devices:
        what = f"no Joulescope {serial}".rstrip()
        raise MeterUnreachable(
            f"{what} is plugged in, or this user may not open it; found: {listed}"
        )
    if len(devices) > 1:
        raise MeterMismatch(f"several Joulescopes are plugged in: {listed}; name one by its serial")
    return devices[0]


def find() -> Seen:
    """Return the devices that are plugged in; without the library none is looked for."""
    try:
        driver = _driver()
    except MeterUnreachable:
        return Seen()
    try:
        paths = [path for path in driver.device_paths() if path.split("/")[1] in _MODELS]
    except RuntimeError as error:
        return Seen(hints=[f"Joulescopes cannot be looked for: {error}"])
    finally:
        driver.finalize()
    return Seen([f"joulescope:{path.rsplit('/', 1)[-1]}" for path in paths])


KIND = MeterKind(
    summary="a Joulescope JS320, JS220 or JS110 on USB: direct current, as the means that it makes",
    syntax="joulescope:[SERIAL][?accuracy=PERCENT]",
    open=sampled(Joulescope, lambda resource: resource.known_options(())),
    find=find,
)
