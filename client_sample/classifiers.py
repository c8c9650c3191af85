# SPDX-License-Identifier: Apache-2.0
"""Image classifiers in three implementations of AIoTBench: LiteRT, PyTorch and ONNX Runtime.

A classifier is called with a picture's path. It reads the file, resizes the picture, predicts, and
returns the label of the best class. So one call is what AIoTBench measures.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

from client_sample.networks import Network, lite_rt_network, onnx_network, torch_network

Classifier = Callable[[Path], int]

# The mean and the deviation of ImageNet's red, green and blue: PyTorch's models want them.
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# The share of a picture's side that the models' authors keep when they crop: 224 of 256.
_CENTRAL = 0.875
# A model with this many outputs has a class 0, "background", before ImageNet's 1000 classes.
_WITH_BACKGROUND = 1001


class ClassifierSettings(NamedTuple):
    """What a person may choose for a classifier.

    `side` is the input's width and height, for a model that does not say it. `first_label` is the
    label of a model's first output; None is 0 for a model with a background class, otherwise 1.
    """

    side: int = 224
    threads: int = 1
    crop: bool = False
    first_label: Optional[int] = None


class Pixels:
    """Reads a picture in its original format as RGB of one size."""

    def __init__(self, width: int, height: int, crop: bool) -> None:
        import numpy
        from PIL import Image

        self._numpy, self._image = numpy, Image
        self._size, self._crop = (width, height), crop

    def __call__(self, path: Path) -> Any:
        """Return an array of bytes, (height, width, 3)."""
        with self._image.open(path) as picture:
            box = _middle(*picture.size) if self._crop else None
            small = picture.convert("RGB").resize(
                self._size, self._image.Resampling.BILINEAR, box=box
            )
        return self._numpy.asarray(small)

    def normalised(self, path: Path) -> Any:
        """Return an array as PyTorch's models want it: floats, (3, height, width)."""
        numpy = self._numpy
        scaled = self(path).astype(numpy.float32) / numpy.float32(255)
        scaled -= numpy.array(_MEAN, numpy.float32)
        scaled /= numpy.array(_DEVIATION, numpy.float32)
        return numpy.ascontiguousarray(scaled.transpose(2, 0, 1))


def _middle(width: int, height: int) -> Tuple[float, float, float, float]:
    """Return the square in the middle of a picture that the authors' crop keeps."""
    half = _CENTRAL * min(width, height) / 2
    return (width / 2 - half, height / 2 - half, width / 2 + half, height / 2 + half)


def lite_rt(model: Path, settings: ClassifierSettings) -> Classifier:
    """Load a TensorFlow Lite model for the processor.

    Its input is [1, h, w, 3]: bytes 0 to 255, int8 -128 to 127, or float32 -1 to 1.
    """
    import numpy
    from ai_edge_litert.interpreter import Interpreter

    interpreter: Any = Interpreter(model_path=str(model), num_threads=settings.threads)
    signature = tuple(map(int, interpreter.get_input_details()[0]["shape_signature"]))
    if min(signature[1:], default=0) < 0:
        raise ValueError(f"it leaves the size of its input open, {signature}: fix it in the model")
    interpreter.allocate_tensors()
    source, target = interpreter.get_input_details()[0], interpreter.get_output_details()[0]
    kind, shape = numpy.dtype(source["dtype"]).name, tuple(map(int, source["shape"]))
    if kind not in _TO_INPUT or len(shape) != 4 or (shape[0], shape[3]) != (1, 3):
        raise ValueError(f"it takes {kind} of the shape {shape}, not one picture [1, h, w, 3]")
    pixels = Pixels(shape[2], shape[1], settings.crop)
    convert = _TO_INPUT[kind]

    def classify(path: Path) -> int:
        interpreter.set_tensor(source["index"], convert(pixels(path))[None])
        interpreter.invoke()
        return _label(interpreter.get_tensor(target["index"]), settings)

    return classify


def _as_int8(pixels: Any) -> Any:
    return (pixels ^ 0x80).view("int8")  # Flipping the highest bit subtracts 128.


def _as_float(pixels: Any) -> Any:
    return (pixels.astype("float32") - 127.5) / 127.5


