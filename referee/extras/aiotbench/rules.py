# SPDX-License-Identifier: Apache-2.0
"""The rule sets of AIoTBench as dated data: models, implementations, size of the data set.

Source: BenchCouncil AIoTBench, standard specification, draft 1.1, 1 September 2020: table 1, and
section 6 for the short names. `docs/scoring.md` lists what the text leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Model:
    """A row of table 1; the accuracy is a fraction.

    `flops` are the multiply-accumulates for one image, and `parameters` the weights. `side` is the
    height and the width of its input: that of its paper, because table 1 has none.
    """

    code: str
    name: str
    flops: int
    parameters: int
    reference_accuracy: float
    side: int = 224


@dataclass(frozen=True)
class Implementation:
    """A framework that runs the models; one that is not official never enters a score."""

    code: str
    name: str
    official: bool = True


@dataclass(frozen=True)
class Workload:
    """One test of the benchmark: a model in an implementation."""

    model: Model
    implementation: Implementation

    @property
    def workload_id(self) -> str:
        """Return the id in the log, as `mo_tfc`."""
        return f"{self.model.code}_{self.implementation.code}"


@dataclass(frozen=True)
class RuleSet:
    """A version of the benchmark; `images` is the size of the data set that a test runs over."""

    name: str
    published: date
    models: tuple[Model, ...]
    implementations: tuple[Implementation, ...]
    images: int

    def workloads(self) -> Iterator[Workload]:
        """Yield every workload that a log may have, model by model."""
        for model in self.models:
            for implementation in self.implementations:
                yield Workload(model, implementation)

    def official_ids(self) -> tuple[str, ...]:
        """Return the ids of the workloads that make the score, in the order of the table."""
        return tuple(
            workload.workload_id
            for workload in self.workloads()
            if workload.implementation.official
        )

    def by_id(self) -> dict[str, Workload]:
        """Return every workload by its id."""
        return {workload.workload_id: workload for workload in self.workloads()}

    def spelling(self) -> str:
        """Return how a workload's id is written, for a message to people."""
        models = " ".join(model.code for model in self.models)
        codes = " ".join(implementation.code for implementation in self.implementations)
        return f"MODEL_IMPLEMENTATION, a model of {models} and an implementation of {codes}"


DRAFT_1_1 = RuleSet(
    name="AIoTBench draft 1.1",
    published=date(2020, 9, 1),
    models=(
        Model("re", "ResNet50", 3_800_000_000, 25_600_000, 0.76),
        Model("in", "InceptionV3", 5_000_000_000, 23_200_000, 0.788, side=299),
        Model("de", "DenseNet121", 2_800_000_000, 8_000_000, 0.74),
        Model("sq", "SqueezeNet", 833_000_000, 1_250_000, 0.575),
        Model("mo", "MobileNetV2", 300_000_000, 3_400_000, 0.72),
        Model("mn", "MnasNet", 315_000_000, 3_900_000, 0.752),
    ),
    implementations=(
        Implementation("py", "PyTorch Mobile"),
        Implementation("ca", "Caffe2"),
        Implementation("tfc", "TensorFlow Lite, CPU"),
        Implementation("tfn", "TensorFlow Lite, NNAPI"),
        # An addition of this project: the specification does not know it.
        Implementation("ort", "ONNX Runtime", official=False),
    ),
    images=50_000,
)
"""Draft 1.1 of September 2020, with ONNX Runtime as an addition outside the official set."""
