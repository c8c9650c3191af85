# SPDX-License-Identifier: Apache-2.0
"""The facts of a bundle as a stranger hands them over: each link is followed, none is trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from referee.core.instant import Instant
from referee.service.evidence.bundle_file import NO_VALUE, NotABundle
from referee.service.evidence.facts import link_behind

FACTS = "facts.jsonl"

_decode = msgspec.json.Decoder().decode
_FIRST = ("sessions", "teams", "materials")
_AT_REST = Instant(0.0, datetime.fromisoformat("1970-01-01T00:00:00+00:00"), "")


@dataclass(frozen=True)
class AnswerTold:
    """What the fact of an answer says of its rows; `sha256` is that of the packed rows."""

    answer_id: int
    late: bool
    rows: int
    sha256: str


@dataclass
class FactsRead:
    """The facts of one session; their lines stay text, because a million rows fill the memory."""

    text: bytes
    first: list[Mapping[str, Any]] = field(default_factory=list)
    """The rows of the session, of its team, and of what it was run with."""
    strands: list[str] = field(default_factory=list)
    answers: list[AnswerTold] = field(default_factory=list)
    scores: list[tuple[str, float | None]] = field(default_factory=list)
    """The link and the score of each scoring run."""
    newest: Instant = _AT_REST
    """The moment of the session's newest event, which decides its state."""

    @property
    def session_id(self) -> int:
        """Return the session's number."""
        return int(self.first[0]["session_id"])

    def lines(self) -> Iterator[Mapping[str, Any]]:
        """Yield each line as it is written."""
        return map(_decode, self.text.splitlines())

    def take(self, line: Mapping[str, Any]) -> None:
        """Note what later steps need of the next line."""
        table, row, strand = line["table"], line["row"], line["strand"]
        self.strands.append(strand)
        if len(self.strands) <= len(_FIRST):
            self.first.append(row)
        if table == "answers":
            rows, digest = int(row["row_count"]), str(row["content"]["sha256"])
            self.answers.append(
                AnswerTold(int(row["answer_id"]), bool(row["late"]), max(rows, 0), digest)
            )
        elif table == "session_events":
            at = datetime.fromisoformat(row["utc"])
            self.newest = Instant(float(row["monotonic_s"]), at, str(row["boot_id"]))
        elif table == "scoring_runs":
            score = row["score"]
            self.scores.append((strand, None if score is None else float(score)))


def read_facts(members: Mapping[str, bytes]) -> FactsRead:
    """Read `facts.jsonl`; raise `NotABundle` at the first broken link."""
    facts = FactsRead(members[FACTS])
    tables: list[str] = []
    before: bytes | None = None
    for number, text in enumerate(facts.text.splitlines(), 1):
        try:
            line = _decode(text)
            before = link_behind(line, before)
            strand = line["strand"]
            if before.hex() == strand:
                facts.take(line)
        except NO_VALUE:
            raise NotABundle(FACTS, f"line {number} is no fact.") from None
        if before.hex() != strand:
            raise NotABundle(
                FACTS,
                f"line {number} ({line['table']}): the chain is broken: found {strand}, "
                f"expected {before.hex()}.",
            )
        if number <= len(_FIRST):
            tables.append(line["table"])
    if tuple(tables) != _FIRST:
        raise NotABundle(
            FACTS,
            "The facts do not begin with the session's own row, its team, and what the session was "
            "run with.",
        )
    return facts
