# SPDX-License-Identifier: Apache-2.0
"""The sessions in a folder of copied evidence bundles, for a board without a network.

Only the small members that the board needs are read, and only of a bundle that is what was signed.
`referee verify` checks a bundle as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from referee.core.instant import Instant
from referee.core.states import SessionFacts
from referee.core.written_text import unfit_character
from referee.errors import InputError
from referee.extras.stations.notification import JudgementData, moment_of, with_conditions
from referee.service.event.figures import StoredResult, figures_of
from referee.service.event.told_conditions import TELLING_MEMBERS, conditions_in_bundle
from referee.service.evidence.as_signed import read_as_signed
from referee.service.evidence.bundle_file import (
    NO_VALUE,
    SESSION_MOST,
    NotABundle,
    json_of,
    opened_bundle,
)
from referee.store.readings import EnergyRecord
from referee.store.scores import ScoringRun
from referee.tracks.track import Track

_MEMBERS = ("session.json", "score.json", "verdict.json")
_READ = tuple(dict.fromkeys([*_MEMBERS, *TELLING_MEMBERS]))
# A session takes a day at most; years of it would be no length.
_LENGTH_MOST_S = 10 * 86400.0
_BUNDLES_MOST = 10_000
_MOMENT_MOST = 40


@dataclass(frozen=True)
class BundleSession:
    """A session as its bundle tells it.

    `station` is the key that signed the bundle, '' for one without a signature. `place` is the
    folder below the given one in which the bundle lies, or ''. `created_utc` tells it from another
    session of its number: a station whose folder was restored from a backup gives numbers again.
    `facts` is the length of the session's facts: they only grow, so the longer ones are the newer
    ones. `file` is its name below the given folder.
    """

    station: str
    place: str
    session: int
    created_utc: str
    team: str
    length_s: float
    void: bool
    judgement: JudgementData | None
    facts: int
    digest: str
    begun_utc: str = ""
    file: str = ""


class BundleFolder:
    """A folder of bundles, which may still come in; each file is read once.

    With `public_keys` a bundle counts only if one of them has signed it.
    """

    def __init__(self, folder: Path, track: Track[Any], public_keys: Sequence[Path] = ()) -> None:
        if not folder.is_dir():
            raise InputError(f"{folder} is no folder. Name the folder of the copied bundles.")
        self._folder, self._track = folder, track
        self._keys = public_keys
        self._known: dict[tuple[Path, int, int], BundleSession | str] = {}

    def read(self, tell: Callable[[str], object]) -> list[BundleSession]:
        """Return the newest bundle of each session; `tell` hears once of each that is none."""
        paths = sorted(self._folder.rglob("*.zip"))
        if len(paths) > _BUNDLES_MOST:
            tell(f"{self._folder}: of {len(paths)} bundles the first {_BUNDLES_MOST} count.")
        sessions: list[BundleSession | str] = []
        for path in paths[:_BUNDLES_MOST]:
            try:
                at = path.stat()
            except OSError:
                continue  # Somebody has removed it since.
            key = (path, at.st_mtime_ns, at.st_size)
            if key not in self._known:
                self._known[key] = self._read(path)
                if isinstance(self._known[key], str):
                    tell(f"{path}: {self._known[key]} It does not count.")
            sessions.append(self._known[key])
        return _newest([one for one in sessions if isinstance(one, BundleSession)])

    def _read(self, path: Path) -> BundleSession | str:
        """Return a bundle's session, or what is wrong with the file."""
        inside = path.relative_to(self._folder).parts
        place = inside[0] if len(inside) > 1 else ""
        try:
            with opened_bundle(path) as file:
                bundle = read_as_signed(file, _READ, self._keys)
            signer = bundle.checked or min(bundle.signers, default="")
            values = {name: json_of(name, bundle.members[name]) for name in _MEMBERS}
            session = _session(values, self._track, signer, place, bundle.sizes["facts.jsonl"])
            conditions = conditions_in_bundle(self._track, bundle.members)
            judgement = session.judgement
            if judgement is not None:
                judgement = with_conditions(judgement, conditions)
            return replace(session, file=Path(*inside).as_posix(), judgement=judgement)
        except NotABundle as error:
            return f"{error.finding.member or 'the file'}: {error.finding.what}"
        except NO_VALUE as error:
            return f"This is no whole bundle ({type(error).__name__}: {error})."


def _session(
    members: Mapping[str, Any], track: Track[Any], station: str, place: str, facts: int
) -> BundleSession:
    session, score, verdict = (members[name] for name in _MEMBERS)
    if session["track"] != track.name:
        raise NotABundle("session.json", f"It is of another track than '{track.name}'.")
    moments = session["moments"]
    void = moments["voided"] is not None
    judged = void or verdict["verdict"] is None
    bundle_session = BundleSession(
        station=station,
        place=place,
        session=int(session["session"]),
        created_utc=str(session["created_utc"])[:_MOMENT_MOST],
        team=str(session["team"])[:200],
        length_s=float(session["length_s"]),
        void=void,
        judgement=None if judged else _judgement(track, session, score, verdict),
        facts=facts,
        begun_utc="" if moments["started"] is None else str(moments["started"]["utc"]),
        digest=sha256(json.dumps(members, sort_keys=True).encode()).hexdigest(),
    )
    is_length = 0 < bundle_session.length_s <= _LENGTH_MOST_S
    if not (
        unfit_character(bundle_session.team) is None
        and is_length
        and 1 <= bundle_session.session <= SESSION_MOST
    ):
        raise NotABundle("session.json", "Team, length or number is none.")
    return bundle_session


def _judgement(
    track: Track[Any],
    session: Mapping[str, Any],
    score: Mapping[str, Any] | None,
    verdict: Mapping[str, Any],
) -> JudgementData:
    """Return the result as the station's feed would tell it; a score that is not known is null."""
    moments = session["moments"]
    facts = SessionFacts(
        float(session["length_s"]),
        started=_moment(moments["started"]),
        ended=_moment(moments["ended"]),
    )
    energy = EnergyRecord(
        0,
        0,
        "",
        verdict.get("energy_wh"),
        verdict.get("uncertainty_wh"),
        verdict["verdict"],
        verdict,
    )
    run, images = None, None
    if score is not None:
        run = ScoringRun(0, 0, score[track.accuracy.field], score[track.score.field], score)
        images = score.get("images_fetched")
    figures = figures_of(track, StoredResult(facts, energy, run, images)).values()
    fields = figures | {"judgement_type_id": None if run is None else energy.verdict}
    # JSON's text has only finite numbers here, so this also refuses NaN and infinities.
    return msgspec.json.decode(json.dumps(fields, allow_nan=False), type=JudgementData)


def _moment(fields: Mapping[str, Any] | None) -> Instant | None:
    if fields is None:
        return None
    return Instant(float(fields["monotonic_s"]), moment_of(fields["utc"]), str(fields["boot_id"]))


def _newest(sessions: Sequence[BundleSession]) -> list[BundleSession]:
    """Return the newest bundle of each session; an order that no file's name or time changes."""
    newest: dict[tuple[str, str, int, str], BundleSession] = {}
    for session in sorted(sessions, key=lambda bundle: (bundle.facts, bundle.digest)):
        place = session.place if not session.station else ""
        newest[session.station, place, session.session, session.created_utc] = session
    return [newest[key] for key in sorted(newest)]
