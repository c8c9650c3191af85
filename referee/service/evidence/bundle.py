# SPDX-License-Identifier: Apache-2.0
"""The evidence bundle: one zip file from which anybody can compute a session's score again."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

from referee import __version__
from referee.service.evidence import measurement, tables
from referee.service.evidence.encoding import csv_bytes, json_bytes, json_lines_bytes
from referee.service.evidence.session_facts import session_facts
from referee.service.setup.contest import Contest
from referee.store.readings import energy_of
from referee.store.scores import newest_scoring_run
from referee.store.sessions import SessionRecord, load_session

MEMBERS = (
    "session.json",
    "config.toml",
    "images.csv",
    "detections.csv",
    "late_detections.csv",
    "answers.csv",
    "requests.csv",
    "frames.csv",
    "power.csv",
    "readings.jsonl",
    "run.json",
    "meter.jsonl",
    "score.json",
    "verdict.json",
)
"""The members of a bundle, except `manifest.json`, which holds the SHA-256 of each member."""


def write_bundle(contest: Contest, session_id: int, path: Path) -> dict[str, str]:
    """Write the bundle of a session; return the SHA-256 of each member.

    The bundle is one consistent snapshot, even while the servers run. A score or a verdict that is
    not known yet is null. The file appears whole or not at all. Raises `Refusal` (code
    `session_unknown`).
    """
    with contest.database.read() as connection:
        contents = _members(contest, load_session(connection, session_id))
    digests = {name: hashlib.sha256(contents[name]).hexdigest() for name in MEMBERS}
    manifest = {
        "session": session_id,
        "referee_version": __version__,
        "written_utc": contest.clock.now().utc.isoformat(),
        "sha256": digests,
    }
    partial = path.with_name(path.name + ".part")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("manifest.json", json_bytes(manifest))
        for name in MEMBERS:
            bundle.writestr(name, contents[name])
    os.replace(partial, path)
    return digests


def _members(contest: Contest, session: SessionRecord) -> dict[str, bytes]:
    connection = contest.database.connection
    run = newest_scoring_run(connection, session.session_id)
    energy = energy_of(connection, session.session_id)
    return {
        "session.json": json_bytes(session_facts(contest, session)),
        "config.toml": contest.config.path.read_bytes(),
        "images.csv": csv_bytes(tables.IMAGE_HEADER, tables.images(contest, session)),
        "detections.csv": csv_bytes(None, tables.detections(contest, session, late=False)),
        "late_detections.csv": csv_bytes(None, tables.detections(contest, session, late=True)),
        "answers.csv": csv_bytes(tables.ANSWER_HEADER, tables.answers(contest, session)),
        "requests.csv": csv_bytes(tables.REQUEST_HEADER, tables.requests(contest, session)),
        "frames.csv": csv_bytes(tables.FRAME_HEADER, tables.frames(contest, session)),
        "power.csv": csv_bytes(tables.POWER_HEADER, tables.power(contest, session)),
        "readings.jsonl": json_lines_bytes(measurement.readings(contest, session)),
        "run.json": json_bytes(measurement.run_facts(contest, session, energy)),
        "meter.jsonl": measurement.meter_log(contest, session),
        "score.json": json_bytes(None if run is None else run.detail),
        "verdict.json": json_bytes(measurement.verdict(energy)),
    }
