# SPDX-License-Identifier: Apache-2.0
"""The session of a bundle in an empty database: its facts are stored again, row by row.

The schema's own triggers tie the rows anew, so equal links prove equal rows. Every member that
follows from the rows can then be written again, and compared.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from referee.core.counts import counted
from referee.core.instant import Instant
from referee.errors import ConfigError, RefereeError
from referee.formats.faults import FormatError
from referee.service.evidence.bundle_file import (
    BLACKLIST,
    NO_VALUE,
    SESSION_MOST,
    NotABundle,
    json_of,
)
from referee.service.evidence.facts import value_of
from referee.service.evidence.facts_read import FACTS, FactsRead
from referee.service.evidence.writer import writer_told
from referee.service.setup.config import StorageSection
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest
from referee.service.setup.secrets_file import load_secrets
from referee.store.answers import keep_formats
from referee.store.database import Database
from referee.store.images import (
    ImageEntry,
    InputFile,
    Manifest,
    keep_blacklist,
    manifest_digest,
    replace_manifest,
)
from referee.store.replay import Fact, mark_fetched, rename_team, replay, strands_of
from referee.store.sessions import SessionRecord, load_session
from referee.tracks.loading import not_trusted, trusted_tracks
from referee.tracks.track import Track


@dataclass(frozen=True)
class Stopped:
    """A clock that stands at one instant."""

    at: Instant

    def now(self) -> Instant:
        """Return that instant."""
        return self.at

    def asleep_s(self) -> float:
        """Return 0: no machine runs here."""
        return 0.0


@contextmanager
def replayed(
    members: Mapping[str, bytes], facts: FactsRead, folder: Path, track: str | None = None
) -> Iterator[tuple[Contest, SessionRecord]]:
    """Give a contest in an empty folder that has the session's facts, and nothing else.

    Its track is one of the referee's own, or that of the module `track`, which the caller names.
    Raises `NotABundle` with the member whose content does not fit the facts.
    """
    database = Database(folder / "referee.db")
    try:
        contest = _contest(members, folder, database, facts, track)
        number = facts.session_id
        with database.write() as connection:
            try:
                replay(connection, _facts(members, facts, contest.track))
                mark_fetched(connection)
            except RefereeError as error:
                raise NotABundle(FACTS, str(error)) from None
            if BLACKLIST in members:
                keep_blacklist(connection, members[BLACKLIST])
            rename_team(connection, _told(members)["team_names"][1:])
        if strands_of(database.connection, number) != facts.strands:
            raise NotABundle(FACTS, "The rows, stored again, have other links.")
        yield contest, load_session(database.connection, number)
    finally:
        database.close()


def _contest(
    members: Mapping[str, bytes],
    folder: Path,
    database: Database,
    facts: FactsRead,
    named: str | None,
) -> Contest:
    writer = writer_told(members)
    path = folder / "contest.toml"
    path.write_bytes(members["config.toml"])
    try:
        read = load_config(path, pass_over=writer.guests)
        config = replace(read, storage=StorageSection(folder))
    except RefereeError as error:
        fault = error.fault if isinstance(error, ConfigError) else error
        raise NotABundle("config.toml", f"It is no configuration: {fault}") from None
    track = trusted_tracks(named).get(config.contest.track)
    if track is None:
        raise NotABundle("config.toml", not_trusted(config.contest.track, named))
    if facts.first[0]["track"] != track.name:
        raise NotABundle(FACTS, f"The session is of another track than '{track.name}'.")
    lane = facts.first[0]["lane"]
    if type(lane) is not int or not 1 <= lane <= SESSION_MOST:  # It becomes the name of a file.
        raise NotABundle(FACTS, "The session has a lane that is none.")
    config.wire_log_of(lane).write_bytes(members["meter.jsonl"])
    database.migrate()
    manifest = _manifest(members)
    stored = facts.first[2]
    if manifest_digest(manifest) != stored["images"]:
        raise NotABundle(
            "images.csv",
            "Images, classes or input files are not those of the preparation: found "
            f"{manifest_digest(manifest)}, expected {stored['images']}.",
        )
    with database.write() as connection:
        replace_manifest(connection, manifest)
        keep_formats(connection, writer.formats)
    return Contest(
        config=config,
        clock=Stopped(facts.newest),
        database=database,
        secrets=load_secrets(folder),
        find_track=lambda: track,
        images=manifest.images,
        classes=manifest.classes,
    )


def _manifest(members: Mapping[str, bytes]) -> Manifest:
    try:
        text = members["images.csv"].decode("utf-8")
        entries = [
            ImageEntry(
                image_id=int(row["image_id"]),
                source_id=int(row["source_id"]),
                path=row["file"],
                media_type="",
                size_bytes=int(row["bytes"]),
                modified_ns=0,
                sha256=row["sha256"],
                width=int(row["width"]),
                height=int(row["height"]),
            )
            for row in csv.DictReader(io.StringIO(text, newline=""))
        ]
    except (*NO_VALUE, csv.Error) as error:
        raise NotABundle("images.csv", f"The rows are no images: {error!r}.") from None
    session = _told(members)
    return Manifest(
        images=tuple(sorted(entries, key=lambda entry: entry.image_id)),
        classes={int(class_id): name for class_id, name in session["classes"].items()},
        inputs={
            name: InputFile(file["path"], file["sha256"])
            for name, file in session["inputs"].items()
        },
    )


def _told(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return `session.json` as far as the facts of the session do not hold it."""
    session = json_of("session.json", members["session.json"])
    try:
        names = [str(name) for name in session["team_names"]]
        classes = {str(int(class_id)): str(name) for class_id, name in session["classes"].items()}
        inputs = {
            str(name): {"path": str(file["path"]), "sha256": str(file["sha256"])}
            for name, file in session["inputs"].items()
        }
        return {"team_names": names, "classes": classes, "inputs": inputs}
    except NO_VALUE as error:
        raise NotABundle("session.json", f"It is no session: {error!r}.") from None


