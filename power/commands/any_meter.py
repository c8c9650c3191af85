# SPDX-License-Identifier: Apache-2.0
"""Open whichever meter a resource string names: a WT310, or one of another kind."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from power.commands.options import chosen_meter, make_wire_log
from power.connect import open_meter
from power.meter import Meter
from power.resource import is_official


@contextmanager
def any_meter(
    options: argparse.Namespace,
    *,
    sleep: Callable[[float], None] = time.sleep,
    asked_s: Callable[[], float] = lambda: math.inf,
) -> Iterator[Meter]:
    """Yield the meter that the options name, and leave it properly at every exit.

    A WT310 gets its panel back, as `chosen_meter` says. Other meters have none; they are closed.
    """
    if is_official(options.resource):
        with chosen_meter(options, sleep=sleep, asked_s=asked_s) as wt310:
            yield wt310
        return
    make_wire_log(options)
    meter = open_meter(
        options.resource,
        sleep=sleep,
        wire_log=options.wire_log,
        timeout_s=options.timeout,
        element=getattr(options, "element", None),
    )
    try:
        yield meter
    finally:
        meter.close()
