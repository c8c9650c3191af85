# SPDX-License-Identifier: Apache-2.0
"""A TensorFlow Lite model in LiteRT, with one thread; only the worker's process loads it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.errors import MissingLibrary
from referee.extras.ovic.rules.model_rules import TensorFacts

_PACKAGE = "ai_edge_litert"
_DISTRIBUTION = "ai-edge-litert"


def require_litert() -> str:
    """Return LiteRT's version; raise MissingLibrary without it."""
    if importlib.util.find_spec(_PACKAGE) is None:
        raise MissingLibrary("a TensorFlow Lite model", "ai-edge-litert", "litert")
    return importlib.metadata.version(_DISTRIBUTION)


class LiteRtModel:
    """A loaded model. Loading and running a hostile model may kill the process."""

    def __init__(self, content: bytes) -> None:
        from ai_edge_litert.interpreter import Interpreter

        self._interpreter: Any = Interpreter(model_content=content, num_threads=1)
        self._inputs = self._interpreter.get_input_details()
        self._outputs = self._interpreter.get_output_details()

    @property
    def inputs(self) -> list[TensorFacts]:
        """Return the facts of the inputs; a side that the model leaves open is -1."""
        return [
            TensorFacts(_fixed(fact.shape, detail), fact.dtype)
            for fact, detail in zip(_facts(self._inputs), self._inputs, strict=True)
        ]

    @property
    def outputs(self) -> list[TensorFacts]:
        """Return the facts of the outputs, in the model's order."""
        return _facts(self._outputs)

    def allocate(self) -> None:
        """Reserve the memory of all tensors; shapes that depend on others are known afterwards."""
        self._interpreter.allocate_tensors()
        self._outputs = self._interpreter.get_output_details()

    def feed(self, image: NDArray[np.uint8]) -> None:
        """Copy an image into the first input."""
        self._interpreter.set_tensor(self._inputs[0]["index"], image)

    def invoke(self) -> None:
        """Run the model: this alone is what OVIC's SDK times."""
        self._interpreter.invoke()

    def read(self) -> list[NDArray[Any]]:
        """Return copies of the outputs."""
        return [self._interpreter.get_tensor(output["index"]) for output in self._outputs]


def _fixed(shape: tuple[int, ...], detail: dict[str, Any]) -> tuple[int, ...]:
    """Return a shape whose open sides are -1; an open batch is 1, as LiteRT has it."""
    signature = tuple(map(int, detail.get("shape_signature", shape)))
    if len(signature) != len(shape):
        return shape
    return (*shape[:1], *(min(pair) for pair in zip(shape[1:], signature[1:], strict=True)))


def _facts(details: Sequence[dict[str, Any]]) -> list[TensorFacts]:
    return [
        TensorFacts(tuple(map(int, detail["shape"])), np.dtype(detail["dtype"]).name)
        for detail in details
    ]
