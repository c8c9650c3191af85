# SPDX-License-Identifier: Apache-2.0
"""LiteRT: a TensorFlow Lite model on the processor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, List, Sequence

import numpy as np

from client_sample.litert_detector import NEEDED, in_words
from client_sample.models.metadata import packed_metadata
from client_sample.models.runner import RunFailed, Tensor, threads_words


class LiteRtRunner:
    """A model in LiteRT; `threads` 0 is one for each core."""

    def __init__(self, model: Path, threads: int) -> None:
        try:
            from ai_edge_litert.interpreter import Interpreter
        except ImportError as error:
            raise ImportError(NEEDED) from error
        self.threads = threads or os.cpu_count() or 1
        try:
            self._interpreter: Any = Interpreter(model_path=str(model), num_threads=self.threads)
            self._open(self._interpreter.get_input_details())
            self._interpreter.allocate_tensors()
        except RuntimeError as error:
            raise ValueError(in_words(str(error))) from error
        self._sources = self._interpreter.get_input_details()
        self._targets = self._interpreter.get_output_details()
        self.inputs = [_tensor(one) for one in self._sources]
        self.outputs = [_tensor(one) for one in self._targets]
        self.metadata = packed_metadata(model)
        self.engine = f"LiteRT, processor, {threads_words(self.threads)}"

    def _open(self, sources: Sequence[Any]) -> None:
        for source in sources:
            signature = tuple(map(int, source.get("shape_signature", source["shape"])))
            if len(signature) == 4 and min(signature[1:]) < 0:
                raise ValueError(
                    f"it leaves the size of its input open, {signature}: convert it with a fixed "
                    "height and width"
                )

    def run(self, feeds: Sequence[Any]) -> List[Any]:
        """Return the outputs for an array for each input; quantized ones are scaled."""
        try:
            for source, feed in zip(self._sources, feeds):
                self._interpreter.set_tensor(source["index"], feed)
            self._interpreter.invoke()
        except (RuntimeError, ValueError) as error:
            raise RunFailed(in_words(str(error))) from error
        return [
            _scaled(self._interpreter.get_tensor(target["index"]), _tensor(target))
            for target in self._targets
        ]


def _scaled(values: Any, target: Tensor) -> Any:
    if values.dtype.kind in "iu" and target.scale:
        return (values.astype(np.float32) - target.zero) * np.float32(target.scale)
    return values


def _tensor(details: Any) -> Tensor:
    scale, zero = details.get("quantization", (0.0, 0))
    return Tensor(
        str(details.get("name", "")),
        tuple(map(int, details["shape"])),
        np.dtype(details["dtype"]).name,
        float(scale),
        int(zero),
    )
