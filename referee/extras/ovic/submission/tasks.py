# SPDX-License-Identifier: Apache-2.0
"""The tasks that take entries, as the configuration describes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from referee.errors import ConfigError, Refusal
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.dataset import (
    Dataset,
    images_in,
    images_of_truth,
    labelled_images,
)
from referee.extras.ovic.judging.entry import Timing
from referee.extras.ovic.judging.figures import read_frontier
from referee.extras.ovic.judging.machine import choose_core
from referee.extras.ovic.judging.model import require_litert
from referee.extras.ovic.judging.plan import Plan
from referee.extras.ovic.rules.model_rules import CENTRAL_SHARE, ModelRules
from referee.extras.ovic.rules.score import RULES, OvicRules
from referee.extras.ovic.section import ovic_of
from referee.service.setup.config import Config


@dataclass(frozen=True)
class Task:
    """A task: what a model must be, what it is scored on, and how it is measured.

    `slower` is the factor of `validated`, `attempts` that of `measure_until_stable`.
    """

    rules: ModelRules
    scoring: OvicRules
    images: Path
    ground_truth: Path
    plan: Plan
    limits: Limits
    slower: float
    attempts: int

    @property
    def name(self) -> str:
        """Return detection or classification."""
        return self.rules.task

    @property
    def dataset(self) -> Dataset:
        """Return what a model is scored on."""
        return Dataset(self.images, self.ground_truth)

    @property
    def timing(self) -> Timing:
        """Return how a model's latency is measured."""
        return Timing(self.plan, self.limits, self.attempts)


def open_tasks(config: Config) -> dict[str, Task]:
    """Return the tasks that take entries, by name; raise `ConfigError` for half a task."""
    section = ovic_of(config)
    settings = {
        "detection": (
            section.detection_images,
            section.detection_ground_truth,
            section.detection_frontier,
        ),
        "classification": (
            section.classification_images,
            section.classification_ground_truth,
            section.classification_frontier,
        ),
    }
    tasks = {}
    for name, (images, ground_truth, frontier) in settings.items():
        if images is not None and ground_truth is not None:
            tasks[name] = _task(config, name, images, ground_truth, frontier)
        elif (images or ground_truth or frontier) is not None:
            raise ConfigError(
                f"[ovic] {name}_images and {name}_ground_truth go together: give both, or neither.",
                path=config.path,
            )
    return tasks


def require_task(tasks: dict[str, Task], name: str | None) -> Task:
    """Return the task of a name; without a name, the only one.

    Raises `Refusal` (code `task_unknown`).
    """
    if name is None and len(tasks) == 1:
        return next(iter(tasks.values()))
    if name is None or name not in tasks:
        known = " or ".join(f"'{task}'" for task in tasks)
        raise Refusal("task_unknown", f"Name the task of the model: task={known}.")
    return tasks[name]


def require_usable(tasks: dict[str, Task]) -> int:
    """Look at all that the judge will need; return the number of images that models are scored on.

    Raises `InputError` without LiteRT, and for images, ground truth or a core that cannot be used.
    """
    require_litert()
    count = 0
    for task in tasks.values():
        choose_core(task.plan.core)
        images_in(task.images)
        if task.name == "detection":
            count += len(images_of_truth(task.dataset)[1])
        else:
            count += len(labelled_images(task.dataset))
    return count


def _task(
    config: Config, name: str, images: Path, ground_truth: Path, frontier: Path | None
) -> Task:
    section = ovic_of(config)
    return Task(
        rules=ModelRules(name, section.boxes, section.background, section.overhang),
        scoring=RULES[name] if frontier is None else read_frontier(frontier, RULES[name]),
        images=images,
        ground_truth=ground_truth,
        plan=Plan(
            warm_up=section.warm_up,
            runs=section.runs,
            core=section.core,
            tolerance=section.tolerance,
            central_share=CENTRAL_SHARE[name],
        ),
        limits=Limits(seconds=section.process_s, memory_bytes=section.process_memory_mb << 20),
        slower=section.slower,
        attempts=section.attempts,
    )
