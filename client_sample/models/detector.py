# SPDX-License-Identifier: Apache-2.0
"""A detector of photographs, made of a loaded model and what is known of it."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from client_sample.client import Row
from client_sample.models.boxes import Found
from client_sample.models.class_names import NO_CLASS, WAYS, ClassMap
from client_sample.models.decoders import decode
from client_sample.models.heads import (
    WORDS,
    Context,
    Listed,
    Output,
    class_count,
    find_head,
)
from client_sample.models.metadata import ModelMetadata, written
from client_sample.models.picture import as_numbers, drawn, opened, place
from client_sample.models.runner import ModelRunner, RunFailed, Tensor
from client_sample.models.settings import (
    COLOURS,
    FITS,
    OWN_SIZE,
    PIXELS,
    ModelSettings,
    Question,
    Unclear,
)

# What some exports of RT-DETR want beside the picture: the photograph's width and height.
_PHOTOGRAPH_SIZE = ("orig_target_sizes", "orig_size", "target_sizes")
# What some exports of DETR want beside it: which pixels are the photograph's.
_MASK = "pixel_mask"
_INTEGERS = ("uint8", "int8")
_SOME_SIZE = (320, 256)


class Input(NamedTuple):
    """A model's input of one picture."""

    source: Tensor
    size: Tuple[int, int]
    channels_first: bool
    with_batch: bool


class ModelDetector:
    """A detector of objects in JPEGs; call it with an image's number and bytes.

    One instance belongs to one thread. Its classes are the model's own until `map_to` has the
    contest's. Raises Unclear for a file that leaves questions, and ValueError for one that cannot
    be used.
    """

    def __init__(self, runner: ModelRunner, settings: ModelSettings, names: Dict[int, str]) -> None:
        self._runner = runner
        self.engine = runner.engine
        known = written(runner.metadata)
        self.names = names or known.names
        given, settings = settings.size, settings.or_else(known.settings)
        beside = (*_PHOTOGRAPH_SIZE, _MASK)
        pictures = [one for one in runner.inputs if one.name not in beside]
        if len(pictures) != 1:
            told = ", ".join(f"{one.name} {list(one.shape)}" for one in runner.inputs)
            raise ValueError(f"it takes more than a picture: {told}")
        self._knows_photograph = any(one.name in _PHOTOGRAPH_SIZE for one in runner.inputs)
        questions: List[Question] = []
        self._input = _input_of(pictures[0], settings.size, questions)
        if given not in (None, OWN_SIZE, self._input.size):
            width, height = self._input.size
            raise ValueError(f"its input is {width}x{height}: leave --input out")
        self._settings = _complete(settings, self._input, questions)
        if not self.names and settings.names is None:
            questions.append(Question("--names", ("FILE", *WAYS), "which classes it has"))
        outputs = self._first_run(known, questions)
        self.classes = class_count(self._head, outputs)
        self._map: Optional[ClassMap] = None
        if settings.names not in WAYS:
            self._require_names()
        if any(np.isnan(one.values).any() for one in outputs):
            raise ValueError("it gives NaN for a plain picture: export it with single precision")
        # Scores that are none are told before the login, if noise brings them out.
        size = self._tried_size()
        decode(self._head, [one.values for one in outputs], size, self._settings)

    def _require_names(self) -> None:
        """Raise ValueError if a head has another number of classes than there are names."""
        count = max(self.names, default=-1) + 1
        if self.classes and self.classes != count:
            raise ValueError(
                f"it has {self.classes} classes, and there are names for {count}: give --names FILE"
                " with a line for each, class 0 first, '-' for one that is none"
            )

    def _tried_size(self) -> Tuple[int, int]:
        """Return the size of the made picture of the first run."""
        return self._input.size if self._input.size != OWN_SIZE else _SOME_SIZE

    def _first_run(self, known: ModelMetadata, questions: List[Question]) -> List[Output]:
        """Find the head by a run on a made picture; ask all questions at once."""
        size = self._tried_size()
        try:
            arrays = self._run(_made(size), size, size)
        except RunFailed as error:
            is_open = None in self._input.source.shape[1:]
            advice = "give --input another size" if is_open else "export it again"
            raise ValueError(
                f"it cannot take a picture of {size[0]}x{size[1]}: {advice}. {error}"
            ) from error
        outputs = [
            Output(target.name, values) for target, values in zip(self._runner.outputs, arrays)
        ]
        context = Context(
            size,
            self._settings,
            max(self.names, default=-1) + 1,
            known.task,
            known.exporter,
            self._knows_photograph,
        )
        try:
            self._head = find_head(outputs, context)
        except Unclear as unclear:
            questions += unclear.questions
        if questions:
            raise Unclear(questions)
        return outputs

    def describe(self) -> str:
        """Return in one line what is known of the model, for a person."""
        width, height = self._input.size
        size = "each photograph's own size" if not width else f"{width}x{height}"
        known = self._settings
        return (
            f"{WORDS[type(self._head)]}; input {size}, {self._input.source.dtype}, {known.fit}, "
            f"pixels {known.pixels}, {known.colours}; {self.engine}"
        )

    def map_to(self, classes: ClassMap) -> None:
        """Give the contest's ids to the model's classes."""
        self._map = classes

    def __call__(self, image_id: int, jpeg_bytes: bytes) -> List[Row]:
        """Return the objects of an image, in its own pixels, the most confident first."""
        found = self.see(jpeg_bytes)
        ids = self._map.ids if self._map else None
        rows: List[Row] = []
        for (xmin, ymin, xmax, ymax), score, index in zip(*(part.tolist() for part in found)):
            class_id = index if ids is None else ids.get(index)
            if class_id is not None and xmax > xmin and ymax > ymin:
                # The last pixel inside a box is one less than its side.
                rows.append((class_id, min(score, 1.0), xmin, ymin, xmax - 1, ymax - 1))
        return rows

    def see(self, jpeg_bytes: bytes) -> Found:
        """Return what the model sees, with corners in the image's pixels and its own classes."""
        picture = opened(jpeg_bytes)
        size = picture.size if self._input.size == OWN_SIZE else self._input.size
        placed = place(picture.size, size, str(self._settings.fit))
        outputs = self._run(drawn(picture, placed, size), size, picture.size)
        if self._knows_photograph and isinstance(self._head, Listed):
            found = decode(self._head, outputs, picture.size, self._settings, self._wanted())
            edges = np.array(picture.size * 2, np.float32)
            return found._replace(corners=np.clip(found.corners, 0, edges))
        found = decode(self._head, outputs, size, self._settings, self._wanted())
        return found._replace(corners=placed.back(found.corners))

    def _wanted(self) -> Optional[List[int]]:
        """Return the classes that count: a background must not take the place of others."""
        if self._map is not None:
            return list(self._map.ids)
        gaps = [index for index, name in self.names.items() if name.lower() in NO_CLASS]
        return [index for index in self.names if index not in gaps] if gaps else None

    def _run(self, image: Any, size: Tuple[int, int], photograph: Tuple[int, int]) -> List[Any]:
        """Return the outputs for the bytes of an input's picture."""
        feeds = []
        for source in self._runner.inputs:
            if source.name in _PHOTOGRAPH_SIZE:
                feeds.append(np.array([photograph], source.dtype))
            elif source.name == _MASK:
                shape = [
                    length or side for length, side in zip(source.shape, (1, size[1], size[0]))
                ]
                feeds.append(np.ones(shape, source.dtype))
            else:
                feeds.append(_feed(image, self._input, self._settings))
        return [_without_middle(values) for values in self._runner.run(feeds)]


