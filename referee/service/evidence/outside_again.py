# SPDX-License-Identifier: Apache-2.0
"""Findings from outside the judge: each needs a ground in the evidence, and none may be left out.

The judge cannot know what happened to the laptop and to its link. The desk adds it, and a forger
might add or leave out the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from power.energy.verdict import Finding as Reason
from power.meter import Reading
from power.wt310.recorded import Conversation, Started
from referee.core.instant import seconds_between
from referee.service.evidence.bundle_file import Finding
from referee.store.readings import SessionMeter
from referee.store.sessions import SessionRecord

Rows = Sequence[tuple[float, Reading]]
"""Stored readings with their session times."""

_AT_THE_END = ("meter_used_again", "not_read_at_end")
# The wall clock may be set by this much without a person's doing.
_CLOCK_S = 2.0


@dataclass(frozen=True)
class Outside:
    """What was added to a session's judgement: findings, and how long the laptop slept."""

    session: SessionRecord
    meter: SessionMeter
    reasons: Sequence[Reason]
    slept_s: float
    conversation: Conversation

    @property
    def codes(self) -> set[str]:
        """Return the codes of the findings."""
        return {reason.code for reason in self.reasons}

    @property
    def used_again(self) -> bool:
        """Tell whether the meter got a START after the session's end."""
        return not all(until_its_end(self.session, start) for start in self.conversation.starts)

    @property
    def replaced(self) -> bool:
        """Tell whether another meter answered last than at the start."""
        began = self.meter.identity
        told = [identity.serial for identity in self.conversation.identities]
        return bool(told) and told[-1] != (None if began is None else began.serial)


def until_its_end(session: SessionRecord, start: Started) -> bool:
    """Tell whether a START came before the session's end; the wall clock counts across a boot."""
    begun, ended = session.facts.started, session.facts.ended
    if ended is None:
        return True
    if begun is not None and begun.boot_id == ended.boot_id:
        return start.monotonic_s <= ended.monotonic_s
    return start.utc <= ended.utc


def unfounded(run: Outside, rows: Rows) -> Iterator[Finding]:
    """Yield what was added, and has no ground in the evidence."""
    for reason in run.reasons:
        founded = {
            "meter_used_again": run.used_again,
            "meter_replaced": run.replaced,
            # No reading of the end was stored, so the judge finds no confirmed end either.
            "not_read_at_end": True,
        }.get(reason.code, False)
        if not founded:
            yield Finding(
                "run.json", f"Nothing in the evidence says '{reason.code}': {reason.text}"
            )
    if run.slept_s > _CLOCK_S and not run.codes and _awake(run.slept_s, rows):
        yield Finding(
            "run.json", f"Nothing in the evidence says that the laptop slept {run.slept_s:.1f} s."
        )


def concealed(run: Outside, rows: Rows) -> Iterator[Finding]:
    """Yield what the evidence shows, and was not added."""
    facts = run.session.facts
    if facts.started is None or facts.ended is None or not rows:
        return
    if run.replaced and not run.codes & {"meter_replaced", *_AT_THE_END}:
        yield Finding("run.json", "Another meter answered last, and nothing says 'meter_replaced'.")
    length_s = seconds_between(facts.started, facts.ended)
    if max(elapsed_s for elapsed_s, _ in rows) >= length_s or run.codes & {*_AT_THE_END}:
        return
    code = "meter_used_again" if run.used_again else "not_read_at_end"
    yield Finding("run.json", f"The meter was not read after the end, and nothing says '{code}'.")


def _awake(slept_s: float, rows: Rows) -> bool:
    """Tell whether the wall clock never went so much further than the laptop's own clock."""
    ahead_s = 0.0
    for (_, before), (_, after) in pairwise(rows):
        passed_s = after.monotonic_s - before.monotonic_s
        if passed_s < 0:  # The laptop was started anew, and with it its own clock.
            return False
        ahead_s += max(0.0, (after.utc - before.utc).total_seconds() - passed_s)
    return ahead_s < slept_s - _CLOCK_S
