# SPDX-License-Identifier: Apache-2.0
"""A season scored again: what is asked becomes tasks, and the answers join the rows of before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from referee.extras.season.bundle_files import BundleFile
from referee.extras.season.choices import RESAMPLES
from referee.extras.season.executor import Executor, Lost
from referee.extras.season.journal import SeasonJournal
from referee.extras.season.rows import SCORED, Row, RowKey, asked_key, broken_row, key_of, row_line
from referee.extras.season.scored import DrawBlock, joined, row_of
from referee.extras.season.tasks import ScoringTask, TaskResult, TruthFiles, perform
from referee.scoring import Rules

# A block's draws, times the bundle's bytes. A hundred bytes are a detection, and both draws of it
# take some 40 ns. So a block takes about ten seconds, and the bundle is read for it in a fifth.
_BLOCK_BYTES = 25_000_000_000


@dataclass(frozen=True)
class SeasonRequest:
    """What is asked of a season.

    `track` is a module whose rules the caller trusts. With `public_keys` one of them must have
    signed a bundle.
    """

    truth: TruthFiles
    truth_sha256: str
    rules: tuple[Rules, ...]
    seed: int = 0
    resamples: int = RESAMPLES
    track: str | None = None
    public_keys: tuple[Path, ...] = ()

    def key(self, rules: Rules) -> RowKey:
        """Return the key of the rows of one set of rules."""
        return asked_key(self.truth_sha256, rules, self.seed, self.resamples)

    def task(self, bundle: BundleFile, rules: Sequence[Rules], block: DrawBlock) -> ScoringTask:
        """Return a task for a bundle."""
        return ScoringTask(
            bundle.path,
            self.truth,
            self.truth_sha256,
            tuple(rules),
            self.seed,
            self.resamples,
            block,
            self.track,
            public_keys=self.public_keys,
        )


@dataclass
class SeasonProgress:
    """How far a season is; `bytes_done` grows evenly with time, the bundles do not."""

    bundles: int
    bytes: int
    bundles_done: int = 0
    bytes_done: float = 0.0
    broken: int = 0


Tell = Callable[[str, SeasonProgress], None]
"""A function that shows what is under way, and how far it is."""


@dataclass(frozen=True)
class Season:
    """What became of a season: the rows that were asked for, and how many were there before."""

    rows: list[Row]
    kept: int


def blocks_of(size: int, resamples: int) -> list[DrawBlock]:
    """Return the blocks of the draws of a bundle of `size` bytes; most bundles need one."""
    count = max(1, -(-resamples * size // _BLOCK_BYTES))
    ends = [resamples * place // count for place in range(count + 1)]
    return [DrawBlock(a, b - a) for a, b in zip(ends, ends[1:], strict=False) if b > a]


def rescore(
    bundles: Sequence[BundleFile],
    asked: SeasonRequest,
    executor: Executor,
    journal: SeasonJournal,
    tell: Tell,
) -> Season:
    """Score what is not done, write the season's file, and return the rows of these bundles.

    A row is done if the bundle's hash, the truth, the rules, the seed, the number of draws and the
    version of the referee are the same. A broken bundle is tried again.
    """
    done = {(row["bundle_sha256"], key_of(row)) for row in journal.rows if row["status"] == SCORED}
    digests = _digests(bundles, asked, executor, tell) if done else {}
    present = Present({bundle.name for bundle in bundles}, digests)
    work: list[_Work] = []
    begun: set[str | None] = {None}
    for bundle in bundles:
        digest = digests.get(bundle.name)
        open_rules = [rule for rule in asked.rules if (digest, asked.key(rule)) not in done]
        if open_rules and (digest is None or digest not in begun):
            work.append(_Work(bundle, open_rules, blocks_of(bundle.size, asked.resamples)))
        begun.add(digest)
    fresh: list[Row] = []
    for item, answers in _answers(work, asked, executor, tell):
        rows = _rows(item, answers, asked)
        present.digests[item.bundle.name] = rows[0]["bundle_sha256"]
        for row in rows:
            journal.add(row)
        fresh += rows
    rows = merged(journal.rows, fresh, present)
    journal.finish(rows)
    keys = {asked.key(rules) for rules in asked.rules}
    mine = [
        row
        for row in rows
        if key_of(row) in keys and not present.names.isdisjoint([row["file"], *row["copies"]])
    ]
    new = {(row["bundle_sha256"], key_of(row)) for row in fresh}
    kept = sum((row["bundle_sha256"], key_of(row)) not in new for row in mine)
    return Season(mine, kept)


@dataclass
class _Work:
    """A bundle under work; `answers` has those of its blocks, in their order."""

    bundle: BundleFile
    rules: Sequence[Rules]
    blocks: Sequence[DrawBlock]
    answers: list[TaskResult | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.answers = [None] * len(self.blocks)


def _digests(
    bundles: Sequence[BundleFile], asked: SeasonRequest, executor: Executor, tell: Tell
) -> dict[str, str | None]:
    """Return the hash of each bundle by name, None where it cannot be read or does not count."""
    progress = SeasonProgress(len(bundles), sum(bundle.size for bundle in bundles))
    tasks = [asked.task(bundle, (), DrawBlock(0, 0)) for bundle in bundles]
    by_path = {bundle.path: bundle for bundle in bundles}
    digests: dict[str, str | None] = {}
    for task, outcome in executor.outcomes(perform, tasks):
        bundle = by_path[task.path]
        if isinstance(outcome, Lost) or outcome.reason is not None:
            digests[bundle.name] = None
        else:
            digests[bundle.name] = outcome.bundle_sha256
        progress.bundles_done += 1
        progress.bytes_done += bundle.size
        tell("looking for what is done", progress)
    return digests


def _answers(
    work: Sequence[_Work], asked: SeasonRequest, executor: Executor, tell: Tell
) -> Iterator[tuple[_Work, list[TaskResult]]]:
    """Yield each bundle's work as soon as all its blocks are there."""
    progress = SeasonProgress(len(work), sum(item.bundle.size for item in work))
    places = {
        asked.task(item.bundle, item.rules, block): (item, place)
        for item in work
        for place, block in enumerate(item.blocks)
    }
    tell("scoring", progress)
    for task, outcome in executor.outcomes(perform, list(places)):
        item, place = places[task]
        item.answers[place] = (
            TaskResult(None, outcome.why) if isinstance(outcome, Lost) else outcome
        )
        progress.bytes_done += item.bundle.size / len(item.blocks)
        answers = [answer for answer in item.answers if answer is not None]
        if len(answers) == len(item.blocks):
            item.answers = []  # A season has many, and the rows have it all.
            progress.bundles_done += 1
            progress.broken += any(answer.reason is not None for answer in answers)
            yield item, answers
        tell("scoring", progress)


