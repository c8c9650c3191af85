# SPDX-License-Identifier: Apache-2.0
"""What holds in a bundle that was verified: whose session it is, its result, and who signed it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from referee.core.dates import moment_text
from referee.service.evidence.bundle_file import Mismatch
from referee.service.evidence.signature import read_envelope
from referee.service.results.result_text import result_text
from referee.service.setup.contest import Contest
from referee.service.setup.signing_key import key_id, read_public_key
from referee.store.scores import ScoringRun
from referee.store.sessions import SessionRecord

# The name that an export gives a file, also beside another session of this number.
_NAMED = re.compile(r"session(\d{1,16})(?:-[0-9a-f]{8})?\.zip", re.I)
# So many digits of a key's id tell it from others.
_SHORT = 16


class SignatureState(Enum):
    """What is known of a bundle's signature."""

    GOOD = "good"
    """Every key that was given has signed what the bundle holds."""
    WRONG = "wrong"
    """A key that was given has not signed it, or it is not what was signed."""
    NONE = "none"
    """Nobody has signed it."""
    UNCHECKED = "unchecked"
    """It has signatures, or could not be read, and no key was given to check them by."""


@dataclass(frozen=True)
class WhatHolds:
    """The session of a bundle and its result; `mean_ap` is the accuracy of its track.

    `text` has all of it in a few lines, for people.
    """

    session: int
    team: str
    contest: str
    started_utc: str | None
    mean_ap: float | None
    energy_wh: float | None
    verdict: str
    score: float | None
    text: str


def what_holds(contest: Contest, session: SessionRecord, run: ScoringRun) -> WhatHolds:
    """Return what a bundle's session and its newest score are."""
    started = session.facts.started
    started_utc = None if started is None else started.utc.isoformat()
    detail = run.detail
    when = "never started" if started_utc is None else f"started {moment_text(started_utc)}"
    name = contest.config.contest.name
    first, *others = result_text(run, contest.track).splitlines()
    return WhatHolds(
        session=session.session_id,
        team=session.team,
        contest=name,
        started_utc=started_utc,
        mean_ap=run.accuracy,
        energy_wh=detail["energy_wh"],
        verdict=detail["verdict"],
        score=run.score,
        text="\n".join([first, f"  contest     {name}, {when}", *others]),
    )


def signature_state(
    manifest: Mapping[str, object], wrong: Sequence[Mismatch], keys: Sequence[Path]
) -> SignatureState:
    """Return what is known of a signature; `wrong` is what is not as it was signed."""
    envelope = manifest["envelope"]
    if envelope is None:
        return SignatureState.NONE
    if wrong:
        return SignatureState.WRONG
    if not read_envelope(envelope).signatures:
        return SignatureState.NONE
    return SignatureState.GOOD if keys else SignatureState.UNCHECKED


def signature_text(state: SignatureState, keys: Sequence[Path]) -> str:
    """Return in words what is known of the signature of a bundle that holds."""
    if state is SignatureState.GOOD:
        named = (f"{path} (key {key_id(read_public_key(path))[:_SHORT]})" for path in keys)
        return f"signed by {', '.join(named)}"
    if state is SignatureState.NONE:
        return "not signed"
    return "the signature was not checked"


def session_of_name(path: Path) -> int | None:
    """Return the session that a file's name says, as an export names it, or None."""
    found = _NAMED.fullmatch(path.name)
    return None if found is None else int(found[1])
