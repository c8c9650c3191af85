# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime: a model's file, the threads, and what executes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from client_sample.models.runner import RunFailed, Tensor, threads_words

_PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "nnapi": "NnapiExecutionProvider",
    "qnn": "QNNExecutionProvider",
}
_TYPES = {
    "tensor(float)": "float32",
    "tensor(float16)": "float16",
    "tensor(uint8)": "uint8",
    "tensor(int8)": "int8",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(double)": "float64",
    "tensor(bool)": "bool",
}
# What ONNX Runtime says of a file that it cannot load, and what to do.
_SIGNS = {
    "IR version": "it is newer than this ONNX Runtime: pip install --upgrade onnxruntime, or "
    "export the model with an older opset",
    "opset": "its opset is newer than this ONNX Runtime: pip install --upgrade onnxruntime, or "
    "export it with a smaller opset",
    "external data": "its weights lie in another file, such as NAME.onnx.data: copy both into one "
    "folder",
    "is not a registered function/op": "it has an operator that ONNX Runtime lacks: export it "
    "without plugins",
    "Protobuf parsing failed": "it is no ONNX file, or only a part of one",
}


class OnnxRunner:
    """A model in ONNX Runtime; `threads` 0 is one for each core."""

    def __init__(self, model: Path, threads: int, provider: str) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise ImportError(
                "an ONNX model needs ONNX Runtime: pip install onnxruntime numpy pillow (the extra "
                f"'onnx'). {error}"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4  # An error is raised, too, and is told in words then.
        wanted = _PROVIDERS[provider]
        available = onnxruntime.get_available_providers()
        if wanted not in available:
            own = [name for name, known in _PROVIDERS.items() if known in available]
            raise ValueError(
                f"this ONNX Runtime has no provider {provider}, only {', '.join(own)}: install the "
                "package of ONNX Runtime for your board"
            )
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(model), options, providers=[wanted]
            )
        except Exception as error:  # It has errors of its own, of many types.
            raise ValueError(_in_words(str(error))) from error
        used = self._session.get_providers()[0]
        if used != wanted:
            raise ValueError(
                f"ONNX Runtime fell back from {wanted} to {used}: what {provider} needs is not on "
                "this machine"
            )
        self.engine = (
            f"ONNX Runtime {onnxruntime.__version__}, {used}, "
            f"{threads_words(threads) if threads else 'as many threads as cores'}"
        )
        self.inputs = [_tensor(one) for one in self._session.get_inputs()]
        self.outputs = [_tensor(one) for one in self._session.get_outputs()]
        self.metadata: Dict[str, str] = dict(self._session.get_modelmeta().custom_metadata_map)

    def run(self, feeds: Sequence[Any]) -> List[Any]:
        """Return the outputs for an array for each input."""
        named = {source.name: feed for source, feed in zip(self.inputs, feeds)}
        try:
            return [np.asarray(values) for values in self._session.run(None, named)]
        except Exception as error:
            raise RunFailed(_in_words(str(error))) from error


def _tensor(argument: Any) -> Tensor:
    # A text stands for a length that is open.
    shape: Tuple[Optional[int], ...] = tuple(
        length if isinstance(length, int) and length > 0 else None for length in argument.shape
    )
    return Tensor(argument.name, shape, _TYPES.get(argument.type, argument.type))


def _in_words(said: str) -> str:
    """Return what to do about an error of ONNX Runtime, or its own words in one line."""
    own = " ".join(said.split())[:300]
    return next((text for sign, text in _SIGNS.items() if sign.lower() in said.lower()), own)
