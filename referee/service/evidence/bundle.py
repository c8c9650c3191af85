# SPDX-License-Identifier: Apache-2.0
"""The evidence bundle: one zip from which anybody can compute a session's score again."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from referee import __version__
from referee.core.instant import Instant
from referee.core.states import state_of
from referee.service.setup.contest import Contest, order_of
from referee.store.answers import answers_after
from referee.store.images import load_manifest
from referee.store.notices import audit_of, notices_of
from referee.store.readings import energy_of, readings_of
from referee.store.requests import Request, requests_of
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
    "power.csv",
    "meter.jsonl",
    "score.json",
    "verdict.json",
)
"""Members of a bundle beside `manifest.json`, which holds the SHA-256 of each."""

# Lines of the meter's log that belong to a session begin this long before it was armed, which is
# when the meter is prepared, and end this long after its end, when the last values are read.
_BEFORE_S, _AFTER_S = 30.0, 150.0


def write_bundle(contest: Contest, session_id: int, path: Path) -> dict[str, str]:
    """Write the bundle of a session; return the SHA-256 of each member.

    It is taken from one consistent snapshot and works while the servers run; what is not known
    yet (a score, a verdict) is null. The file appears whole or not at all. Raises `Refusal` with
    code `session_unknown`.
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
        bundle.writestr("manifest.json", _json(manifest))
        for name in MEMBERS:
            bundle.writestr(name, contents[name])
    os.replace(partial, path)
    return digests


def _members(contest: Contest, session: SessionRecord) -> dict[str, bytes]:
    connection = contest.database.connection
    run = newest_scoring_run(connection, session.session_id)
    energy = energy_of(connection, session.session_id)
    verdict: dict[str, Any] = {"verdict": None, "reasons": []}
    if energy is not None:
        verdict = {
            "verdict": energy.verdict,
            "energy_wh": energy.energy_wh,
            "uncertainty_wh": energy.uncertainty_wh,
            **energy.detail,
        }
    return {
        "session.json": _json(_session(contest, session)),
        "config.toml": contest.config.path.read_bytes(),
        "images.csv": _csv(*_images(contest, session)),
        "detections.csv": _csv(None, _detections(contest, session, late=False)),
        "late_detections.csv": _csv(None, _detections(contest, session, late=True)),
        "answers.csv": _csv(_ANSWER_HEADER, _answers(contest, session)),
        "requests.csv": _csv(*_requests(contest, session)),
        "power.csv": _csv(_POWER_HEADER, _power(contest, session)),
        "meter.jsonl": _meter_lines(contest, session),
        "score.json": _json(None if run is None else run.detail),
        "verdict.json": _json(verdict),
    }


def _session(contest: Contest, session: SessionRecord) -> dict[str, Any]:
    facts = session.facts
    connection = contest.database.connection
    moments = {
        name: None if (at := getattr(facts, name)) is None else _instant(at)
        for name in ("armed", "started", "ended", "voided", "scored", "sealed")
    }
    return {
        "session": session.session_id,
        "team": session.team,
        "state": state_of(facts, contest.clock.now()).value,
        "length_s": facts.length_s,
        "end_cause": None if facts.end_cause is None else facts.end_cause.value,
        "void_reason": session.void_reason,
        # As text: it may have more than the 53 bits that JSON readers keep.
        "order_seed": None if session.order_seed is None else str(session.order_seed),
        "created_utc": session.created_utc,
        "moments": moments,
        "classes": {str(class_id): name for class_id, name in contest.classes.items()},
        "inputs": {
            name: asdict(file) | {"path": Path(file.path).name}
            for name, file in load_manifest(connection).inputs.items()
        },
        "notices": [asdict(notice) for notice in notices_of(connection, session.session_id)],
        "audit": audit_of(connection, session.session_id),
        "referee_version": __version__,
    }


def _instant(at: Instant) -> dict[str, Any]:
    return {"monotonic_s": at.monotonic_s, "utc": at.utc.isoformat(), "boot_id": at.boot_id}


def _images(
    contest: Contest, session: SessionRecord
) -> tuple[Sequence[str], Iterator[Sequence[object]]]:
    order = order_of(contest.image_count, session.order_seed)
    header = ("number", "image_id", "source_id", "file", "bytes", "width", "height", "sha256")

    def rows() -> Iterator[Sequence[object]]:
        for number, image_id in enumerate(order.tolist(), 1):
            e = contest.images[image_id - 1]
            name = Path(e.path).name
            yield number, image_id, e.source_id, name, e.size_bytes, e.width, e.height, e.sha256

    return header, rows()


def _detections(
    contest: Contest, session: SessionRecord, *, late: bool
) -> Iterator[Sequence[object]]:
    """Yield rows of the detections file's form; image_id is the number the contestant saw."""
    for answer in answers_after(contest.database.connection, session.session_id):
        if answer.late == late:
            d = answer.detections
            ids = zip(d.image_id.tolist(), d.class_id.tolist(), d.confidence.tolist(), strict=True)
            for (image_id, class_id, confidence), box in zip(ids, d.box.tolist(), strict=True):
                yield image_id, class_id, confidence, *box


_ANSWER_HEADER = (
    *("answer", "received_s", "utc", "late", "form", "address", "detections", "flagged"),
)


def _answers(contest: Contest, session: SessionRecord) -> Iterator[Sequence[object]]:
    for a in answers_after(contest.database.connection, session.session_id):
        yield (
            *(a.answer_id, a.elapsed_s, a.utc, int(a.late), a.form, a.address),
            *(len(a.detections), a.flagged_count),
        )


def _requests(
    contest: Contest, session: SessionRecord
) -> tuple[Sequence[str], Iterator[Sequence[object]]]:
    names = [field.name for field in fields(Request) if field.name != "session_id"]
    rows = requests_of(contest.database.connection, session.session_id)
    return names, ([getattr(row, name) for name in names] for row in rows)


_POWER_HEADER = (
    *("elapsed_s", "utc", "voltage_v", "current_a", "power_w", "energy_wh", "integration_s"),
    "state",
)


def _power(contest: Contest, session: SessionRecord) -> Iterator[Sequence[object]]:
    for elapsed_s, r in readings_of(contest.database.connection, session.session_id):
        yield (
            *(elapsed_s, r.utc.isoformat(), r.voltage_v, r.current_a, r.power_w, r.energy_wh),
            *(r.integration_s, r.state.value),
        )


def _meter_lines(contest: Contest, session: SessionRecord) -> bytes:
    """Return the lines of the meter's log around the session; it may have none.

    Their wall time decides, since it goes on across a reboot of the machine.
    """
    facts, path = session.facts, contest.config.wire_log
    if facts.armed is None or not path.exists():
        return b""
    first = facts.armed.utc - timedelta(seconds=_BEFORE_S)
    end = contest.clock.now().utc if facts.ended is None else facts.ended.utc
    last = end + timedelta(seconds=_AFTER_S)
    kept = []
    with path.open("rb") as log:
        for line in log:
            try:
                at = datetime.fromisoformat(json.loads(line)["utc"])
            except (ValueError, KeyError, TypeError):
                continue  # The last line of a desk that was killed may be cut.
            if first <= at <= last:
                kept.append(line)
    return b"".join(kept)


def _csv(header: Sequence[str] | None, rows: Iterable[Sequence[object]]) -> bytes:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    if header is not None:
        writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue().encode("utf-8")


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode("utf-8")
