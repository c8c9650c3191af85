# SPDX-License-Identifier: Apache-2.0
"""The section [ovic] of `contest.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from referee.service.setup.config_values import setting

if TYPE_CHECKING:
    from referee.service.setup.config import Config


def _moment(text: str) -> datetime:
    """Return a moment in UTC; raise ValueError for what is none, or has no offset."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(
            f"{text!r} is no moment with an offset: write one like 2026-06-10T18:00:00+02:00"
        )
    return moment.astimezone(UTC)


@dataclass(frozen=True)
class OvicSection:
    """The submission service of OVIC (docs/ovic.md); a task without images is closed."""

    detection_images: Path | None = setting("Folder of the images of the detection task.", None)
    detection_ground_truth: Path | None = setting(
        "Its COCO instances JSON, or folder of YOLO labels.", None
    )
    detection_frontier: Path | None = setting(
        "A frontier that 'referee ovic frontier --out' wrote; else that of 7 April 2020.", None
    )
    classification_images: Path | None = setting(
        "Folder of the images of the classification task.", None
    )
    classification_ground_truth: Path | None = setting(
        "Its CSV file,label; label 0 is the background, 1 the first class.", None
    )
    classification_frontier: Path | None = setting("As detection_frontier.", None)
    entries_a_day: int = setting(
        "Entries of a team for a task on one day, which lasts from 0:00 to 24:00 UTC. Refused ones "
        "count; those that failed through the referee do not, nor do as many that were refused for "
        "the range of their boxes alone.",
        3,
        least=1,
        most=10000,
    )
    closes: str | None = setting(
        "The moment from which no model is taken, with its offset from UTC. The results become "
        "final after it, and after a last round.",
        None,
        check=_moment,
        example='"2026-06-10T18:00:00+02:00"',
    )
    model_mb: int = setting("Largest model file, in MB of 2^20 bytes.", 100, least=1, most=512)
    leaderboard_for_teams: bool = setting(
        "Show the leaderboard to the teams too, not on the console alone.", True
    )
    waits_for_sessions: bool = setting(
        "Begin with no entry while an on-site session runs, so that neither disturbs the other.",
        True,
    )
    tries: int = setting(
        "How often an entry is tried when the referee itself fails: a restart, a measurement that "
        "is not stable.",
        3,
        least=1,
        most=100,
    )
    entry_minutes: float = setting(
        "The longest that the answers and the measurement of one entry may take, in minutes.",
        30.0,
        least=0.01,
        most=1440,
    )
    process_s: float = setting(
        "The longest that one process of a model may run, in seconds: a validation, a measurement, "
        "or 250 answers.",
        120.0,
        duration=True,
        least=1,
        most=3600,
    )
    process_memory_mb: int = setting(
        "Address space of such a process, in MB.", 2048, least=256, most=1048576
    )
    core: int | None = setting("The core that measures; left out, the last one.", None, least=0)
    board: str | None = setting(
        "A board that measures, as [USER@]HOST[:PORT] for OpenSSH; left out, this machine does. "
        "The accuracy is always computed here.",
        None,
    )
    board_identity: Path | None = setting("Private key for the board, as of 'ssh -i'.", None)
    board_known_hosts: Path | None = setting(
        "Host keys to check the board by; left out, those that ssh knows.", None
    )
    board_python: str = setting("The board's Python.", "python3")
    warm_up: int = setting("Runs of the model before those that count.", 20, least=0, most=10000)
    runs: int = setting("Runs of the model that count.", 300, least=50, most=100000)
    tolerance: float = setting(
        "How far parts of a measurement may differ, as a share.", 0.05, least=0, most=1000
    )
    attempts: int = setting(
        "Measurements one after the other until one is stable.", 3, least=1, most=100
    )
    slower: float = setting(
        "How much slower than the contest's board this machine may be before the validator refuses "
        "a model as too slow.",
        4.0,
        least=0.01,
        most=1000,
    )
    boxes: int = setting("Detections that a detector must give.", 100, least=1, most=10000)
    background: bool = setting("A classifier has 1001 classes, the background first.", True)
    overhang: float | None = setting(
        "How far a box may reach beyond the image, as a share of its side; left out, as far as it "
        "likes, because the score cuts boxes off at the image.",
        None,
        least=0,
        most=1,
    )

    @property
    def closes_at(self) -> datetime | None:
        """Return the moment from which no model is taken; that moment itself is too late."""
        return None if self.closes is None else _moment(self.closes)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Return the names of the tasks that take entries."""
        tasks = {"detection": self.detection_images, "classification": self.classification_images}
        return tuple(name for name, images in tasks.items() if images is not None)

    @property
    def is_open(self) -> bool:
        """Tell whether any task takes entries."""
        return bool(self.tasks)


def ovic_of(config: Config) -> OvicSection:
    """Return the section of a configuration."""
    section = config.extras.get("ovic", OvicSection())
    return section if isinstance(section, OvicSection) else OvicSection()


def models_of(config: Config) -> Path:
    """Return the folder of the models that were submitted."""
    return config.storage.folder / "models"
