# SPDX-License-Identifier: Apache-2.0
"""Real models, built again as `docs/ovic-models.md` asks: 100 boxes, or a background class.

It needs the extra `litert`, and the models of `shared/data`, which are not in this repository.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

MODELS = Path(__file__).parents[2] / "../shared/data/models"
PHOTOGRAPHS = Path(__file__).parents[2] / "../shared/data/coco-tiny/images"

_OPS = schema.BuiltinOperator


def detector(name: str, **options: Any) -> bytes:
    """Return a detector whose TFLite_Detection_PostProcess has 100 boxes and these options."""
    model = _read(name)
    graph = model.subgraphs[0]
    (last,) = [one for one in graph.operators if model.operatorCodes[one.opcodeIndex].customCode]
    known = dict(flexbuffers.Loads(bytes(bytearray(last.customOptions))))
    last.customOptions = np.frombuffer(_packed(known | {"max_detections": 100} | options), np.uint8)
    for output in graph.outputs:
        tensor = graph.tensors[output]
        if len(tensor.shape) > 1:
            tensor.shape = np.array([1, 100, *tensor.shape[2:]], np.int32)
    return _bytes(model)


def classifier_with_background(name: str) -> bytes:
    """Return a classifier of 1000 classes with a column of zeros before its outputs."""
    model = _read(name)
    graph = model.subgraphs[0]
    (scores,) = graph.outputs
    paddings, padded = len(graph.tensors), len(graph.tensors) + 1
    graph.tensors += [_tensor([2, 2], schema.TensorType.INT32), _tensor([1, 1001])]
    graph.tensors[paddings].buffer = len(model.buffers)
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(np.array([[0, 0], [1, 0]], np.int32).tobytes(), np.uint8)
    model.buffers.append(buffer)
    graph.tensors[padded].type = graph.tensors[scores].type
    graph.tensors[padded].quantization = graph.tensors[scores].quantization
    graph.operators.append(_pad(model, [scores, paddings], [padded]))
    graph.outputs = np.array([padded], np.int32)
    # The file's description of its one output stays behind it: it says nothing to the runtime.
    model.metadata, model.signatureDefs = None, None
    return _bytes(model)


def _read(name: str) -> Any:
    content = (MODELS / f"{name}.tflite").read_bytes()
    return schema.ModelT.InitFromPackedBuf(content, 0)


def _packed(options: dict[str, Any]) -> bytes:
    builder = flexbuffers.Builder()
    with builder.Map():
        for key, value in sorted(options.items()):
            if isinstance(value, (bool, int)):
                (builder.Bool if isinstance(value, bool) else builder.Int)(key, value)
            else:
                builder.Float(key, value)
    return bytes(builder.Finish())


def _tensor(shape: list[int], kind: int = schema.TensorType.FLOAT32) -> Any:
    tensor = schema.TensorT()
    tensor.shape, tensor.type, tensor.buffer = np.array(shape, np.int32), kind, 0
    tensor.name = f"added {shape}".encode()
    return tensor


def _pad(model: Any, inputs: list[int], outputs: list[int]) -> Any:
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = _OPS.PAD
    code.version = 1
    model.operatorCodes.append(code)
    pad = schema.OperatorT()
    pad.opcodeIndex = len(model.operatorCodes) - 1
    pad.inputs, pad.outputs = np.array(inputs, np.int32), np.array(outputs, np.int32)
    pad.builtinOptionsType, pad.builtinOptions = (
        schema.BuiltinOptions.PadOptions,
        schema.PadOptionsT(),
    )
    return pad


def _bytes(model: Any) -> bytes:
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
