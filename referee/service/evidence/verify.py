# SPDX-License-Identifier: Apache-2.0
"""The verification of a bundle: all of it is computed again, without the event's database."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from power.energy.verdict import Finding
from referee.errors import InputError
from referee.formats.hashed_reads import HashedReads
from referee.scoring.lpirc import normalized_accuracy
from referee.service.evidence.as_signed import hash_findings, read_as_signed, read_manifest
from referee.service.evidence.bundle import MEMBERS, members_of
from referee.service.evidence.bundle_file import (
    BLACKLIST,
    MANIFEST,
    NO_VALUE,
    Mismatch,
    NotABundle,
    opened_bundle,
    read_members,
)
from referee.service.evidence.differences import (
    blocks_difference,
    json_difference,
    without_additions,
)
from referee.service.evidence.facts import refuse_changed
from referee.service.evidence.facts_read import FACTS, read_facts
from referee.service.evidence.rejudge import energy_findings, later_findings
from referee.service.evidence.replay import replayed
from referee.service.evidence.shadow import shadow_findings
from referee.service.evidence.signature import signature_findings
from referee.service.evidence.slip import slip_findings
from referee.service.evidence.what_holds import (
    SignatureState,
    WhatHolds,
    signature_state,
    what_holds,
)
from referee.service.evidence.writer import writer_told
from referee.service.results.final_score import ANSWERED, compute_run, context_of
from referee.service.setup.contest import Contest
from referee.service.setup.contest_truth import read_truth_of
from referee.store.answers import newest_answer_id
from referee.store.readings import EnergyRecord, energy_of
from referee.store.requests import count_fetched_images
from referee.store.scores import ScoringRun, inputs_of, newest_scoring_run
from referee.store.sessions import SessionRecord
from referee.tracks.loading import trusted_tracks

_NOT_INTERPRETED = "Nothing in the bundle was interpreted."

_SCORE = "score.json"
# The team's name at that time, and the version that scored, change no number.
_WORDS = ("team", "referee_version")
# A sentence that says what the intervals mean; their numbers are compared.
_MEANING = "interval_of"
# What 1.0 told of a score, so every bundle has it. Later versions tell more.
_SINCE_1_0 = frozenset(
    """
    metric rules rules_version mean_ap grouped_mean_ap classes_with_ground_truth classes images
    truth_boxes detections scored ignored true_positives duplicates inverted coordinate_not_finite
    ap grouped_ap energy_wh score images_processed normalized_accuracy uncertainty session
    images_fetched uncertainty_wh verdict reasons emulated
    """.split()
)


@dataclass
class Verified:
    """What a verification found; without a finding all of the bundle holds, and `what` is known.

    `remarks` are what this version's judge finds in a run that an earlier rule has judged.
    """

    findings: list[Mismatch] = field(default_factory=list)
    what: WhatHolds | None = None
    remarks: list[Finding] = field(default_factory=list)
    signature: SignatureState = SignatureState.UNCHECKED


@dataclass(frozen=True)
class Asked:
    """What a bundle is verified with; see `verified`."""

    path: Path
    ground_truth: Path | None
    blacklist: Path | None = None
    public_keys: Sequence[Path] = ()
    slip: str | None = None
    shadow: bool = False
    track: str | None = None


def verify_bundle(
    path: Path,
    ground_truth: Path | None,
    blacklist: Path | None = None,
    *,
    public_keys: Sequence[Path] = (),
    slip: str | None = None,
    shadow: bool = False,
    track: str | None = None,
) -> list[Mismatch]:
    """Return the findings of `verified`; an empty list means that all of the bundle holds."""
    asked = Asked(path, ground_truth, blacklist, public_keys, slip, shadow, track)
    return verified(asked).findings


def verified(asked: Asked) -> Verified:
    """Compute everything in a bundle again; return what does not hold, or else what holds.

    Each of `public_keys` must have signed it, and its facts must be those of the `slip`. With
    `shadow` a second path scores as well, which shares no code with the first. The rules are those
    of the referee's own tracks, or of the module `track`, which the caller names. What a wanted key
    has not signed is not interpreted. Without a `ground_truth` the accuracy is not computed again,
    and `shadow` does nothing. A bundle that holds its blacklist needs no `blacklist`; one that is
    given must be the same.
    Raises `InputError` for a file or a ground truth that is not there or cannot be read.
    """
    trusted_tracks(asked.track)  # A wrong name is wrong use, whatever the bundle says.
    for needed in (asked.ground_truth, asked.blacklist):
        if needed is not None and not needed.exists():
            raise InputError(f"{needed} does not exist. Nothing was verified.")
    outcome = Verified()
    members: dict[str, bytes] = {}
    try:
        members = read_members(asked.path, MEMBERS)
        manifest = read_manifest(members)
        if _may_be_interpreted(asked, members, manifest, outcome):
            _compute_again(asked, members, manifest, outcome)
    except NotABundle as error:
        outcome.findings.append(error.finding)
    except InputError as error:
        blacklist = _own_blacklist(asked)
        if BLACKLIST not in members or error.path is None or error.path != blacklist:
            raise
        outcome.findings.append(Mismatch(BLACKLIST, f"It is no blacklist: {error}."))
    except NO_VALUE as error:
        what = f"A row has a value that no referee stores: {error!r}."
        outcome.findings.append(Mismatch(FACTS, what))
    if outcome.findings:
        outcome.what, outcome.remarks = None, []
    return outcome


def _may_be_interpreted(
    asked: Asked, members: Mapping[str, bytes], manifest: Mapping[str, object], outcome: Verified
) -> bool:
    """Compare signatures and hashes; tell whether what is in the members may be looked at."""
    findings, keys = outcome.findings, asked.public_keys
    unsigned = list(signature_findings(manifest, keys))
    findings += unsigned
    findings += hash_findings(members, manifest)
    outcome.signature = signature_state(manifest, findings, keys)
    if unsigned or (keys and findings):
        findings[0] = replace(findings[0], what=f"{findings[0].what} {_NOT_INTERPRETED}")
        return False
    return True


def _compute_again(
    asked: Asked, members: dict[str, bytes], manifest: Mapping[str, object], outcome: Verified
) -> None:
    """Compute rows, members, energy and score again; add what does not hold to the outcome."""
    findings, reads = outcome.findings, HashedReads()
    facts = read_facts(members)
    blacklist, others = _blacklist(asked, members, reads)
    findings += others
    if asked.slip is not None:
        findings += slip_findings(asked.slip, facts)
    with (
        tempfile.TemporaryDirectory(prefix="referee-verify-") as folder,
        replayed(members, facts, Path(folder), asked.track) as (contest, session),
    ):
        findings += _members(contest, session, members, manifest)
        findings += energy_findings(contest, session, members)
        if not asked.shadow:  # A million boxes are 100 MB of text, and the score takes the rows.
            del members["detections.csv"]
        findings += score_findings(contest, session, asked.ground_truth, blacklist, reads)
        run = newest_scoring_run(contest.database.connection, session.session_id)
        if run is not None and not findings:
            outcome.what = what_holds(contest, session, run)
        if not findings:
            outcome.remarks = later_findings(contest, session)
    if asked.shadow and asked.ground_truth is not None:
        findings += shadow_findings(members, asked.ground_truth, blacklist, reads.stored)


def _own_blacklist(asked: Asked) -> Path:
    """Return a path that says where the bytes of a bundle's own blacklist come from."""
    return asked.path / BLACKLIST