def _input_of(
    source: Tensor, wanted: Optional[Tuple[int, int]], questions: List[Question]
) -> Input:
    """Return the form of an input; ask for a size that it leaves open."""
    shape = source.shape
    with_batch = len(shape) == 4
    sides = shape[1:] if with_batch else shape
    if with_batch and shape[0] not in (1, None):
        raise ValueError(
            f"it takes {shape[0]} pictures at once: export it with a batch of 1, or an open one"
        )
    if len(sides) != 3 or source.dtype not in (*_INTEGERS, "float32", "float16"):
        raise ValueError(f"it takes {source.dtype} of the shape {list(shape)}, not one RGB picture")
    channels_first = sides[0] == 3 or (sides[2] != 3 and sides[0] is None)
    if 3 not in (sides[0], sides[2]) and None not in (sides[0], sides[2]):
        raise ValueError(f"it takes the shape {list(shape)}, which has no three colours")
    height, width = sides[1:] if channels_first else sides[:2]
    if width is not None and height is not None:
        return Input(source, (width, height), channels_first, with_batch)
    if wanted is None:
        questions.append(Question("--input", ("640x640", "own"), "the size of its input"))
        wanted = (640, 640)
    return Input(source, wanted, channels_first, with_batch)


def _complete(settings: ModelSettings, form: Input, questions: List[Question]) -> ModelSettings:
    """Return the settings with what the input tells; ask for the rest."""
    if form.size == OWN_SIZE:
        settings = settings._replace(fit="stretch")
    source = form.source
    if source.dtype in _INTEGERS:
        settings = settings._replace(pixels=_range_of(source) or settings.pixels)
    for name, answers, about in (
        ("fit", FITS, "how a photograph gets the input's size"),
        ("pixels", PIXELS, "the range of its input's numbers"),
        ("colours", COLOURS, "the order of its input's colours"),
    ):
        if getattr(settings, name) is None:
            questions.append(Question(f"--{name}", answers, about))
    return settings


def _range_of(source: Tensor) -> Optional[str]:
    """Return the range of an integer input: bytes themselves, or what its scale means."""
    if not source.scale:
        return "0-255" if source.dtype == "uint8" else None
    least = -128 if source.dtype == "int8" else 0
    low, high = ((number - source.zero) * source.scale for number in (least, least + 255))
    near = 2 * source.scale
    for pixels, ends in (("0-1", (0, 1)), ("-1-1", (-1, 1)), ("0-255", (0, 255))):
        if abs(low - ends[0]) <= near and abs(high - ends[1]) <= near:
            return pixels
    return None


def _feed(image: Any, form: Input, settings: ModelSettings) -> Any:
    """Return an input's array for a picture's bytes."""
    source = form.source
    numbers = as_numbers(image, settings.pixels or "0-1", settings.colours or "rgb")
    if source.dtype in _INTEGERS:
        if source.scale:
            numbers = np.round(numbers / source.scale) + source.zero
        limits = np.iinfo(source.dtype)
        numbers = np.clip(numbers, limits.min, limits.max)
    array = numbers.astype(source.dtype)
    if form.channels_first:
        array = array.transpose(2, 0, 1)
    return np.ascontiguousarray(array[None] if form.with_batch else array)


def _without_middle(values: Any) -> Any:
    """Return an output without the axis of one between rows and numbers, as SSD's raw boxes."""
    shape = values.shape
    middle = len(shape) == 4 and shape[0] == shape[2] == 1 and min(shape[1], shape[3]) > 1
    return values.reshape(1, shape[1], shape[3]) if middle else values


def _made(size: Sequence[int]) -> Any:
    """Return a picture of noise: what a model gives for it is seldom all 0 or 1."""
    chance = np.random.default_rng(7)
    return chance.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
