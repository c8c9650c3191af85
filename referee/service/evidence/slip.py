# SPDX-License-Identifier: Apache-2.0
"""The slip of a session: one line with session, score and chain, which binds the operator too.

The team keeps it. Whoever changes a fact of the session afterwards gets another chain, even if
every hash is computed anew and the bundle is signed again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from referee.errors import InputError
from referee.service.evidence.bundle_file import Finding
from referee.service.evidence.facts_read import FACTS, FactsRead
from referee.store.chain import strand_at_newest
from referee.store.database import Connection
from referee.store.scores import newest_scoring_run

# 80 bits: nobody finds another session with the same ones.
_DIGITS, _GROUP = 20, 4
_FORM = re.compile(r"\s*session\s+(\d+)\s+score\s+(\S+)\s+chain\s+([0-9A-Fa-f\s-]+?)\s*", re.I)


def slip_of(connection: Connection, session_id: int) -> str | None:
    """Return the text of a session's slip, or None before its score."""
    run = newest_scoring_run(connection, session_id)
    strand = strand_at_newest(connection, session_id, "scoring_runs")
    if run is None or strand is None:
        return None
    return slip_text(session_id, run.score, strand.hex())


def slip_text(session_id: int, score: float | None, strand: str) -> str:
    """Return the line, for example `session 3 score 0.255170 chain 9F3A-77C1-02DE-4B5A-8C11`."""
    short = strand[:_DIGITS].upper()
    groups = [short[start : start + _GROUP] for start in range(0, _DIGITS, _GROUP)]
    return f"session {session_id} score {_score(score)} chain {'-'.join(groups)}"


def slip_findings(slip: str, facts: FactsRead) -> Iterator[Finding]:
    """Compare a slip with the facts of a bundle; raise `InputError` for a text of another form."""
    form = _FORM.fullmatch(slip)
    short = "" if form is None else re.sub(r"[\s-]", "", form[3]).lower()
    if form is None or len(short) != _DIGITS:
        raise InputError(
            f"--slip '{slip}' is no slip: it reads 'session 3 score 0.255170 chain "
            "9F3A-77C1-02DE-4B5A-8C11'."
        )
    number = facts.session_id
    if int(form[1]) != number:
        yield Finding(FACTS, f"session: found {number}, the slip says {form[1]}.")
    of_slip = [score for strand, score in facts.scores if strand.startswith(short)]
    if not of_slip:
        yield Finding(FACTS, f"No score in it has the chain {form[3]} of the slip.")
        return
    score, newest = of_slip[0], facts.scores[-1][1]
    if form[2] != _score(score):
        yield Finding(FACTS, f"score: found {_score(score)}, the slip says {form[2]}.")
    if newest != score:
        yield Finding(
            "score.json", f"The score is {_score(newest)} since a later scoring run, not {form[2]}."
        )


def _score(score: float | None) -> str:
    return "none" if score is None else f"{score:.6f}"