def _rows(item: _Work, answers: Sequence[TaskResult], asked: SeasonRequest) -> list[Row]:
    """Return a bundle's row for each of its rules."""
    first = answers[0]
    reasons = [answer.reason for answer in answers if answer.reason is not None]
    if not reasons and len({answer.bundle_sha256 for answer in answers}) > 1:
        reasons = ["The file changed while it was read."]
    if not reasons:
        try:
            return _scored_rows(item, answers, asked)
        except Exception as error:  # Here too one bundle never stops a season.
            reasons = [f"The program failed at its row: {type(error).__name__}: {error}."]
    return [
        broken_row(asked.key(rules), first.bundle_sha256, reasons[0], item.bundle.name)
        for rules in item.rules
    ]


def _scored_rows(item: _Work, answers: Sequence[TaskResult], asked: SeasonRequest) -> list[Row]:
    first = answers[0]
    if first.told is None:
        raise ValueError("a task for rules told nothing of the bundle")
    rows: list[Row] = []
    for place, rules in enumerate(item.rules):
        measured = joined([answer.measured[place] for answer in answers])
        key, digest = asked.key(rules), str(first.bundle_sha256)
        rows.append(row_of(key, digest, first.told, measured, item.bundle.name))
        row_line(rows[-1])  # Raises for a number that JSON has not.
    return rows


@dataclass(frozen=True)
class Present:
    """The bundles that are there now: their names, and the hashes that are known by name."""

    names: set[str]
    digests: dict[str, str | None]


_Identity = tuple[str, str, str, str]


def merged(before: Sequence[Row], fresh: Sequence[Row], present: Present) -> list[Row]:
    """Return one row for each bundle, ground truth and set of rules; the newest takes the place.

    A row has every name of its bundle's bytes: the first as `file`, the others as `copies`. A name
    that belongs to other bytes by now is taken from the row, and a row without a name is dropped.
    Rows of bundles that are not there any more stay.
    """
    named: dict[str, set[str]] = {}
    for name, digest in present.digests.items():
        if digest is not None:
            named.setdefault(digest, set()).add(name)
    rows: dict[_Identity, Row] = {}
    unread = [row for row in before if _is_unread(row) and row["file"] not in present.names]
    for row in (*unread, *filter(_is_unread, fresh)):
        rows[_identity(row["file"], row)] = row
    for row in (*before, *fresh):
        digest = row["bundle_sha256"]
        if digest is None:
            continue
        names = ({row["file"], *row["copies"]} - present.names) | named.get(digest, set())
        if names:
            first, *others = sorted(names)
            rows[_identity(digest, row)] = row | {"file": first, "copies": others}
    return list(rows.values())


def _is_unread(row: Row) -> bool:
    """Tell whether not even the bundle's hash is known."""
    return row["bundle_sha256"] is None


def _identity(bundle: str, row: Row) -> _Identity:
    return (bundle, row["truth_sha256"], row["rules"], row["rules_version"])