def _blacklist(
    asked: Asked, members: Mapping[str, bytes], reads: HashedReads
) -> tuple[Path | None, list[Mismatch]]:
    """Return the blacklist to score with, and what does not hold about the one that is given.

    The bundle's own one is not unpacked: `reads` keeps its bytes under `_own_blacklist`.
    """
    given = asked.blacklist
    if BLACKLIST not in members:
        return given, []
    bundled = _own_blacklist(asked)
    reads.keep(bundled, members[BLACKLIST])
    if given is None:
        return bundled, []
    found, expected = reads.sha256_of(given), reads.sha256_of(bundled)
    if found == expected:
        return bundled, []
    what = f"{given} is another blacklist: found SHA-256 {found}, expected {expected}."
    return bundled, [Mismatch(BLACKLIST, what)]


def _members(
    contest: Contest,
    session: SessionRecord,
    members: Mapping[str, bytes],
    manifest: Mapping[str, Any],
) -> Iterator[Mismatch]:
    """Write every member again from the session's rows, and compare."""
    if manifest["session"] != session.session_id:
        found, expected = manifest["session"], session.session_id
        yield Mismatch(MANIFEST, f"session: found {found}, expected {expected}.")
    writer = replace(writer_told(members), version=manifest["referee_version"])
    written = members_of(contest, session, refuse_changed, writer)
    for name in sorted(members.keys() - written.keys() - {MANIFEST}):
        yield Mismatch(name, "The session was not scored with it.")
    for name, blocks in written.items():
        difference = blocks_difference(members[name], blocks)
        if difference is not None:
            yield Mismatch(name, f"{difference}.")


