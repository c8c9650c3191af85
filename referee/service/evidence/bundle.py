# SPDX-License-Identifier: Apache-2.0
"""The evidence bundle: one zip file from which anybody can compute a session's score again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from os.path import isabs
from pathlib import Path

from power.meter import QUALITIES
from referee import __version__
from referee.core.instant import Instant
from referee.core.states import state_of
from referee.service.evidence import measurement
from referee.service.evidence.bundle_file import BLACKLIST, MANIFEST
from referee.service.evidence.encoding import csv_blocks, json_bytes, json_line_blocks
from referee.service.evidence.facts import fact_lines, refuse_changed
from referee.service.evidence.signature import envelope_of
from referee.service.evidence.writer import BundleWriter, present_writer
from referee.service.evidence.zip_writer import zip_written_whole
from referee.service.setup.contest import Contest
from referee.service.setup.session_images import order_of
from referee.service.setup.signing_key import PRIVATE, read_private_key
from referee.store.answers import answer_table, contents_of
from referee.store.audit import refused_audit_of
from referee.store.images import blacklist_of, configuration_of, load_inputs
from referee.store.notices import Notice, audit_of, notices_of
from referee.store.readings import energy_of, readings_of, session_meter_of
from referee.store.requests import Request, request_table
from referee.store.scores import inputs_of, newest_scoring_run
from referee.store.sessions import SessionRecord, load_session
from referee.store.shows import ShowRecord, shows_of
from referee.store.teams import names_of_team

MEMBERS = (
    "session.json",
    "config.toml",
    "images.csv",
    "detections.csv",
    "late_detections.csv",
    "answers.csv",
    "requests.csv",
    "facts.jsonl",
    "frames.csv",
    "power.csv",
    "readings.jsonl",
    "run.json",
    "meter.jsonl",
    "score.json",
    "verdict.json",
)
"""The members of each bundle, except `manifest.json`, which holds the SHA-256 of each member.

A session that was scored with a blacklist has `blacklist.csv` as well.
"""

_MOMENTS = ("armed", "started", "ended", "voided", "scored", "sealed")

Rows = Iterator[Sequence[object]]

_ROWS_AT_ONCE = 8192
_IMAGE_HEADER = ("number", "image_id", "source_id", "file", "bytes", "width", "height", "sha256")
_ANSWER_HEADER = tuple("answer received_s utc late form address detections flagged".split())
_REQUEST_HEADER = tuple(field.name for field in fields(Request) if field.name != "session_id")
_FRAME_HEADER = tuple(field.name for field in fields(ShowRecord) if field.name != "session_id")
# The header of a power log, which other programs read; new columns come last.
_POWER_HEADER = (
    *"elapsed_s utc voltage_v current_a power_w energy_wh integration_s state".split(),
    *QUALITIES,
)


def write_bundle(
    contest: Contest,
    session_id: int,
    path: Path,
    tell: Callable[[str], object] = refuse_changed,
) -> dict[str, str]:
    """Write the bundle of a session; return the SHA-256 of each member.

    The bundle is one consistent snapshot, even while the servers run, and the same facts give the
    same bytes. A score or a verdict that is not known yet is null. The file appears whole or not at
    all. `tell` gets a sentence about each row that is not as it was stored; by default a changed
    row is a `Refusal` (code `facts_changed`). Raises `Refusal` (code `session_unknown`), and
    `InputError` for a file that cannot be written.
    """
    with contest.database.read() as connection:
        session = load_session(connection, session_id)
        with zip_written_whole(path) as bundle:
            for name, blocks in sorted(members_of(contest, session, tell).items()):
                bundle.add(name, blocks)
            digests = dict(bundle.digests)
            manifest: dict[str, object] = {
                "session": session_id,
                "referee_version": __version__,
                "sha256": digests,
            }
            key = contest.config.storage.folder / PRIVATE
            if key.exists():  # A copy of the folder may lack it.
                signed = envelope_of(manifest).signed(read_private_key(key))
                manifest["envelope"] = signed.to_json()
            bundle.add(MANIFEST, [json_bytes(manifest)])
    return digests


def _configuration(contest: Contest, session: SessionRecord) -> bytes:
    """Return contest.toml as it was when the session was made."""
    stored = configuration_of(contest.database.connection, session.session_id)
    return contest.config.path.read_bytes() if stored is None else stored.encode("utf-8")


def members_of(
    contest: Contest,
    session: SessionRecord,
    tell: Callable[[str], object],
    writer: BundleWriter | None = None,
) -> dict[str, Iterable[bytes]]:
    """Return the blocks of each member but the manifest; `writer` is this referee, if not told."""
    connection = contest.database.connection
    run = newest_scoring_run(connection, session.session_id)
    energy = energy_of(connection, session.session_id)
    listed = blacklist_of(connection, inputs_of(connection, run).get("blacklist", ""))
    blacklist = {} if listed is None else {BLACKLIST: [listed]}
    return blacklist | {
        "session.json": [json_bytes(session_facts(contest, session, writer))],
        "config.toml": [_configuration(contest, session)],
        "images.csv": csv_blocks(_IMAGE_HEADER, _image_rows(contest, session)),
        "detections.csv": _detection_blocks(contest, session, late=False),
        "late_detections.csv": _detection_blocks(contest, session, late=True),
        "answers.csv": csv_blocks(_ANSWER_HEADER, _answer_rows(contest, session)),
        "requests.csv": csv_blocks(_REQUEST_HEADER, _request_rows(contest, session)),
        "facts.jsonl": fact_lines(connection, session.session_id, tell),
        "frames.csv": csv_blocks(_FRAME_HEADER, _frame_rows(contest, session)),
        "power.csv": csv_blocks(_POWER_HEADER, _power_rows(contest, session)),
        "readings.jsonl": json_line_blocks(measurement.readings(contest, session)),
        "run.json": [json_bytes(measurement.run_facts(contest, session, energy))],
        "meter.jsonl": measurement.meter_log(contest, session),
        "score.json": [json_bytes(None if run is None else run.detail)],
        "verdict.json": [json_bytes(measurement.verdict(energy))],
    }


def session_facts(
    contest: Contest, session: SessionRecord, writer: BundleWriter | None = None
) -> dict[str, object]:
    """Return moments, order, classes, inputs, notices and audit of a session, ready for JSON.

    `emulated` is null if no meter is recorded. `team` is the team's present name, `team_names` has
    every name that it had, the first one first.
    """
    facts, connection = session.facts, contest.database.connection
    writer = writer or present_writer(contest, session)
    meter = session_meter_of(connection, session.session_id)
    return {
        "session": session.session_id,
        "team": session.team,
        "team_names": names_of_team(connection, session.team),
        "lane": session.lane,
        "track": session.track,
        "state": state_of(facts, contest.clock.now()).value,
        "length_s": facts.length_s,
        "end_cause": None if facts.end_cause is None else facts.end_cause.value,
        "void_reason": session.void_reason,
        "emulated": None if meter is None else meter.emulated,
        # The seed is text, because it may exceed the 53 bits that many JSON readers keep.
        "order_seed": None if session.order_seed is None else str(session.order_seed),
        "created_utc": session.created_utc,
        "moments": {name: _moment(getattr(facts, name)) for name in _MOMENTS},
        "classes": {str(class_id): name for class_id, name in contest.classes.items()},
        "inputs": {
            name: asdict(file) | {"path": Path(file.path).name}
            for name, file in load_inputs(connection).items()
        },
        "notices": [_notice(notice) for notice in notices_of(connection, session.session_id)],
        "audit": audit_of(connection, session.session_id),
        "refused_actions": refused_audit_of(connection, session.session_id),
        **writer.told(),
    }


def _notice(notice: Notice) -> dict[str, object]:
    """Return a notice as all versions write it; its subject is a row of its own in the facts."""
    return {name: value for name, value in vars(notice).items() if name != "subject"}


def _moment(at: Instant | None) -> dict[str, object] | None:
    if at is None:
        return None
    return {"monotonic_s": at.monotonic_s, "utc": at.utc.isoformat(), "boot_id": at.boot_id}


def _image_rows(contest: Contest, session: SessionRecord) -> Rows:
    """Yield the images in the session's order."""
    order = order_of(contest.image_count, session.order_seed)
    for number, image_id in enumerate(order.tolist(), 1):
        e = contest.images[image_id - 1]
        name = _file_name(contest.config.images.folder, e.path)
        yield number, image_id, e.source_id, name, e.size_bytes, e.width, e.height, e.sha256


