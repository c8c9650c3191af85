# SPDX-License-Identifier: Apache-2.0
"""The score of a bundle computed again, from its rows and a ground truth from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from referee.formats.hashed_reads import HashedReads
from referee.service.evidence.bundle_file import Finding
from referee.service.evidence.differences import json_difference
from referee.service.evidence.inputs import inputs_of
from referee.service.results.final_score import compute_run
from referee.service.setup.contest import Contest, read_truth_with
from referee.store.readings import energy_of
from referee.store.scores import newest_scoring_run
from referee.store.sessions import SessionRecord

_SCORE = "score.json"
# The team's name at that time, and the version that scored, change no number.
_WORDS = ("team", "referee_version")


def score_findings(
    contest: Contest,
    session: SessionRecord,
    ground_truth: Path,
    blacklist: Path | None,
    reads: HashedReads,
) -> Iterator[Finding]:
    """Score the session again; yield what differs from its newest score.

    Raises `InputError` for a ground truth that cannot be read.
    """
    connection = contest.database.connection
    run = newest_scoring_run(connection, session.session_id)
    energy = energy_of(connection, session.session_id)
    if run is None or energy is None:
        yield Finding(_SCORE, "The session has no score.")
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
    truth, _ = read_truth_with(contest, ground_truth, blacklist, reads)
    again = compute_run(contest, truth, session, energy)
    for name, found, expected in (
        ("the newest answer in time", run.upto_answer_id, again.upto_answer_id),
        ("the energy's number", run.energy_id, again.energy_id),
        ("accuracy", run.accuracy, again.accuracy),
        ("score", run.score, again.score),
    ):
        if found != expected:
            yield Finding(_SCORE, f"{name}: found {found}, expected {expected}.")
    detail = json.loads(json.dumps(again.detail)) | {"inputs": stored.get("inputs")}
    for words in (stored, detail):
        for name in _WORDS if "inputs" in stored else (*_WORDS, "inputs"):
            words.pop(name, None)
    told = json_difference(stored, detail)
    if told is not None:
        yield Finding(_SCORE, f"scored again, {told}.")


def _strange_inputs(
    wanted: dict[str, str], contest: Contest, reads: HashedReads
) -> Iterator[Finding]:
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
        yield Finding(_SCORE, what)