def score_findings(
    contest: Contest,
    session: SessionRecord,
    ground_truth: Path | None,
    blacklist: Path | None,
    reads: HashedReads,
) -> Iterator[Mismatch]:
    """Score the session again; yield what differs from its newest score.

    Without a ground truth only what the score says of the session is compared. Raises `InputError`
    for a ground truth that cannot be read.
    """
    connection = contest.database.connection
    run = newest_scoring_run(connection, session.session_id)
    energy = energy_of(connection, session.session_id)
    if run is None or energy is None:
        yield Mismatch(_SCORE, "The session has no score.")
        return
    if ground_truth is None:
        yield from _context_findings(contest, session, run, energy)
        return
    images = replace(
        contest.config.images, ground_truth=ground_truth, sizes=None, blacklist=blacklist
    )
    contest = replace(contest, config=replace(contest.config, images=images))
    stored = json.loads(json.dumps(run.detail))
    strange = list(_strange_inputs(inputs_of(connection, run), contest, reads))
    if strange:
        yield from strange
        return
    truth, _ = read_truth_of(contest, contest.config, reads)
    uncertainty = stored.get("uncertainty") or {}
    again = compute_run(contest, truth, session, energy, uncertainty.get("interval_rule", 1))
    for name, found, expected in (
        ("the newest answer in time", run.upto_answer_id, again.upto_answer_id),
        ("the energy's number", run.energy_id, again.energy_id),
        ("accuracy", run.accuracy, again.accuracy),
        ("score", run.score, again.score),
    ):
        if found != expected:
            yield Mismatch(_SCORE, f"{name}: found {found}, expected {expected}.")
    detail = json.loads(json.dumps(again.detail)) | {"inputs": stored.get("inputs")}
    if ANSWERED not in stored:
        detail = _by_images_fetched(detail)
    for words in (stored, detail):
        for name in _WORDS if "inputs" in stored else (*_WORDS, "inputs"):
            words.pop(name, None)
        (words.get("uncertainty") or {}).pop(_MEANING, None)
    difference = json_difference(stored, without_additions(stored, detail, _SINCE_1_0))
    if difference is not None:
        yield Mismatch(_SCORE, f"scored again, {difference}.")


def _by_images_fetched(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return a score as early versions made it, which counted images fetched as processed."""
    early = dict(detail)
    if "normalized_accuracy" in early:
        fetched = early["images_fetched"]
        early["images_processed"] = fetched
        early["normalized_accuracy"] = normalized_accuracy(
            early["mean_ap"], fetched, early["images"]
        )
    return early


def _context_findings(
    contest: Contest, session: SessionRecord, run: ScoringRun, energy: EnergyRecord
) -> Iterator[Mismatch]:
    """Yield what a score says of its session and its energy that is not so."""
    upto = newest_answer_id(contest.database.connection, session.session_id)
    stored = {"energy": run.energy_id, "answers": run.upto_answer_id, **run.detail}
    fetched = count_fetched_images(contest.database.connection, session.session_id)
    facts = {"energy": energy.energy_id, "answers": upto, **context_of(session, energy, fetched)}
    for name in sorted(facts.keys() - set(_WORDS)):
        found, expected = stored.get(name), facts[name]
        if found != expected:
            yield Mismatch(_SCORE, f"{name}: found {found}, expected {expected}.")


def truth_sha256(path: Path) -> str:
    """Return the SHA-256 of the ground truth that a session was scored with, as its bundle says.

    The bundle is one in which `verify_bundle` has found nothing.
    """
    with opened_bundle(path) as file:
        members = read_as_signed(file, ("session.json", _SCORE)).members
    inputs = json.loads(members["session.json"])["inputs"]
    other = json.loads(members[_SCORE]).get("inputs", {})
    return str(other.get("ground_truth") or inputs["ground_truth"]["sha256"])


def _strange_inputs(
    wanted: dict[str, str], contest: Contest, reads: HashedReads
) -> Iterator[Mismatch]:
    """Yield the files that are not those of the score."""
    images = contest.config.images
    for name, path in (("ground_truth", images.ground_truth), ("blacklist", images.blacklist)):
        expected = wanted.get(name)
        found = None if path is None else reads.sha256_of(path)
        if found == expected:
            continue
        if found is None:
            what = f"The session was scored with a {name}, and none is given."
        elif expected is None:
            what = f"The session was scored without a {name}: leave {path} out."
        else:
            what = (
                f"{path} is not the session's {name}: found SHA-256 {found}, expected {expected}."
            )
        yield Mismatch(_SCORE, what)
