# SPDX-License-Identifier: Apache-2.0
"""Tiny TensorFlow Lite models made without TensorFlow: known boxes, known classes, known faults.

The flatbuffer's classes come with LiteRT. A test that uses this module needs the extra `litert`.
"""

from __future__ import annotations

from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

_TYPES = {
    np.dtype(np.float32): schema.TensorType.FLOAT32,
    np.dtype(np.uint8): schema.TensorType.UINT8,
    np.dtype(np.int32): schema.TensorType.INT32,
    np.dtype(np.int8): schema.TensorType.INT8,
    np.dtype(np.bool_): schema.TensorType.BOOL,
}
_OPS, _OPTIONS = schema.BuiltinOperator, schema.BuiltinOptions


class Graph:
    """One subgraph of a model; tensors are named by their index."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._graph = schema.SubGraphT()
        self._graph.tensors, self._graph.operators = [], []

    def tensor(self, shape: Any, dtype: Any = np.float32, data: np.ndarray | None = None) -> int:
        """Add a tensor, constant if it has data, and return its index."""
        tensor = schema.TensorT()
        tensor.shape, tensor.type = list(shape), _TYPES[np.dtype(dtype)]
        tensor.name = f"t{len(self._graph.tensors)}".encode()
        tensor.buffer = 0 if data is None else self._model.buffer(data.tobytes())
        self._graph.tensors.append(tensor)
        return len(self._graph.tensors) - 1

    def constant(self, values: Any, dtype: Any = np.float32) -> int:
        """Add a constant."""
        data = np.asarray(values, dtype)
        return self.tensor(data.shape, dtype, data)

    def op(
        self, code: int, inputs: list[int], outputs: list[int], options: Any = None, name: str = ""
    ) -> None:
        """Add an operator; a custom one has a name."""
        operator = schema.OperatorT()
        operator.opcodeIndex = self._model.operator_code(code, name)
        operator.inputs, operator.outputs = inputs, outputs
        if options is not None:
            kind = type(options).__name__.removesuffix("T")
            operator.builtinOptionsType, operator.builtinOptions = getattr(_OPTIONS, kind), options
        self._graph.operators.append(operator)

    def finish(self, inputs: list[int], outputs: list[int]) -> None:
        """Name inputs and outputs, and add the graph to the model."""
        self._graph.inputs, self._graph.outputs = inputs, outputs
        self._model.add(self._graph)


class Model:
    """A model under construction."""

    def __init__(self) -> None:
        self._model = schema.ModelT()
        self._model.version = 3
        self._model.buffers = [schema.BufferT()]
        self._model.operatorCodes, self._model.subgraphs = [], []

    def buffer(self, data: bytes) -> int:
        """Add constant data and return its number."""
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(data, np.uint8)
        self._model.buffers.append(buffer)
        return len(self._model.buffers) - 1

    def operator_code(self, builtin: int, name: str) -> int:
        """Add an operator's code and return its index."""
        code = schema.OperatorCodeT()
        code.builtinCode, code.version = builtin, 1
        code.deprecatedBuiltinCode = min(builtin, 127)
        if name:
            code.customCode = name.encode()
        self._model.operatorCodes.append(code)
        return len(self._model.operatorCodes) - 1

    def add(self, graph: Any) -> None:
        """Add a finished graph; the first one is the model."""
        self._model.subgraphs.append(graph)

    def content(self) -> bytes:
        """Return the file's bytes."""
        builder = flatbuffers.Builder(1024)
        builder.Finish(self._model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def _colour(graph: Graph, image: int, divisor: float = 1.0) -> int:
    """Return the mean of each colour of an image, (1, 3), divided."""
    height_and_width = graph.constant([1, 2], np.int32)
    cast, mean, scaled = graph.tensor((1, 8, 8, 3)), graph.tensor((1, 3)), graph.tensor((1, 3))
    graph.op(_OPS.CAST, [image], [cast], schema.CastOptionsT())
    graph.op(_OPS.MEAN, [cast, height_and_width], [mean], schema.ReducerOptionsT())
    graph.op(_OPS.MUL, [mean, graph.constant([1 / divisor])], [scaled], schema.MulOptionsT())
    return scaled


def classifier(
    classes: int = 1001, *, shape: tuple[int, ...] = (1, 8, 8, 3), dtype: Any = np.uint8
) -> bytes:
    """Make a classifier whose scores are the shares of red (class 1), green (2) and blue (3).

    Class k has the score of colour k - first, where first is 1 with a background, and 0 without.
    """
    model = Model()
    graph = Graph(model)
    image = graph.tensor(shape, dtype)
    first = classes - 1000
    weights = np.zeros((classes, 3), np.float32)
    for colour in range(3):
        weights[colour + max(first, 0), colour] = 1
    scores = graph.tensor((1, classes))
    graph.op(
        _OPS.FULLY_CONNECTED,
        [_colour(graph, image, 255), graph.constant(weights), -1],
        [scores],
        schema.FullyConnectedOptionsT(),
    )
    graph.finish([image], [scores])
    return model.content()


def known_detections(boxes: int = 100) -> list[np.ndarray]:
    """Return a detector's outputs: box 0 is known, the others are small and weak."""
    corners = np.tile(np.array([0.0, 0.0, 0.1, 0.1], np.float32), (1, boxes, 1))
    corners[0, 0] = [0.25, 0.5, 0.75, 1.0]
    classes = np.zeros((1, boxes), np.float32)
    classes[0, 0] = 16
    scores = np.full((1, boxes), 0.125, np.float32)
    scores[0, 0] = 0.5
    return [corners, classes, scores, np.array([boxes], np.float32)]


def detector(outputs: list[np.ndarray] | None = None, boxes: int = 100) -> bytes:
    """Make a detector that gives these outputs for each image (default: `known_detections`)."""
    model = Model()
    graph = Graph(model)
    image = graph.tensor((1, 8, 8, 3), np.uint8)
    _given(graph, image, outputs or known_detections(boxes), [])
    return model.content()


def _given(graph: Graph, image: int, outputs: list[np.ndarray], more: list[int]) -> None:
    """Finish a graph whose outputs are constants plus 0 times the image; `more` follow them."""
    axes = graph.constant([0, 1, 2, 3], np.int32)
    cast, mean, nothing = graph.tensor((1, 8, 8, 3)), graph.tensor((1,)), graph.tensor((1,))
    graph.op(_OPS.CAST, [image], [cast], schema.CastOptionsT())
    graph.op(_OPS.MEAN, [cast, axes], [mean], schema.ReducerOptionsT())
    graph.op(_OPS.MUL, [mean, graph.constant([0.0])], [nothing], schema.MulOptionsT())
    found = []
    for values in outputs:
        found.append(graph.tensor(values.shape))
        graph.op(_OPS.ADD, [graph.constant(values), nothing], [found[-1]], schema.AddOptionsT())
    graph.finish([image], [*found, *more])


def unresolved(name: str = "NoSuchOperator") -> bytes:
    """Make a model with an operator that nobody has."""
    model = Model()
    graph = Graph(model)
    image, scores = graph.tensor((1, 8, 8, 3), np.uint8), graph.tensor((1, 1001))
    graph.op(_OPS.CUSTOM, [image], [scores], name=name)
    graph.finish([image], [scores])
    return model.content()


def mixed_types() -> bytes:
    """Make a model that adds int8 to its uint8 input, which no operator does."""
    model = Model()
    graph = Graph(model)
    image, sums = graph.tensor((1, 8, 8, 3), np.uint8), graph.tensor((1, 8, 8, 3), np.int8)
    zeros = graph.constant(np.zeros((1, 8, 8, 3)), np.int8)
    graph.op(_OPS.ADD, [image, zeros], [sums], schema.AddOptionsT())
    graph.finish([image], [sums])
    return model.content()


def open_sides(content: bytes, signature: tuple[int, ...] = (1, -1, -1, 3)) -> bytes:
    """Return a model whose input leaves those sides open that are -1, as TensorFlow 2 writes it."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    tensor = model.subgraphs[0].tensors[model.subgraphs[0].inputs[0]]
    tensor.shapeSignature = np.array(signature, np.int32)
    given = zip(tensor.shape, signature, strict=True)
    tensor.shape = np.array([side if fixed > 0 else 1 for side, fixed in given], np.int32)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def reordered(content: bytes, order: tuple[int, ...]) -> bytes:
    """Return a model whose k-th output is the one that had the place `order[k]`."""
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    graph.outputs = np.array([graph.outputs[place] for place in order], np.int32)
    model.signatureDefs = None
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def random_classifier() -> bytes:
    """Make a classifier whose scores are drawn by chance at each run."""
    model = Model()
    graph = Graph(model)
    image, scores = graph.tensor((1, 8, 8, 3), np.uint8), graph.tensor((1, 1001))
    shape = graph.constant([1, 1001], np.int32)
    graph.op(_OPS.RANDOM_UNIFORM, [shape], [scores], schema.RandomOptionsT())
    graph.finish([image], [scores])
    return model.content()


def looping(turns: float) -> bytes:
    """Make a classifier that adds 1 to a number until it has done so many turns, maybe endless."""
    model = Model()
    graph = Graph(model)
    image, start = graph.tensor((1, 8, 8, 3), np.uint8), graph.constant([0.0])
    counted, scores = graph.tensor((1,)), graph.tensor((1, 1001))
    options = schema.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = 1, 2
    graph.op(_OPS.WHILE, [start], [counted], options)
    zeros = graph.constant(np.zeros((1, 1001)))
    graph.op(_OPS.ADD, [zeros, counted], [scores], schema.AddOptionsT())
    graph.finish([image], [scores])
    again = Graph(model)
    number, less = again.tensor((1,)), again.tensor((1,), np.bool_)
    again.op(_OPS.LESS, [number, again.constant([turns])], [less], schema.LessOptionsT())
    again.finish([number], [less])
    body = Graph(model)
    number, more = body.tensor((1,)), body.tensor((1,))
    # Beyond 2^24 a float32 does not grow by 1, so a limit of infinity is never reached.
    body.op(_OPS.ADD, [number, body.constant([1.0])], [more], schema.AddOptionsT())
    body.finish([number], [more])
    return model.content()


def huge(side: int = 60_000) -> bytes:
    """Make a small file whose inner tensor has side x side numbers."""
    model = Model()
    graph = Graph(model)
    image, scores = graph.tensor((1, 8, 8, 3), np.uint8), graph.tensor((1, 1001))
    big, mean = graph.tensor((side, side)), graph.tensor((1,))
    column, row = (graph.constant(np.ones(shape)) for shape in ((side, 1), (1, side)))
    graph.op(_OPS.ADD, [column, row], [big], schema.AddOptionsT())
    axes = graph.constant([0, 1], np.int32)
    graph.op(_OPS.MEAN, [big, axes], [mean], schema.ReducerOptionsT())
    zeros = graph.constant(np.zeros((1, 1001)))
    graph.op(_OPS.ADD, [zeros, mean], [scores], schema.AddOptionsT())
    graph.finish([image], [scores])
    return model.content()


def two_inputs() -> bytes:
    """Make a classifier with two inputs."""
    model = Model()
    graph = Graph(model)
    image, scores = graph.tensor((1, 1001), np.float32), graph.tensor((1, 1001))
    other = graph.tensor((1, 1001))
    graph.op(_OPS.ADD, [image, other], [scores], schema.AddOptionsT())
    graph.finish([image, other], [scores])
    return model.content()
