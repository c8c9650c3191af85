# SPDX-License-Identifier: Apache-2.0
"""Non-maximum suppression with the meaning of Core ML's NonMaximumSuppression specification.

The names in quotes below are the fields of NonMaximumSuppression.proto, which Apple publishes
with coremltools; `read_mlmodel` reads them from a model. The algorithm is its PickTop:

1. discard the boxes with a confidence below the confidence threshold;
2. keep the box of the highest confidence, and discard every other box if its IoU with the kept box
   is over the IoU threshold;
3. repeat step 2 with the boxes that are neither kept nor discarded.

The specification leaves some points open. This module decides them as follows:

- The confidence of a box is the highest in its row, and its label is the class with that
  confidence, on a tie the first class. "The same label (argmax of the confidence)" implies this.
- A box is suppressed when the IoU is greater than the threshold. The specification's words for
  `iouThreshold` say "less than", but that would suppress the boxes that do not overlap. Two other
  texts say "greater": the remark that 1.0 means no suppression, and the description of the same
  operation in Core ML's model intermediate language ("IoU > iou_threshold").
- Of boxes with equal confidence the earlier row goes first.
- Kept boxes come out in falling order of confidence, so a bound on their number keeps the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Boxes taken from the top of the list at once. With 64, numpy's cost per call does not matter, and
# 64 x 10,000 overlaps stay in a processor's cache.
_BLOCK = 64
# Confidences of half precision sum to a little more than they should.
_SUM_MOST = 1.01


@dataclass(frozen=True, eq=False)
class KeptBoxes:
    """The boxes that a suppression keeps.

    `confidence` and `coordinates` are the outputs, in the inputs' types. If a lower bound asks for
    more rows than were kept, rows of zeros pad them. `rows` are the kept input rows and `labels`
    their labels: class labels, or class indices if the model has no labels. These two are not
    padded. `above_one` counts the input rows whose confidences sum to more than 1. The
    specification forbids that for predictions that Core Vision handles; here they are taken as they
    are.
    """

    confidence: NDArray[Any]
    coordinates: NDArray[Any]
    rows: NDArray[np.int64]
    labels: Tuple[Union[str, int], ...]
    above_one: int = 0


@dataclass(frozen=True)
class NonMaximumSuppression:
    """A suppression with its parameters; call it with confidences and coordinates.

    - `iou_threshold` ("iouThreshold"): from 0 to 1; at 1 nothing is suppressed.
    - `confidence_threshold` ("confidenceThreshold"): not negative.
    - `per_class` ("pickTop.perClass"): boxes suppress only boxes of the same label.
    - `class_labels` ("stringClassLabels" or "int64ClassLabels"): one for each class, or none.
    - `min_boxes`, `max_boxes` (the first dimension of the outputs' shape): the least and the
      greatest number of output rows. Equal numbers give a fixed shape; None is no upper bound.
    - the names of the inputs and outputs, for `predict`. An input can override a threshold only if
      its "...ThresholdInputFeatureName" is not empty.
    """

    iou_threshold: float
    confidence_threshold: float
    per_class: bool = False
    class_labels: Union[Tuple[str, ...], Tuple[int, ...]] = ()
    min_boxes: int = 0
    max_boxes: Optional[int] = None
    confidence_input: str = "raw_confidence"
    coordinates_input: str = "raw_coordinates"
    iou_threshold_input: str = "iouThreshold"
    confidence_threshold_input: str = "confidenceThreshold"
    confidence_output: str = "confidence"
    coordinates_output: str = "coordinates"

    def __post_init__(self) -> None:
        _check_thresholds(self.iou_threshold, self.confidence_threshold)
        if self.min_boxes < 0 or (self.max_boxes is not None and self.max_boxes < self.min_boxes):
            raise ValueError(f"no number lies between {self.min_boxes} and {self.max_boxes} boxes")

    def __call__(
        self,
        confidence: ArrayLike,
        coordinates: ArrayLike,
        *,
        iou_threshold: Optional[float] = None,
        confidence_threshold: Optional[float] = None,
    ) -> KeptBoxes:
        """Suppress boxes; given thresholds replace those of the model.

        `confidence` is N x C, not negative: the confidence of each of C classes for each of N
        boxes. `coordinates` is N x 4: centre x, centre y, width and height, in any unit.
        """
        confidence, coordinates = np.asarray(confidence), np.asarray(coordinates)
        iou = self.iou_threshold if iou_threshold is None else float(iou_threshold)
        least = self.confidence_threshold
        least = least if confidence_threshold is None else float(confidence_threshold)
        _check_thresholds(iou, least)
        self._check_boxes(confidence, coordinates)
        best, label = confidence.max(axis=1).astype(np.float64), confidence.argmax(axis=1)
        candidates = np.flatnonzero(best >= least)
        ranked = candidates[np.argsort(-best[candidates], kind="stable")]
        boxes = coordinates[ranked].astype(np.float64)
        if self.per_class:
            stays = np.zeros(len(ranked), dtype=bool)
            for each in np.unique(label[ranked]):
                of_class = np.flatnonzero(label[ranked] == each)
                stays[of_class[pick_top(boxes[of_class], iou)]] = True
            rows = ranked[stays]
        else:
            rows = ranked[pick_top(boxes, iou)]
        rows = rows[: self.max_boxes]
        labels = self.class_labels or range(confidence.shape[1])
        return KeptBoxes(
            self._pad(confidence[rows]),
            self._pad(coordinates[rows]),
            rows.astype(np.int64),
            tuple(labels[index] for index in label[rows]),
            int((confidence.sum(axis=1, dtype=np.float64) > _SUM_MOST).sum()),
        )

    def predict(self, features: Mapping[str, Any]) -> Dict[str, NDArray[Any]]:
        """Take the inputs and return the outputs under the names that the model gives them."""
        wanted = {self.confidence_input, self.coordinates_input}
        optional = {self.iou_threshold_input, self.confidence_threshold_input} - {""}
        if not wanted <= set(features) <= wanted | optional:
            raise ValueError(
                f"the inputs must be {', '.join(sorted(wanted))} and may be "
                f"{', '.join(sorted(optional)) or 'nothing else'}, not {', '.join(features)}"
            )
        kept = self(
            features[self.confidence_input],
            features[self.coordinates_input],
            iou_threshold=features.get(self.iou_threshold_input),
            confidence_threshold=features.get(self.confidence_threshold_input),
        )
        return {
            self.confidence_output: kept.confidence,
            self.coordinates_output: kept.coordinates,
        }

    def _pad(self, rows: NDArray[Any]) -> NDArray[Any]:
        missing = max(0, self.min_boxes - len(rows))
        return np.concatenate([rows, np.zeros((missing, rows.shape[1]), dtype=rows.dtype)])

    def _check_boxes(self, confidence: NDArray[Any], coordinates: NDArray[Any]) -> None:
        if confidence.ndim != 2 or coordinates.shape != (len(confidence), 4):
            shapes = f"{confidence.shape} and {coordinates.shape}"
            raise ValueError(f"confidence must be N x C and coordinates N x 4, not {shapes}")
        classes = confidence.shape[1]
        if classes == 0 or (self.class_labels and len(self.class_labels) != classes):
            raise ValueError(f"{classes} classes but {len(self.class_labels)} class labels")
        if not (np.isfinite(confidence).all() and np.isfinite(coordinates).all()):
            raise ValueError("confidences and coordinates must be finite numbers")
        if (confidence < 0).any() or (coordinates[:, 2:] < 0).any():
            raise ValueError("confidences, widths and heights must not be negative")


def _check_thresholds(iou_threshold: float, confidence_threshold: float) -> None:
    if not 0 <= iou_threshold <= 1:
        raise ValueError(f"the IoU threshold must lie between 0 and 1, not be {iou_threshold}")
    if not 0 <= confidence_threshold:
        raise ValueError(f"the confidence threshold must not be {confidence_threshold}")


def pick_top(boxes: NDArray[np.float64], iou_threshold: float) -> NDArray[np.int64]:
    """Return the positions of the kept boxes; `boxes` is in falling order of confidence.

    `boxes` is N x 4: centre x, centre y, width, height. Boxes without an area overlap nothing.
    """
    if iou_threshold >= 1:
        return np.arange(len(boxes))
    centre, half = boxes[:, :2].T, boxes[:, 2:].T / 2
    with np.errstate(over="ignore", invalid="ignore"):
        left, top = centre - half
        right, bottom = centre + half
        # The area is taken from the corners, so that equal boxes have an IoU of exactly 1.
        table = np.stack([left, top, right, bottom, (right - left) * (bottom - top)])
        waiting = np.arange(len(boxes))
        kept = [waiting[:0]]
        while len(waiting):
            block, table = table[:, :_BLOCK], table[:, _BLOCK:]
            near = _near(block, block, iou_threshold)
            stays = np.ones(block.shape[1], dtype=bool)
            for index in range(len(stays)):
                if stays[index]:
                    stays[index + 1 :] &= ~near[index, index + 1 :]
            kept.append(waiting[:_BLOCK][stays])
            free = ~_near(block[:, stays], table, iou_threshold).any(axis=0)
            table, waiting = table[:, free], waiting[_BLOCK:][free]
    return np.concatenate(kept)


def _near(
    one: NDArray[np.float64], other: NDArray[np.float64], iou_threshold: float
) -> NDArray[np.bool_]:
    """Tell for each box of one table (rows) and of another (columns) if their IoU is too high."""
    left, top, right, bottom, area = one[:, :, None]
    # Compute in place: allocating new arrays would take half of the time.
    common = np.minimum(right, other[2])
    common -= np.maximum(left, other[0])
    np.maximum(common, 0, out=common)
    height = np.minimum(bottom, other[3])
    height -= np.maximum(top, other[1])
    common *= np.maximum(height, 0, out=height)
    union = np.add(area, other[4], out=height)
    union -= common
    common /= union
    near: NDArray[np.bool_] = common > iou_threshold
    return near  # two empty boxes are not near: 0 / 0 is NaN, which exceeds no threshold


def read_mlmodel(path: Union[str, Path]) -> NonMaximumSuppression:
    """Read the suppression of a `.mlmodel`: the model itself, or the last one in its pipeline.

    It needs coremltools. That package reads models on Linux too, although it runs them only on
    macOS.
    """
    try:
        from coremltools.models.utils import load_spec
    except ImportError as error:
        raise ImportError(
            "reading a Core ML model needs coremltools: "
            "pip install coremltools (the extra 'coreml')"
        ) from error
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no model {path}")
    suppressions = list(_suppressions(load_spec(str(path))))
    if not suppressions:
        raise ValueError(f"{path} holds no nonMaximumSuppression")
    return parameters_of(suppressions[-1])


def parameters_of(model: Any) -> NonMaximumSuppression:
    """Take the parameters from a `Model` message whose type is nonMaximumSuppression.

    The bounds of the number of output rows come from the first dimension of the outputs in the
    model's description. If both outputs have bounds, they must agree.
    """
    spec = model.nonMaximumSuppression
    if spec.WhichOneof("SuppressionMethod") != "pickTop":
        raise ValueError("the model names no suppression method; pickTop is the one there is")
    kind = spec.WhichOneof("ClassLabels")
    outputs = (spec.confidenceOutputFeatureName, spec.coordinatesOutputFeatureName)
    bounds = {
        _row_bounds(feature) for feature in model.description.output if feature.name in outputs
    }
    bounds.discard((0, None))
    if len(bounds) > 1:
        raise ValueError(f"the outputs' numbers of rows contradict each other: {sorted(bounds)}")
    least, most = bounds.pop() if bounds else (0, None)
    return NonMaximumSuppression(
        iou_threshold=spec.iouThreshold,
        confidence_threshold=spec.confidenceThreshold,
        per_class=spec.pickTop.perClass,
        class_labels=tuple(getattr(spec, kind).vector) if kind else (),
        min_boxes=least,
        max_boxes=most,
        confidence_input=spec.confidenceInputFeatureName,
        coordinates_input=spec.coordinatesInputFeatureName,
        iou_threshold_input=spec.iouThresholdInputFeatureName,
        confidence_threshold_input=spec.confidenceThresholdInputFeatureName,
        confidence_output=outputs[0],
        coordinates_output=outputs[1],
    )


def _suppressions(model: Any) -> Iterator[Any]:
    kind = model.WhichOneof("Type")
    if kind == "nonMaximumSuppression":
        yield model
    elif kind in ("pipeline", "pipelineClassifier", "pipelineRegressor"):
        pipeline = getattr(model, kind)
        for part in (pipeline if kind == "pipeline" else pipeline.pipeline).models:
            yield from _suppressions(part)


def _row_bounds(feature: Any) -> Tuple[int, Optional[int]]:
    array = feature.type.multiArrayType
    flexible = array.WhichOneof("ShapeFlexibility")
    if flexible == "shapeRange" and len(array.shapeRange.sizeRanges):
        rows = array.shapeRange.sizeRanges[0]
        # Any negative upper bound means that there is none.
        return rows.lowerBound, rows.upperBound if rows.upperBound >= 0 else None
    if flexible == "enumeratedShapes" and len(array.enumeratedShapes.shapes):
        sizes = {shape.shape[0] for shape in array.enumeratedShapes.shapes}
        if len(sizes) > 1:
            raise ValueError(
                f"output {feature.name!r} may have {sorted(sizes)} rows: which is meant?"
            )
        fixed = sizes.pop()
        return fixed, fixed
    return (array.shape[0], array.shape[0]) if len(array.shape) else (0, None)
