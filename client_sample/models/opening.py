# SPDX-License-Identifier: Apache-2.0
"""From a model's file to detectors whose classes are the contest's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Protocol

from client_sample.client import ClientError, Row, say
from client_sample.models.class_names import WAYS, ClassMap, map_classes, read_names
from client_sample.models.detector import ModelDetector
from client_sample.models.metadata import packed_metadata, written
from client_sample.models.settings import ModelSettings
from client_sample.session import ContestSession, SessionConnection


class MappedDetector(Protocol):
    """A detector of a model: its names, how many classes it has, 0 if that is unknown.

    `engine` says what runs it: the library, the provider, the threads.
    """

    names: Dict[int, str]
    classes: int
    engine: str

    def describe(self) -> str:
        """Return in one line what is known of the model, for a person."""

    def map_to(self, classes: ClassMap) -> None:
        """Give the contest's ids to the model's classes."""

    def __call__(self, image_id: int, jpeg_bytes: bytes) -> List[Row]:
        """Return the objects of an image, in its own pixels, the most confident first."""


class OpenedModel:
    """The detectors of a model, each for a thread, and how its classes get the contest's ids."""

    def __init__(self, path: str, each: List[MappedDetector], way: Optional[str]) -> None:
        self.path, self.each, self._way = path, each, way
        self.names = dict(each[0].names)

    def map_to(self, contest: Mapping[int, str]) -> None:
        """Give the contest's ids to the classes, and say which have none."""
        first, way = self.each[0], self._way
        if way is None and not first.names:  # Others have asked for the option.
            say("the model has no class names: its class k is taken for the contest's id k+1")
            way = "ids+1"
        try:
            classes = map_classes(contest, way, first.names, first.classes)
        except ValueError as error:
            raise ClientError(f"Cannot use --model {self.path}: {error}.") from error
        if not classes.ids:
            raise ClientError(
                f"Cannot use --model {self.path}: none of its classes ({_some(first.names)}) is in "
                f"the contest's list ({_some(contest)}). Give --names FILE, with a name of the "
                "contest on each line, the model's class 0 first."
            )
        for remark in classes.remarks():
            say(remark)
        for detector in self.each:
            detector.map_to(classes)
        self.names = {number: contest[number] for number in classes.ids.values()}


def open_detectors(path: str, settings: ModelSettings, count: int) -> OpenedModel:
    """Return some detectors of a model's file, and say what is known of it.

    A ClientError says what is wrong. Their classes are the model's own.
    """
    way = settings.names if settings.names in WAYS else None
    try:
        names = read_names(Path(settings.names)) if settings.names and way is None else {}
        each = [_load(Path(path), settings, names) for _ in range(count)]
    except (ImportError, OSError, ValueError) as error:
        raise ClientError(f"Cannot use --model {path}: {error}.") from error
    say(f"{path}: {each[0].describe()}")
    return OpenedModel(path, each, way)


def contest_classes(session: ContestSession) -> Dict[int, str]:
    """Return the contest's class names by id; a referee tells them to everybody, before a login."""
    link = SessionConnection(session)
    try:
        listed = json.loads(link.ask("GET", "/classes"))
        return {int(one["id"]): str(one["name"]) for one in listed}
    except (ValueError, TypeError, KeyError) as error:
        raise ClientError("The referee sent no list of classes.") from error
    finally:
        link.close()


def _load(path: Path, settings: ModelSettings, names: Dict[int, str]) -> MappedDetector:
    if not path.is_file():
        raise OSError("there is no such file")
    if path.suffix.lower() == ".onnx":
        from client_sample.models.onnx_runner import OnnxRunner

        runner = OnnxRunner(path, settings.threads, settings.provider)
        return ModelDetector(runner, settings, names)
    if path.suffix.lower() == ".tflite":
        return _load_lite_rt(path, settings, names)
    raise ValueError("its name ends neither in .onnx nor in .tflite")


def _load_lite_rt(path: Path, settings: ModelSettings, names: Dict[int, str]) -> MappedDetector:
    from client_sample.detector_outputs import possible_orders
    from client_sample.models.lite_rt_runner import LiteRtRunner

    if settings.provider != "cpu":
        raise ValueError("--provider is for ONNX models")
    runner = LiteRtRunner(path, settings.threads)
    if possible_orders([tuple(length or 0 for length in one.shape) for one in runner.outputs]):
        _require_no_answers(settings)
        return PostProcessed(path, runner, names)
    return ModelDetector(runner, settings, names)


def _require_no_answers(settings: ModelSettings) -> None:
    """Raise ValueError for options that such a model leaves no choice in."""
    told = settings._asdict()
    given = [name for name in "fit pixels colours boxes scores head size".split() if told[name]]
    if given:
        named = ", ".join("--input" if name == "size" else f"--{name}" for name in given)
        raise ValueError(
            "it ends in TFLite_Detection_PostProcess, and is fed as TensorFlow trains it: leave "
            f"{named} and --like out"
        )


class PostProcessed:
    """A TensorFlow Lite model that ends in TFLite_Detection_PostProcess, with the contest's ids."""

    classes = 0

    def __init__(self, path: Path, runner: Any, names: Dict[int, str]) -> None:
        from client_sample.litert_detector import LiteRtDetector

        self._inner: Any = LiteRtDetector(
            path, threads=runner.threads, first_class_id=0, least_confidence=0.0
        )
        self.names = names or written(packed_metadata(path)).names
        self.engine = runner.engine
        self._pixels = "0-255" if runner.inputs[0].dtype == "uint8" else "-1-1"
        self._ids: Optional[Dict[int, int]] = None

    def describe(self) -> str:
        """Return in one line what is known of the model, for a person."""
        said = f"TFLite_Detection_PostProcess; stretch, pixels {self._pixels}, rgb; {self.engine}"
        return f"{said}. {self._inner.remark}" if self._inner.remark else said

    def map_to(self, classes: ClassMap) -> None:
        """Give the contest's ids to the model's classes."""
        self._ids = classes.ids

    def __call__(self, image_id: int, jpeg_bytes: bytes) -> List[Row]:
        """Return the objects of an image, in its own pixels, the most confident first."""
        rows: List[Row] = []
        for index, *rest in self._inner(image_id, jpeg_bytes):
            class_id = index if self._ids is None else self._ids.get(index)
            if class_id is not None:
                rows.append((class_id, *rest))
        return rows


def _some(names: Mapping[int, str]) -> str:
    told = list(names.values())
    return ", ".join(told[:5]) + (", …" if len(told) > 5 else "")
