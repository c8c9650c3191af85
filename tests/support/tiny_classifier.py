# SPDX-License-Identifier: Apache-2.0
"""Classifiers of a few operators, built without TensorFlow and without ONNX's own package.

Each takes one picture and returns its mean red, green and blue. So a red picture has the best class
0, a green one 1 and a blue one 2.
"""

from __future__ import annotations

import math
import struct

from ai_edge_litert import schema_py_generated as schema
from flatbuffers import Builder

_KINDS = {
    "uint8": schema.TensorType.UINT8,
    "int8": schema.TensorType.INT8,
    "float32": schema.TensorType.FLOAT32,
}


def tflite_model(kind: str = "uint8", side: int = 8, channels: int = 3) -> bytes:
    """Return a TensorFlow Lite model whose input is [1, side, side, channels] of a kind."""
    model = schema.ModelT()
    model.version = 3
    model.operatorCodes = [
        _code(schema.BuiltinOperator.CAST),
        _code(schema.BuiltinOperator.MEAN),
    ]
    model.buffers = [schema.BufferT(), schema.BufferT()]
    model.buffers[1].data = list(struct.pack("<2i", 1, 2))  # the axes: height and width
    shape = [1, side, side, channels]
    graph = schema.SubGraphT()
    graph.tensors = [
        _tensor("picture", shape, _KINDS[kind]),
        _tensor("floats", shape, schema.TensorType.FLOAT32),
        _tensor("axes", [2], schema.TensorType.INT32, buffer=1),
        _tensor("means", [1, channels], schema.TensorType.FLOAT32),
    ]
    graph.inputs, graph.outputs = [0], [3]
    cast, mean = schema.OperatorT(), schema.OperatorT()
    cast.opcodeIndex, cast.inputs, cast.outputs = 0, [0], [1]
    mean.opcodeIndex, mean.inputs, mean.outputs = 1, [1, 2], [3]
    mean.builtinOptionsType = schema.BuiltinOptions.ReducerOptions
    mean.builtinOptions = schema.ReducerOptionsT()
    graph.operators = [cast, mean]
    model.subgraphs = [graph]
    builder = Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def _code(operator: int) -> schema.OperatorCodeT:
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = operator
    code.version = 1
    return code


def _tensor(name: str, shape: list[int], kind: int, buffer: int = 0) -> schema.TensorT:
    tensor = schema.TensorT()
    tensor.name, tensor.shape, tensor.type, tensor.buffer = name, shape, kind, buffer
    return tensor


def onnx_model(shape: tuple[int, ...] = (1, 3, 8, 8)) -> bytes:
    """Return an ONNX model with one ReduceMean over the last two axes of an input of this shape.

    It is written as the protocol buffers of onnx.proto, field by field. A side of 0 is left open.
    """
    axes = _field(1, b"axes") + b"".join(_number(8, axis) for axis in (2, 3)) + _number(20, 7)
    keep = _field(1, b"keepdims") + _number(3, 0) + _number(20, 2)
    node = _field(1, b"picture") + _field(2, b"means") + _field(4, b"ReduceMean")
    node += _field(5, axes) + _field(5, keep)
    graph = _field(1, node) + _field(2, b"tiny")
    graph += _field(11, _value(b"picture", shape)) + _field(12, _value(b"means", shape[:2]))
    return _number(1, 7) + _field(7, graph) + _field(8, _field(1, b"") + _number(2, 13))


def onnx_network_model() -> bytes:
    """Return an ONNX model with weights: 8 filters of 3x3 at every second place, then 10 classes.

    The sides of its input are open.
    """
    strides = _field(5, _field(1, b"strides") + _number(8, 2) + _number(8, 2) + _number(20, 7))
    graph = _node(b"Conv", [b"picture", b"filters", b"bias"], b"maps", strides)
    graph += _node(b"GlobalAveragePool", [b"maps"], b"means")
    graph += _node(b"Flatten", [b"means"], b"flat")
    graph += _node(b"Gemm", [b"flat", b"classes"], b"scores") + _field(2, b"tiny")
    graph += _constant(b"filters", (8, 3, 3, 3)) + _constant(b"bias", (8,))
    graph += _constant(b"classes", (8, 10))
    graph += _field(11, _value(b"picture", (1, 3, 0, 0))) + _field(12, _value(b"scores", (1, 10)))
    return _number(1, 7) + _field(7, graph) + _field(8, _field(1, b"") + _number(2, 13))


def _node(kind: bytes, inputs: list[bytes], output: bytes, attributes: bytes = b"") -> bytes:
    named = b"".join(_field(1, it) for it in inputs) + _field(2, output)
    return _field(1, named + _field(4, kind) + attributes)


def _constant(name: bytes, shape: tuple[int, ...]) -> bytes:
    """Return a constant of ones."""
    values = struct.pack("<f", 1.0) * math.prod(shape)
    sides = b"".join(_number(1, side) for side in shape)
    return _field(5, sides + _number(2, 1) + _field(8, name) + _field(9, values))


def _value(name: bytes, shape: tuple[int, ...]) -> bytes:
    sides = [_number(1, side) if side else _field(2, b"open") for side in shape]
    tensor = _number(1, 1) + _field(2, b"".join(_field(1, side) for side in sides))
    return _field(1, name) + _field(2, _field(1, tensor))


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
