# SPDX-License-Identifier: Apache-2.0
"""A real detector: a TensorFlow Lite model run by LiteRT on the processor.

It needs `pip install ai-edge-litert numpy pillow`. The model must end in
TFLite_Detection_PostProcess, as SSD-MobileNet and EfficientDet-Lite do; its outputs may have any
order. A model that gives raw boxes needs a suppression after it: see `nms.py`.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any, List, Optional, Union

from client_sample.client import Row
from client_sample.detector_outputs import (
    USUAL,
    OutputOrder,
    count_of,
    fits,
    possible_orders,
    ranges,
)

# What LiteRT says of a model that it cannot run, and what to do; the first sign found counts.
_SIGNS = {
    "Select TensorFlow op": (
        "it has the operator {operator} of TensorFlow itself, which LiteRT lacks: convert it with "
        "TFLITE_BUILTINS alone"
    ),
    "edgetpu": (
        "it is compiled for the Edge TPU, and this runs on the processor: take the file that the "
        "compiler took, without _edgetpu in its name"
    ),
    "unresolved custom op": "it has the operator {operator} of its own, which LiteRT lacks",
    "->type": "types in it do not go together in {operator}: convert it again ({own})",
}
NEEDED = (
    "the LiteRT detector needs more packages: "
    "pip install ai-edge-litert numpy pillow (the extra 'litert')"
)
"""What to install for a TensorFlow Lite model."""

_OPERATOR = re.compile(r"Node number \d+ \((\w[\w-]*)\)")


class LiteRtDetector:
    """A detector of objects in JPEGs; call it with an image's number and bytes.

    One instance belongs to one thread. A class id is the model's index plus `first_class_id`, which
    is 1 for models trained on COCO's 90 numbers. `threads` is how many LiteRT itself may use.
    """

    def __init__(
        self,
        model: Union[str, Path],
        *,
        threads: int = 1,
        first_class_id: int = 1,
        least_confidence: float = 0.0,
    ) -> None:
        try:
            import numpy
            from ai_edge_litert.interpreter import Interpreter
            from PIL import Image
        except ImportError as error:
            raise ImportError(NEEDED) from error
        self._numpy, self._image = numpy, Image
        self._name = str(model)
        self._first_class_id = first_class_id
        self._least_confidence = least_confidence
        self._order: Optional[OutputOrder] = None  # None until an image has proved it.
        try:
            self._interpreter: Any = Interpreter(model_path=self._name, num_threads=threads)
            self._look_at_input()
            self._interpreter.allocate_tensors()
            self._details = self._interpreter.get_output_details()
            outputs = self._run(self._made_picture())
        except RuntimeError as error:
            raise ValueError(in_words(str(error))) from error
        self._orders = possible_orders([output.shape for output in outputs])
        if not self._orders:
            raise ValueError(
                f"{model} has outputs of the shapes {[output.shape for output in outputs]}, not "
                "boxes, classes, scores and their number, as TFLite_Detection_PostProcess gives "
                "them"
            )
        self._choose_order(outputs)

    @property
    def remark(self) -> str:
        """Return what a person should know of the model's outputs, or ''."""
        if self._order in (None, USUAL):
            return ""
        place = {name: number + 1 for name, number in self._order._asdict().items()}
        return (
            f"{self._name} gives its outputs in another order than TFLite_Detection_PostProcess. "
            f"Told by their values: {', '.join(f'{name} {place[name]}' for name in place)}."
        )

    def _look_at_input(self) -> None:
        """Note the input's form; raise ValueError for one that is no image of a fixed size."""
        sources = self._interpreter.get_input_details()
        if len(sources) != 1:
            raise ValueError(f"{self._name} has {len(sources)} inputs, not one RGB image")
        source = sources[0]
        kind, shape = self._numpy.dtype(source["dtype"]).name, tuple(map(int, source["shape"]))
        signature = tuple(map(int, source.get("shape_signature", shape)))
        if len(signature) == 4 and min(signature[1:]) < 0:
            raise ValueError(
                f"{self._name} leaves the size of its input open, {signature}: convert it with a "
                "fixed height and width"
            )
        if kind not in ("uint8", "float32") or len(shape) != 4 or (shape[0], shape[3]) != (1, 3):
            raise ValueError(
                f"{self._name} takes {kind} of the shape {shape}, not one RGB image of uint8 or "
                "float32: convert it with such an input"
            )
        self._input = source["index"]
        self._size = (shape[2], shape[1])
        self._is_float = kind == "float32"

    def _made_picture(self) -> Any:
        """Return a picture with some structure: a model's scores for it are seldom 0 or 1."""
        chance = self._numpy.random.default_rng(7)
        coarse = chance.integers(0, 256, (6, 6, 3), dtype=self._numpy.uint8)
        small = self._image.fromarray(coarse).resize(self._size, self._image.Resampling.BICUBIC)
        return self._numpy.asarray(small)

    def _run(self, picture: Any) -> List[Any]:
        """Return the outputs for a picture as numbers; those of a quantized output are scaled."""
        pixels = picture[None]
        if self._is_float:
            pixels = (pixels.astype(self._numpy.float32) - 127.5) / 127.5
        self._interpreter.set_tensor(self._input, pixels)
        self._interpreter.invoke()
        return [self._output(details) for details in self._details]

    def _output(self, details: Any) -> Any:
        values = self._interpreter.get_tensor(details["index"])
        scale, zero = details.get("quantization", (0.0, 0))
        if self._numpy.issubdtype(values.dtype, self._numpy.integer) and scale:
            return (values.astype(self._numpy.float32) - zero) * scale
        return values

    def _choose_order(self, outputs: List[Any]) -> OutputOrder:
        """Return the order of the outputs; raise ValueError if their values are of none.

        Where the values of an image may be of both orders, the next image is asked, too.
        """
        if self._order is not None:
            return self._order
        fitting = [order for order in self._orders if fits(order, outputs)]
        if not fitting:
            raise ValueError(
                f"{self._name} does not give whole classes and scores from 0 to 1: "
                f"{ranges(self._orders[0], outputs)}. Export it with TFLite_Detection_PostProcess"
            )
        if len(fitting) == 1:
            self._order = fitting[0]
        return fitting[0]

    def __call__(self, image_id: int, jpeg_bytes: bytes) -> List[Row]:
        """Return the objects of an image, in its own pixels, the most confident first."""
        with self._image.open(io.BytesIO(jpeg_bytes)) as picture:
            width, height = picture.size
            # Bilinear without smoothing, as in the training of these models. Pillow's resize()
            # smooths; with it EfficientDet-Lite0 fell from 0.446 to 0.429 mAP on 80 photos.
            small = picture.convert("RGB").transform(
                self._size,
                self._image.Transform.EXTENT,
                (0, 0, width, height),
                self._image.Resampling.BILINEAR,
            )
        outputs = self._run(self._numpy.asarray(small))
        order = self._choose_order(outputs)
        boxes, classes, scores = (
            outputs[place][0] for place in (order.boxes, order.classes, order.scores)
        )
        rows: List[Row] = []
        for index in range(count_of(order, outputs)):
            confidence = float(scores[index])
            if confidence >= self._least_confidence:
                ymin, xmin, ymax, xmax = (float(side) for side in boxes[index])
                # The model gives sides as fractions of the image. The last pixel inside a box is
                # one less than its side.
                corners = (xmin * width, ymin * height, xmax * width - 1, ymax * height - 1)
                rows.append((int(classes[index]) + self._first_class_id, confidence, *corners))
        return rows


def in_words(said: str) -> str:
    """Return what to do about an error of LiteRT, or its own words in one line."""
    own = " ".join(said.split())[:300] or "LiteRT gives no reason"
    found = _OPERATOR.search(said)
    advice = next((text for sign, text in _SIGNS.items() if sign in said), "{own}")
    return advice.format(operator=found[1] if found else "that it names", own=own)