def _file_name(folder: Path, path: str) -> str:
    """Return an image's path below the contest's folder; equal names lie in several subfolders."""
    if not isabs(path):
        return path  # A contest out of a bundle knows no more.
    inside = Path(path)
    return inside.relative_to(folder).as_posix() if inside.is_relative_to(folder) else inside.name


def _detection_blocks(contest: Contest, session: SessionRecord, *, late: bool) -> Iterator[bytes]:
    """Yield lines in the format of a detections file; image_id is the contestant's number.

    Each block has the rows of several small answers, or of one large answer.
    """
    track = contest.track
    waiting: list[bytes] = []
    rows = 0
    connection = contest.database.connection
    for row_count, content in contents_of(connection, session.session_id, late=late):
        waiting.append(content)
        rows += row_count
        if rows >= _ROWS_AT_ONCE:
            yield track.text(track.unpack_all(waiting))
            waiting, rows = [], 0
    if rows:
        yield track.text(track.unpack_all(waiting))


def _answer_rows(contest: Contest, session: SessionRecord) -> Rows:
    """Yield a row per answer, late answers included."""
    yield from answer_table(contest.database.connection, session.session_id)


def _request_rows(contest: Contest, session: SessionRecord) -> Rows:
    """Yield a row per request."""
    yield from request_table(contest.database.connection, session.session_id)


def _frame_rows(contest: Contest, session: SessionRecord) -> Rows:
    """Yield a row per image that the screen showed or should have shown."""
    for show in shows_of(contest.database.connection, session.session_id):
        yield [getattr(show, name) for name in _FRAME_HEADER]


def _power_rows(contest: Contest, session: SessionRecord) -> Rows:
    """Yield a row per reading of the meter, in the format of a power log."""
    for elapsed_s, r in readings_of(contest.database.connection, session.session_id):
        yield (
            elapsed_s,
            r.utc.isoformat(),
            r.voltage_v,
            r.current_a,
            r.power_w,
            r.energy_wh,
            r.integration_s,
            r.state.value,
            *("nan" if name in r.absent else getattr(r, name) for name in QUALITIES),
        )
