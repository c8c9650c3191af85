# SPDX-License-Identifier: Apache-2.0
"""Whether a model's file has the network of its name: input, weights and work as in table 1.

"AIoTBench disallows modification of the workloads, including retraining of the model, model
pruning, and reducing the input data size" (section 4.11).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from referee.extras.aiotbench.rules import Model

TOLERANCE = 0.25
"""How far a file may be from table 1, as a share: its figures are rounded, and published copies of
one network differ by up to 15 % of their weights and work."""


@dataclass(frozen=True)
class ModelFacts:
    """What a model's file holds: its input, its weights, and the multiply-accumulates of a run."""

    width: int
    height: int
    parameters: int
    flops: int


@dataclass(frozen=True)
class RanModel:
    """A model's file that ran as a workload; `network` is None where nobody could tell it."""

    file: str
    sha256: str
    network: ModelFacts | None


def differences(model: Model, network: ModelFacts) -> list[str]:
    """Return a sentence for each point in which a network is not that of table 1."""
    return list(_differences(model, network))


def _differences(model: Model, network: ModelFacts) -> Iterator[str]:
    if (network.height, network.width) != (model.side, model.side):
        yield (
            f"its input is {network.width}x{network.height}, and {model.name} takes "
            f"{model.side}x{model.side}"
        )
    for what, found, expected in (
        ("parameters", network.parameters, model.parameters),
        ("multiply-accumulates", network.flops, model.flops),
    ):
        if abs(found - expected) > TOLERANCE * expected:
            yield (
                f"it has {found / 1e6:.4g} million {what}, and table 1 has {expected / 1e6:g} "
                f"million for {model.name}"
            )
