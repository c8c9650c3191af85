# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models whose outputs are known, and which need their input all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_TYPES = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "uint8": TensorProto.UINT8,
    "int64": TensorProto.INT64,
}


def write_model(
    path: Path,
    outputs: Sequence[tuple[str, np.ndarray]],
    metadata: Mapping[str, str] = {},
    shape: Sequence[int | str] = (1, 3, 64, 64),
    dtype: str = "float32",
    ir_version: int = 8,
) -> Path:
    """Write a model whose outputs are constants plus 0 times the sum of its input."""
    nodes = [
        helper.make_node("Cast", ["images"], ["cast"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["cast"], ["mean"], keepdims=0),
        helper.make_node("Mul", ["mean", "zero"], ["nothing"]),
    ]
    constants = [numpy_helper.from_array(np.array(0, np.float32), "zero")]
    values = []
    for name, array in outputs:
        kind = _TYPES.get(array.dtype.name, TensorProto.INT32)
        constants.append(numpy_helper.from_array(array, f"{name}_known"))
        nodes += [
            helper.make_node("Cast", ["nothing"], [f"{name}_nothing"], to=kind),
            helper.make_node("Add", [f"{name}_known", f"{name}_nothing"], [name]),
        ]
        values.append(helper.make_tensor_value_info(name, kind, array.shape))
    source = helper.make_tensor_value_info("images", _TYPES[dtype], shape)
    graph = helper.make_graph(nodes, "known", [source], values, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = ir_version
    helper.set_model_props(model, dict(metadata))
    onnx.save(model, str(path))
    return path
