# SPDX-License-Identifier: Apache-2.0
"""The messages from the worker to the referee: one JSON object a line, arrays as base64.

The referee does not trust the worker, whose memory a hostile model may have changed. `parse_lines`
therefore takes nothing that does not look exactly as `message` writes it.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.extras.ovic.rules.model_rules import TensorFacts

# Outputs of these types are sent; a model with any other breaks a rule before it runs.
_TYPES = {"float32": np.float32, "uint8": np.uint8}


class WireError(Exception):
    """A line that the worker cannot have written."""


def message(event: str, **fields: Any) -> bytes:
    """Return one line."""
    return json.dumps({"event": event, **fields}).encode() + b"\n"


def parse_lines(content: bytes) -> Iterator[dict[str, object]]:
    """Yield the messages of complete lines; a dying worker may leave its last one incomplete."""
    for line in content.split(b"\n")[:-1]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise WireError("a line is not JSON") from None
        if not isinstance(value, dict) or not isinstance(value.get("event"), str):
            raise WireError("a line is not an event")
        yield value


def pack_facts(facts: Sequence[TensorFacts]) -> list[list[Any]]:
    """Return tensors' facts as JSON values."""
    return [[list(fact.shape), fact.dtype] for fact in facts]


def unpack_facts(packed: Any) -> list[TensorFacts]:
    """Return what `pack_facts` packed; raise WireError for anything else."""
    try:
        return [TensorFacts(tuple(map(int, shape)), str(dtype)) for shape, dtype in packed]
    except (TypeError, ValueError, OverflowError):
        raise WireError("the facts of a tensor are malformed") from None


def pack_arrays(arrays: Sequence[NDArray[Any]]) -> list[list[Any]]:
    """Return arrays as JSON values."""
    return [
        [list(array.shape), array.dtype.name, base64.b64encode(array.tobytes()).decode()]
        for array in arrays
    ]


def unpack_arrays(packed: Any) -> list[NDArray[Any]]:
    """Return what `pack_arrays` packed; raise WireError for anything else."""
    try:
        return [_array(*entry) for entry in packed]
    except (TypeError, ValueError, KeyError):
        raise WireError("an array is malformed") from None


def unpack_numbers(packed: Any, width: int) -> list[list[float]]:
    """Return rows of `width` finite numbers; raise WireError for anything else."""
    try:
        rows = [[float(value) for value in row] for row in packed]
    except (TypeError, ValueError, OverflowError):
        raise WireError("a row of numbers is malformed") from None
    if any(len(row) != width or not all(map(math.isfinite, row)) for row in rows):
        raise WireError("a row of numbers is malformed")
    return rows


def _array(shape: list[int], dtype: str, text: str) -> NDArray[Any]:
    values = np.frombuffer(base64.b64decode(text, validate=True), dtype=_TYPES[dtype])
    return values.reshape([int(side) for side in shape])
