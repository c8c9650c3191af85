# SPDX-License-Identifier: Apache-2.0
"""The session of a bundle in an empty database: its facts are stored again, row by row.

The schema's own triggers tie the rows anew, so equal links prove equal rows. Every member that
follows from the rows can then be written again, and compared.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from referee.core.instant import Instant
from referee.errors import RefereeError
from referee.formats.faults import FormatError
from referee.service.evidence.bundle_file import NotABundle
from referee.service.evidence.facts import link_behind, value_of
from referee.service.setup.config import StorageSection
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest
from referee.service.setup.secrets_file import load_secrets
from referee.store.database import Database
from referee.store.images import ImageEntry, InputFile, Manifest, manifest_digest, replace_manifest
from referee.store.replay import Fact, mark_fetched, rename_team, replay, strands_of
from referee.store.sessions import SessionRecord, load_session
from referee.tracks.loading import load_track
from referee.tracks.track import Track

_FACTS = "facts.jsonl"
_AT_REST = "1970-01-01T00:00:00+00:00"


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


def read_facts(members: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """Return the lines of `facts.jsonl`; raise `NotABundle` at the first broken link."""
    lines: list[dict[str, Any]] = []
    before: bytes | None = None
    for number, text in enumerate(members[_FACTS].splitlines(), 1):
        try:
            line = json.loads(text)
            before = link_behind(line, before)
            strand = line["strand"]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NotABundle(_FACTS, f"line {number} is no fact.") from None
        if before.hex() != strand:
            raise NotABundle(
                _FACTS,
                f"line {number} ({line['table']}): the chain is broken: found {strand}, "
                f"expected {before.hex()}.",
            )
        lines.append(line)
    if not lines or lines[0]["table"] != "sessions":
        raise NotABundle(_FACTS, "line 1 is not the session's own row.")
    if [line["table"] for line in lines[1:3]] != ["teams", "materials"]:
        raise NotABundle(
            _FACTS,
            "The facts do not say what the session was run with: an earlier referee ran it, and "
            "its bundle cannot be verified.",
        )
    return lines


@contextmanager
def played_again(
    members: Mapping[str, bytes], lines: list[dict[str, Any]], folder: Path
) -> Iterator[tuple[Contest, SessionRecord]]:
    """Give a contest in an empty folder that has the session's facts, and nothing else.

    Raises `NotABundle` with the member whose content does not fit the facts.
    """
    database = Database(folder / "referee.db")
    try:
        contest = _contest(members, folder, database, lines)
        number = int(lines[0]["row"]["session_id"])
        facts = list(_facts(members, lines, contest.track))
        with database.write() as connection:
            try:
                replay(connection, facts)
                mark_fetched(connection)
            except RefereeError as error:
                raise NotABundle(_FACTS, str(error)) from None
            rename_team(connection, _told(members)["team_names"][1:])
        if strands_of(database.connection, number) != [line["strand"] for line in lines]:
            raise NotABundle(_FACTS, "The rows, stored again, have other links.")
        yield contest, load_session(database.connection, number)
    finally:
        database.close()


def _contest(
    members: Mapping[str, bytes], folder: Path, database: Database, lines: list[dict[str, Any]]
) -> Contest:
    path = folder / "contest.toml"
    path.write_bytes(members["config.toml"])
    try:
        config = replace(load_config(path), storage=StorageSection(folder))
        track = load_track(config.contest.track)
    except RefereeError as error:
        raise NotABundle("config.toml", str(error).replace(f"{path}", "it")) from None
    lane = int(lines[0]["row"]["lane"])
    config.wire_log_of(lane).write_bytes(members["meter.jsonl"])
    database.migrate()
    manifest = _manifest(members)
    stored = lines[2]["row"]
    if manifest_digest(manifest) != stored["images"]:
        raise NotABundle(
            "images.csv",
            "Images, classes or input files are not those of the preparation: found "
            f"{manifest_digest(manifest)}, expected {stored['images']}.",
        )
    with database.write() as connection:
        replace_manifest(connection, manifest)
    return Contest(
        config=config,
        clock=Stopped(_last_instant(lines)),
        database=database,
        secrets=load_secrets(folder),
        track=track,
        images=manifest.images,
        classes=manifest.classes,
        class_ids=np.fromiter(manifest.classes, dtype=np.int64),
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
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise NotABundle("images.csv", f"The rows are no images: {error!r}.") from None
    told = _told(members)
    return Manifest(
        images=tuple(sorted(entries, key=lambda entry: entry.image_id)),
        classes={int(class_id): name for class_id, name in told["classes"].items()},
        inputs={
            name: InputFile(file["path"], file["sha256"]) for name, file in told["inputs"].items()
        },
    )


def _told(members: Mapping[str, bytes]) -> dict[str, Any]:
    """Return `session.json` as far as the facts of the session do not hold it."""
    try:
        told = json.loads(members["session.json"])
        names = [str(name) for name in told["team_names"]]
        classes = {str(int(class_id)): str(name) for class_id, name in told["classes"].items()}
        inputs = {
            str(name): {"path": str(file["path"]), "sha256": str(file["sha256"])}
            for name, file in told["inputs"].items()
        }
        return {"team_names": names, "classes": classes, "inputs": inputs}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotABundle("session.json", f"It is no session: {error!r}.") from None


def _last_instant(lines: list[dict[str, Any]]) -> Instant:
    """Return the moment of the session's newest event, which decides its state."""
    events = [line["row"] for line in lines if line["table"] == "session_events"]
    if not events:
        return Instant(0.0, datetime.fromisoformat(_AT_REST), "")
    last = events[-1]
    return Instant(last["monotonic_s"], datetime.fromisoformat(last["utc"]), last["boot_id"])


def _facts(
    members: Mapping[str, bytes], lines: list[dict[str, Any]], track: Track[Any]
) -> Iterator[Fact]:
    """Yield the facts in order; each answer's content comes from its rows of detections."""
    contents = {late: _contents(members, lines, track, late=late) for late in (False, True)}
    for number, line in enumerate(lines, 1):
        row = {name: value_of(value) for name, value in line["row"].items()}
        if line["table"] == "answers":
            row["content"] = next(contents[bool(row["late"])])
        yield Fact(f"line {number}", line["table"], row)


def _contents(
    members: Mapping[str, bytes], lines: list[dict[str, Any]], track: Track[Any], *, late: bool
) -> Iterator[bytes]:
    """Yield the packed rows of each answer; raise `NotABundle` where others were stored."""
    member = "late_detections.csv" if late else "detections.csv"
    answers = [
        line["row"]
        for line in lines
        if line["table"] == "answers" and bool(line["row"]["late"]) is late
    ]
    counts = [int(row["row_count"]) for row in answers]
    text = members[member]
    if text.count(b"\n") != sum(counts):
        raise NotABundle(member, f"found {text.count(bytes([10]))} rows, expected {sum(counts)}.")
    first = 1
    try:
        for row, answer in zip(answers, track.answers_from_text(text, counts), strict=True):
            content = track.pack(answer)
            found, expected = sha256(content).hexdigest(), row["content"]["sha256"]
            if found != expected:
                raise NotABundle(
                    member,
                    f"rows {first} to {first + row['row_count'] - 1} are not those of answer "
                    f"{row['answer_id']}: found SHA-256 {found}, expected {expected}.",
                )
            first += row["row_count"]
            yield content
    except (RefereeError, FormatError, ValueError) as error:
        raise NotABundle(member, f"The rows are no answers: {error}") from None
