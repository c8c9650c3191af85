# SPDX-License-Identifier: Apache-2.0
"""What a model's file holds: the size of its input, its parameters, and its work for one picture.

AIoTBench credits a workload with the network of its name, so the log's configuration says what ran.
Parameters are the weights of convolutions and fully connected layers. Work is counted for these
layers alone, as the literature counts it: in multiply-accumulates.
"""

from __future__ import annotations

import importlib
import json
import math
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence

_IDENTIFIER, _IDENTIFIER_AT = b"TFL3", 4


class Network(NamedTuple):
    """A model's input in pixels, its weights, and the multiply-accumulates for one picture."""

    width: int
    height: int
    parameters: int
    flops: int


class Layer(NamedTuple):
    """A layer with weights: its number of weights, and at how many places each is used once."""

    weights: int
    places: int


def network_of(width: int, height: int, layers: Iterable[Layer], biases: int) -> Network:
    """Return the network of some layers; `biases` are the parameters beside their weights."""
    known = list(layers)
    return Network(
        width,
        height,
        sum(node.weights for node in known) + biases,
        sum(node.weights * node.places for node in known),
    )


def _layer(weights: Sequence[int], output: Sequence[int], channels: int) -> Layer:
    return Layer(math.prod(map(int, weights)), math.prod(map(int, output)) // max(1, channels))


def lite_rt_network(content: bytes) -> Network:
    """Return the network of a TensorFlow Lite file, without running it.

    The reader of the format is plain Python, so a damaged file can do no more than raise an error,
    of any kind. Raises ImportError without LiteRT.
    """
    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
    if content[_IDENTIFIER_AT : _IDENTIFIER_AT + len(_IDENTIFIER)] != _IDENTIFIER:
        raise ValueError("it is no TensorFlow Lite file")
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    _, height, width, channels = map(int, graph.tensors[graph.inputs[0]].shape)
    if channels != 3 or len(graph.inputs) != 1:
        raise ValueError("its input is not one picture of three colours")
    kinds = schema.BuiltinOperator
    weighted = (kinds.CONV_2D, kinds.DEPTHWISE_CONV_2D, kinds.FULLY_CONNECTED)
    unpacked: Dict[int, int] = {}  # Weights of half precision are made single before their layer.
    places: Dict[int, int] = {}
    biases = set()
    for operator in graph.operators:
        entry = model.operatorCodes[operator.opcodeIndex]
        code = max(entry.builtinCode, entry.deprecatedBuiltinCode)
        if code == kinds.DEQUANTIZE:
            unpacked[int(operator.outputs[0])] = int(operator.inputs[0])
        if code in weighted:
            output = graph.tensors[operator.outputs[0]].shape
            weights, *bias = (int(tensor) for tensor in operator.inputs[1:])
            places[weights] = places.get(weights, 0) + _layer([], output, int(output[-1])).places
            biases |= {tensor for tensor in bias if tensor >= 0}

    def size(tensor: int) -> int:
        """Return the number of a constant's values, 0 for what is computed."""
        data = model.buffers[graph.tensors[unpacked.get(tensor, tensor)].buffer].data
        there = data is not None and len(data) > 0
        return math.prod(map(int, graph.tensors[tensor].shape)) if there else 0

    layers = [Layer(size(weights), count) for weights, count in places.items()]
    return network_of(width, height, layers, sum(map(size, biases)))


# Where each operator of ONNX has its weights among its inputs; the bias comes right after them.
_ONNX_WEIGHTS = {
    **{"Conv": 1, "ConvInteger": 1, "QLinearConv": 3},
    **{"Gemm": 1, "MatMul": 1, "MatMulInteger": 1, "QLinearMatMul": 3},
}


def onnx_network(model: Path, picture: Any) -> Network:
    """Return the network of an ONNX model, from what ONNX Runtime notes while it runs it once.

    `picture` is an input of the model, (1, 3, height, width).
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # As it is in the file: no layer is merged with another one, and no weight is packed.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "1")
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = str(Path(folder) / "profile")
        session = onnxruntime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
        session.run(None, {session.get_inputs()[0].name: picture})
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
    layers: List[Layer] = []
    biases = 0
    for event in events:
        noted = event.get("args", {})
        kind, at = noted.get("op_name"), _ONNX_WEIGHTS.get(noted.get("op_name"))
        if at is None or "input_type_shape" not in noted:
            continue
        inputs = [next(iter(shape.values())) for shape in noted["input_type_shape"]]
        output = next(iter(noted["output_type_shape"][0].values()))
        layers.append(_layer(inputs[at], output, output[1] if "Conv" in kind else output[-1]))
        if kind in ("Conv", "Gemm") and len(inputs) > at + 1:
            biases += math.prod(inputs[at + 1])
    return network_of(picture.shape[3], picture.shape[2], layers, biases)


def torch_network(network: Any, picture: Any) -> Optional[Network]:
    """Return the network of a PyTorch model, by looking at each layer while it runs once.

    `picture` is an input of the model, (1, 3, height, width). Returns None for a quantized model,
    whose layers PyTorch does not show.
    """
    torch: Any = importlib.import_module("torch")
    dispatch: Any = importlib.import_module("torch.utils._python_dispatch")
    layers: List[Layer] = []
    biases: List[int] = []
    hidden: List[str] = []

    class Watch(dispatch.TorchDispatchMode):  # type: ignore[misc]
        """Sees each operator with its arguments and its result."""

        def __torch_dispatch__(
            self, operator: Any, types: Any, args: Any = (), named: Any = None
        ) -> Any:
            result = operator(*args, **(named or {}))
            space, _, name = operator._schema.name.partition("::")
            if space == "quantized":
                hidden.append(name)
            elif name in ("convolution", "_convolution", "mkldnn_convolution", "linear"):
                channel = -1 if name == "linear" else 1
                layers.append(_layer(args[1].shape, result.shape, int(result.shape[channel])))
                biases.append(args[2].numel() if len(args) > 2 and args[2] is not None else 0)
            elif name in ("mm", "addmm"):
                layers.append(_layer(args[-1].shape, result.shape, int(result.shape[-1])))
                biases.append(args[0].numel() if name == "addmm" else 0)
            return result

    with torch.no_grad(), Watch():
        network(picture)
    if hidden:
        return None
    return network_of(picture.shape[3], picture.shape[2], layers, sum(biases))
