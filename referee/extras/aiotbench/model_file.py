# SPDX-License-Identifier: Apache-2.0
"""Reads what a TensorFlow Lite file holds, without running it: input, weights, work.

The file is data here. LiteRT's reader of the format is plain Python, so a damaged file can do no
more than raise an error.
"""

from __future__ import annotations

import math
from importlib import import_module
from pathlib import Path
from typing import Any

from referee.errors import InputError
from referee.extras.aiotbench.networks import Network
from referee.formats.text import read_bytes

_IDENTIFIER, _IDENTIFIER_AT = b"TFL3", 4
_MOST_BYTES = 512 << 20


def read_network(path: Path) -> Network:
    """Return input, parameters and multiply-accumulates of a TensorFlow Lite file.

    Parameters are the values of the constants that convolutions and fully connected layers take.
    Work is counted for these layers alone, as the literature counts it. Raises InputError for
    another file, and without LiteRT.
    """
    content = _content(path)
    try:
        schema = import_module("ai_edge_litert.schema_py_generated")
    except ImportError:
        raise InputError(
            "a TensorFlow Lite model needs LiteRT: install it with pip install '.[litert]'"
        ) from None
    try:
        return _network(schema, content)
    # A damaged file leads the reader anywhere in it.
    except Exception as error:
        raise InputError(f"{path} cannot be read as a model of one picture: {error}") from None


def _content(path: Path) -> bytes:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if size > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES >> 20} MB")
    content = read_bytes(path)
    if content[_IDENTIFIER_AT : _IDENTIFIER_AT + len(_IDENTIFIER)] != _IDENTIFIER:
        raise InputError(f"{path} is no TensorFlow Lite file: only such files are compared")
    return content


def _network(schema: Any, content: bytes) -> Network:
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    _, height, width, channels = map(int, graph.tensors[graph.inputs[0]].shape)
    if channels != 3 or len(graph.inputs) != 1:
        raise ValueError("its input is not one picture of three colours")
    weights: set[int] = set()
    unpacked: dict[int, int] = {}  # Weights of half precision are made single before their layer.
    flops = 0
    for operator in graph.operators:
        entry = model.operatorCodes[operator.opcodeIndex]
        code = max(entry.builtinCode, entry.deprecatedBuiltinCode)
        if code == schema.BuiltinOperator.DEQUANTIZE:
            unpacked[int(operator.outputs[0])] = int(operator.inputs[0])
        work = _work(schema, code, graph, operator)
        if work:
            flops += work
            weights |= {int(it) for it in operator.inputs[1:] if it >= 0}
    constants = {unpacked.get(it, it) for it in weights}
    sizes = [_size(graph, it) for it in constants if _is_constant(model, graph, it)]
    return Network(height, width, sum(sizes), flops)


def _work(schema: Any, code: int, graph: Any, operator: Any) -> int:
    """Return the multiply-accumulates of a layer: each output times the weights that make it."""
    kinds = schema.BuiltinOperator
    weights = operator.inputs[1] if len(operator.inputs) > 1 else -1
    if code == kinds.CONV_2D:  # Weights [out, height, width, in]; the last output side is out.
        outputs = _size(graph, operator.outputs[0])
        return outputs * math.prod(map(int, graph.tensors[weights].shape[1:]))
    if code == kinds.DEPTHWISE_CONV_2D:  # Weights [1, height, width, out].
        outputs = _size(graph, operator.outputs[0])
        return outputs * math.prod(map(int, graph.tensors[weights].shape[1:3]))
    if code == kinds.FULLY_CONNECTED:
        return _size(graph, weights)
    return 0


def _size(graph: Any, tensor: int) -> int:
    return math.prod(map(int, graph.tensors[tensor].shape))


def _is_constant(model: Any, graph: Any, tensor: int) -> bool:
    data = model.buffers[graph.tensors[tensor].buffer].data
    return data is not None and len(data) > 0
