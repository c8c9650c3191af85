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
from power.wt310.recorded import Conversation
from referee.core.instant import seconds_between
from referee.service.evidence.bundle_file import Finding
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
        ended = self.session.facts.ended
        starts = self.conversation.starts
        return ended is not None and any(start.utc > ended.utc for start in starts)


def unfounded(run: Outside, rows: Rows) -> Iterator[Finding]:
    """Yield what was added, and has no ground in the evidence."""
    for reason in run.reasons:
        founded = {
            "meter_used_again": run.used_again,
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
