# SPDX-License-Identifier: Apache-2.0
"""Read the parameters of a non-maximum suppression from a Core ML model."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator, Optional, Tuple, Union

from client_sample.nms import NonMaximumSuppression


def read_mlmodel(path: Union[str, Path]) -> NonMaximumSuppression:
    """Read the suppression of a `.mlmodel`: the model itself, or the last one in its pipeline.

    It needs coremltools. That package reads models on Linux too, although it runs them only on
    macOS.
    """
    try:
        from coremltools.models.utils import load_spec
    except ImportError as error:
        raise ImportError(
            "reading a Core ML model needs coremltools: pip install '.[coreml]'"
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
