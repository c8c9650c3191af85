# SPDX-License-Identifier: Apache-2.0
"""The work on one bundle as a task for any process or machine: paths travel, data does not."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from referee import __version__
from referee.errors import InputError
from referee.extras.season.bundle_read import digest_of_bundle, read_bundle, require_signed
from referee.extras.season.fitting import truth_digest
from referee.extras.season.rows import SessionFields
from referee.extras.season.scored import BundleNumbers, DrawBlock, measure, reason_of
from referee.formats.ground_truth import read_ground_truth
from referee.scoring import GroundTruth, Rules
from referee.service.evidence.bundle_file import NotABundle


@dataclass(frozen=True)
class TruthFiles:
    """Where a ground truth lies, on every machine, and how to read it; see `read_ground_truth`."""

    path: Path
    images: Path | None = None
    blacklist: Path | None = None
    classes: int | None = None

    def read(self) -> GroundTruth:
        """Read the files; raise `InputError`, which names file, line and field."""
        return read_ground_truth(
            self.path, images=self.images, blacklist=self.blacklist, classes=self.classes
        ).truth


@dataclass(frozen=True)
class ScoringTask:
    """A block of the draws of one bundle, under each of several rules.

    Without `rules` only the bundle's hash is wanted, and whether one of `public_keys` has signed
    it: a row from before may have been made without them. `truth_sha256` and `version` are those of
    the program that wants it: a worker with others would give other numbers. `track` is a module
    whose rules the caller trusts.
    """

    path: Path
    truth: TruthFiles
    truth_sha256: str
    rules: tuple[Rules, ...]
    seed: int
    resamples: int
    block: DrawBlock
    track: str | None = None
    public_keys: tuple[Path, ...] = ()
    version: str = __version__


@dataclass(frozen=True, eq=False)
class TaskResult:
    """What a task found: a measurement for each of its rules, or a reason why there is none.

    `told` is None where nothing was read of the bundle but its hash.
    """

    bundle_sha256: str | None
    reason: str | None = None
    told: SessionFields | None = None
    measured: tuple[BundleNumbers, ...] = ()


def perform(task: ScoringTask) -> TaskResult:
    """Do a task, in any process.

    Whatever is wrong with the bundle is in the answer. Raises `InputError` if this machine has
    another ground truth, or another version of the referee, than the one that asks.
    """
    if task.version != __version__:
        raise InputError(
            f"a worker runs the referee {__version__}, and the season {task.version}: install the"
            " same version on every machine"
        )
    digest: str | None = None
    try:
        digest = digest_of_bundle(task.path)
        if not task.rules:
            if task.public_keys:
                require_signed(task.path, task.public_keys)
            return TaskResult(digest)
        truth = _truth_of(task)
        bundle = read_bundle(task.path, task.track, task.public_keys)
        digest = bundle.sha256
        measured = tuple(
            measure(bundle, truth, rules, task.seed, task.resamples, task.block)
            for rules in task.rules
        )
        return TaskResult(digest, None, bundle.told, measured)
    except NotABundle as error:
        return TaskResult(digest, reason_of(error))
    except InputError:
        raise
    except Exception as error:  # One bundle, or a fault of ours in it, never stops a season.
        return TaskResult(digest, f"The program failed at it: {type(error).__name__}: {error}.")


def _truth_of(task: ScoringTask) -> GroundTruth:
    truth = _read_once(task.truth)
    if truth_digest(truth) != task.truth_sha256:
        raise InputError(
            f"{task.truth.path} is another ground truth on a worker: give every machine the same"
            " files under the same paths"
        )
    return truth


_reading = threading.Lock()


@lru_cache(maxsize=2)
def _read(files: TruthFiles) -> GroundTruth:
    return files.read()


def _read_once(files: TruthFiles) -> GroundTruth:
    """Return the ground truth, read once in a process; the lock keeps a second thread waiting."""
    with _reading:
        return _read(files)