def _facts(members: Mapping[str, bytes], facts: FactsRead, track: Track[Any]) -> Iterator[Fact]:
    """Yield the facts; each answer's content comes from its rows of detections.

    Team and material come before the session, because its first links name them.
    """
    contents = {late: _contents(members, facts, track, late=late) for late in (False, True)}
    numbered = enumerate(facts.lines(), 1)
    first = [next(numbered) for _ in facts.first]
    for number, line in chain(first[1:], first[:1], numbered):
        row = {
            name: value_of(value) if type(value) is dict else value
            for name, value in line["row"].items()
        }
        if line["table"] == "answers":
            row["content"] = next(contents[bool(row["late"])])
        yield Fact(f"line {number}", line["table"], row)


def _contents(
    members: Mapping[str, bytes], facts: FactsRead, track: Track[Any], *, late: bool
) -> Iterator[bytes]:
    """Yield the packed rows of each answer; raise `NotABundle` where others were stored."""
    member = "late_detections.csv" if late else "detections.csv"
    answers = [answer for answer in facts.answers if answer.late is late]
    counts = [answer.rows for answer in answers]
    text = members[member]
    if text.count(b"\n") != sum(counts):
        raise NotABundle(
            member, f"found {counted(text.count(bytes([10])), 'row')}, expected {sum(counts)}."
        )
    first = 1
    try:
        for stored, answer in zip(answers, track.answers_from_text(text, counts), strict=True):
            content = track.pack(answer)
            digest = sha256(content).hexdigest()
            if digest != stored.sha256:
                raise NotABundle(
                    member,
                    f"rows {first} to {first + stored.rows - 1} are not those of answer "
                    f"{stored.answer_id}: found SHA-256 {digest}, expected {stored.sha256}.",
                )
            first += stored.rows
            yield content
    except (RefereeError, FormatError, ValueError) as error:
        raise NotABundle(member, f"The rows are no answers: {error}") from None
