# SPDX-License-Identifier: Apache-2.0
"""Leave a meter as it was found: put its settings back at every exit, in bounded time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from power.clock import real_elapsed_s
from power.commands.interrupt import Job
from power.commands.output import say
from power.errors import MeterError
from power.wipe_guard import Guard
from power.wt310.driver import WT310

# Some eighty short questions and commands take 4 s on a serial line at 9600 baud.
_PUT_BACK_S = 10.0
# After a wish for an end: the time for a first answer, and for all others. A slow line, which shows
# in the first answer, gets as much as they need.
_HASTY_ANSWER_S = 0.3
_HASTY_PUT_BACK_S = 1.0
_ANSWERS = 200


@contextmanager
def as_found(meter: WT310, guard: Guard) -> Iterator[None]:
    """Put back the settings that the meter has now, when the block ends in any way.

    If the meter does not answer then, or holds what somebody else has measured meanwhile, a
    sentence says that it keeps other settings.
    """
    snapshot = meter.take_snapshot()

    def leave_as_found(hasty: bool) -> None:
        troubles: list[str] = []
        why = in_time(
            meter, lambda: troubles.extend(meter.put_back(snapshot, guard.leave())), hasty=hasty
        )
        if why or troubles:
            say(f"the meter did not get its settings back: {why or '; '.join(troubles)}")

    try:
        yield
    except KeyboardInterrupt:
        leave_as_found(hasty=True)
        raise
    except BaseException:
        leave_as_found(hasty=False)
        raise
    leave_as_found(hasty=False)


def in_time(meter: WT310, put_back: Callable[[], object], *, hasty: bool) -> str:
    """Have settings put back; return "", or why that did not work in time.

    `hasty` is for somebody who wants the end: a meter that does not answer at once is left then.
    """
    begun_s = real_elapsed_s()
    end_s = [begun_s + (_HASTY_ANSWER_S if hasty else _PUT_BACK_S)]

    def work() -> None:
        meter.pending_errors()  # a first question: does it answer at all?
        answered_s = real_elapsed_s()
        needed_s = max(_HASTY_PUT_BACK_S, _ANSWERS * (answered_s - begun_s))
        end_s[0] = answered_s + (min(needed_s, _PUT_BACK_S) if hasty else _PUT_BACK_S)
        if hasty:
            meter.hasten(_HASTY_ANSWER_S, end_s[0])
        put_back()

    if hasty:
        meter.hasten(_HASTY_ANSWER_S, end_s[0])
    try:
        done = Job(work, "put back").wait(lambda: end_s[0], lambda: False)
    except MeterError as error:
        return str(error)
    return "" if done else "the meter does not answer"
