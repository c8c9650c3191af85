# SPDX-License-Identifier: Apache-2.0
"""Read the result of a run: twice the same, one update apart."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Protocol, TypeVar

from power.errors import MeterRefused, MeterReplyError
from power.meter import Meter, Reading

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

# A meter may show the final energy only with the update after the end, so the first reading can
# still be old; the one after that must agree. Some updates without data are outlasted.
_MOST_READINGS = 10
# Slightly more than one update, so that two readings never show the same one.
_APART = 1.1


class Call(Protocol):
    """A way to have a job done on a meter, and get its result or its `MeterError`."""

    def __call__(self, job: Callable[[Meter], _T], /) -> _T:
        """Carry out a job."""
        ...


def read_final(
    read: Callable[[], Reading], update_interval_s: float, sleep: Callable[[float], object]
) -> list[Reading]:
    """Return the readings after the end of a run; the last two agree unless the meter never does.

    `read` gives one reading of the meter. It is called two to ten times, one update apart. If the
    last readings disagree, `judge_energy` finds it.
    """
    readings = [read()]
    while len(readings) < _MOST_READINGS:
        sleep(_APART * update_interval_s)
        readings.append(read())
        last, before = readings[-1], readings[-2]
        same = (last.energy_wh, last.integration_s) == (before.energy_wh, before.integration_s)
        if same and last.energy_wh is not None and last.integration_s is not None:
            break
    return readings


def read_result(
    call: Call,
    update_interval_s: float,
    sleep: Callable[[float], object],
    *,
    expected_s: float = math.nan,
    tolerance_s: float = math.inf,
) -> list[Reading]:
    """Return the readings after the end of a run, also when somebody changed what the meter sends.

    Such a meter refuses readings, or shows an old integration time on a held display. The end is
    the first moment at which its output may be set right; the integrator has kept the energy.
    `expected_s` and `tolerance_s` say which integration time is right; as given, any number is.
    """

    def read() -> list[Reading]:
        return read_final(lambda: call(lambda meter: meter.read()), update_interval_s, sleep)

    try:
        readings = read()
        measured_s = readings[-1].integration_s
        if measured_s is not None and not abs(measured_s - expected_s) > tolerance_s:
            return readings
        _log.warning("the meter shows %s s after a run of %g s", measured_s, expected_s)
    except (MeterRefused, MeterReplyError) as error:
        _log.warning("the result cannot be read as the meter is set: %s", error)
    call(lambda meter: meter.arrange())
    return read()