_TO_INPUT: Dict[str, Callable[[Any], Any]] = {
    "uint8": lambda pixels: pixels,
    "int8": _as_int8,
    "float32": _as_float,
}


def py_torch(model: Path, settings: ClassifierSettings) -> Classifier:
    """Load a TorchScript model, with ImageNet's usual normalisation as its input."""
    torch, network = _torch_script(model, settings)
    pixels = Pixels(settings.side, settings.side, settings.crop)

    def classify(path: Path) -> int:
        with torch.inference_mode():
            scores = network(torch.from_numpy(pixels.normalised(path)[None]))
        if isinstance(scores, tuple):
            scores = scores[0]  # A scripted InceptionV3 adds the scores of its training.
        if not hasattr(scores, "numpy"):
            raise ValueError(f"it gives a {type(scores).__name__}, not a tensor of scores")
        return _label(scores.numpy(), settings)

    return classify


def _torch_script(model: Path, settings: ClassifierSettings) -> Tuple[Any, Any]:
    """Return PyTorch and a model in it."""
    # By name, because no extra brings PyTorch: how to install it depends on the board.
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(settings.threads)
    try:
        return torch, torch.jit.load(str(model), map_location="cpu").eval()
    except RuntimeError as error:
        raise ValueError(
            f"PyTorch wants a TorchScript file, as torch.jit.trace(model, picture).save() writes "
            f"it, and neither weights nor a pickled model ({str(error).splitlines()[0]})"
        ) from error


def _look_at_torch(model: Path, settings: ClassifierSettings) -> Optional[Network]:
    torch, network = _torch_script(model, settings)
    return torch_network(network, torch.zeros(1, 3, settings.side, settings.side))


def onnx_runtime(model: Path, settings: ClassifierSettings) -> Classifier:
    """Load an ONNX model with an input [1, 3, h, w], normalised as PyTorch's models want it."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = settings.threads
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    name, width, height = _onnx_input(session, settings)
    pixels = Pixels(width, height, settings.crop)

    def classify(path: Path) -> int:
        scores = session.run(None, {name: pixels.normalised(path)[None]})[0]
        return _label(scores, settings)

    return classify


def _onnx_input(session: Any, settings: ClassifierSettings) -> Tuple[str, int, int]:
    """Return the name, the width and the height of a model's input."""
    source = session.get_inputs()[0]
    if len(source.shape) != 4 or source.shape[1] != 3:
        raise ValueError(f"it takes the shape {source.shape}, not one picture [1, 3, h, w]")
    # A name, or None, stands for a side that the model leaves open.
    height, width = (
        length if isinstance(length, int) else settings.side for length in source.shape[2:]
    )
    return source.name, width, height


def _look_at_onnx(model: Path, settings: ClassifierSettings) -> Network:
    import numpy
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    _, width, height = _onnx_input(session, settings)
    return onnx_network(model, numpy.zeros((1, 3, height, width), numpy.float32))


def _label(scores: Any, settings: ClassifierSettings) -> int:
    """Return the label of the best class; the first of equal ones counts.

    Raises ValueError unless there is one score for each class, as in (1, 1000) or (1, 1000, 1, 1).
    """
    if scores.size < 2 or max(scores.shape) != scores.size:
        raise ValueError(f"it gives the shape {scores.shape}, not one score for each class")
    best = int(scores.argmax())
    if settings.first_label is not None:
        return best + settings.first_label
    return best if scores.size == _WITH_BACKGROUND else best + 1


class ModelRuntime(NamedTuple):
    """A way to run models: its name, the package that it needs, and how a file is used.

    `load` makes a classifier of a file, and `look` tells what the file holds, None if it is hidden.
    """

    name: str
    package: str
    load: Callable[[Path, ClassifierSettings], Classifier]
    look: Callable[[Path, ClassifierSettings], Optional[Network]]


IMPLEMENTATIONS = {
    "tfc": ModelRuntime(
        "TensorFlow Lite on the processor",
        "ai-edge-litert",
        lite_rt,
        lambda model, settings: lite_rt_network(model.read_bytes()),
    ),
    "py": ModelRuntime("PyTorch", "torch", py_torch, _look_at_torch),
    "ort": ModelRuntime("ONNX Runtime", "onnxruntime", onnx_runtime, _look_at_onnx),
}
