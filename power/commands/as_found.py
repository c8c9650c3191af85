# SPDX-License-Identifier: Apache-2.0
"""Leave a meter as it was found: put its settings back at every exit, in bounded time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from power.commands.interrupt import Job
from power.commands.output import say
from power.errors import MeterError
from power.wt310.driver import WT310

# Some eighty short questions and commands take 4 s on a serial line at 9600 baud.
_PUT_BACK_S = 10.0
_ANSWER_S = 0.3


@contextmanager
def as_found(meter: WT310) -> Iterator[None]:
    """Put back the settings that the meter has now, when the block ends in any way.

    If the meter does not answer then, a sentence says that it keeps other settings.
    """
    found = meter.take_snapshot()
    troubles: list[str] = []
    end_s = [0.0]

    def put_back() -> None:
        meter.pending_errors()  # a first question: does it answer at all?
        end_s[0] = time.monotonic() + _PUT_BACK_S
        try:
            troubles.extend(meter.put_back(found))
        except MeterError as error:
            troubles.append(str(error))

    def leave_as_found(answer_s: float) -> None:
        end_s[0] = time.monotonic() + answer_s
        try:
            if not Job(put_back, "put back").wait(lambda: end_s[0], lambda: False):
                troubles.append("the meter does not answer")
        except MeterError as error:
            troubles.append(str(error))
        if troubles:
            say(f"the meter did not get its settings back: {'; '.join(troubles)}")

    try:
        yield
    except KeyboardInterrupt:
        leave_as_found(_ANSWER_S)
        raise
    except BaseException:
        leave_as_found(_PUT_BACK_S)
        raise
    leave_as_found(_PUT_BACK_S)
