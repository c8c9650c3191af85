# SPDX-License-Identifier: Apache-2.0
"""A score report as a table of text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from referee.core.text_cells import columns_of, left_in
from referee.service.results.score_text import score_text, with_words
from referee.tracks.track import Report

IGNORED = {
    "unknown_image": "image not in the ground truth",
    "class_out_of_range": "class not on the list",
    "confidence_not_finite": "confidence not finite",
    "difficult": "found a difficult object, which the rules ignore",
    "blacklisted": "blacklisted",
    "not_finite": "score or box not finite",
    "beyond_100_per_image_and_class": "beyond the 100 best of an image and class",
}
"""The words for each reason for which a score report ignores rows."""

_COUNTS = {
    "scored": "scored",
    "true_positives": "true positives",
    "duplicates": "duplicates",
    "inverted": "inverted",
    "coordinate_not_finite": "corner not finite",
    "crowd_regions": "crowd regions",
}


def score_table(report: Report, class_names: Mapping[int, str]) -> str:
    """Return a score report as lines of text: AP per class, then the counts, then the score."""
    summary = [f"{label:<28}{value}" for label, value in _summary(report)]
    return "\n".join([*_class_lines(report, class_names), "", *summary])


def _class_lines(report: Report, class_names: Mapping[int, str]) -> Iterator[str]:
    """Yield a line per class; the column `grouped` treats equal confidences as one step."""
    named = {key: class_names.get(int(key), "") for key in report["ap"]}
    labels = {key: f"{key} {name}".strip() for key, name in named.items()}
    width = max([len("class"), *map(columns_of, labels.values())])
    grouped = report.get("grouped_ap", {})
    yield f"{'class':<{width}}  {'AP':>8}" + (f"  {'grouped':>8}" if grouped else "")
    for key, ap in report["ap"].items():
        label = left_in(labels[key], width)
        if ap is None:
            yield f"{label}  no ground truth"
        else:
            beside = f"  {grouped[key]:8.6f}" if grouped else ""
            yield f"{label}  {ap:8.6f}{beside}"


def _summary(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the label and the value of each line below the table."""
    coco = report["metric"] == "coco"
    if coco:
        yield "rules", f"COCO, computed by {report['evaluator']}"
    else:
        yield "rules", f"{report['rules']} {report['rules_version']}"
    yield "image ids of detections", report["image_ids"]
    yield "images", str(report["images"])
    yield "truth boxes", str(report["truth_boxes"])
    yield "detections", str(report["detections"])
    for reason, count in report["ignored"].items():
        if count:
            yield "  ignored", f"{count}, {IGNORED[reason]}"
    for field, label in _COUNTS.items():
        if report.get(field):
            yield f"  {label}", str(report[field])
    with_truth = f"{report['classes_with_ground_truth']} of {report['classes']}"
    yield "classes with ground truth", with_truth
    if coco:
        for name, value in report["coco"].items():
            yield name, _number(value)
    else:
        yield "mAP, ties grouped", _number(report["grouped_mean_ap"])
        yield "mAP", _number(report["mean_ap"])
    if "energy_wh" in report:
        yield "energy", f"{report['energy_wh']:.6g} Wh"
        yield "score, mAP/Wh", _score(report)
        yield "normalised accuracy", _number(report["normalized_accuracy"]) + _processed(report)
    if "uncertainty" in report:
        yield from _uncertainty(report["uncertainty"])
    if "rival" in report:
        yield from _rival(report["rival"], f"{100 * report['uncertainty']['level']:.0f} %")


def _score(report: Report) -> str:
    """Return a score as every surface prints it, and all its digits beside it."""
    score, ends = report["score"], report.get("uncertainty", {}).get("score", ())
    if score is None:
        return "none"
    return f"{with_words(score_text(score, ends), '')}, all digits {_number(score)}"


def _processed(report: Report) -> str:
    """Return by how many images the normalised accuracy divides, and how many were answered."""
    processed, answered = report["images_processed"], report["images_answered"]
    also = "" if processed == answered else f", {answered} of them answered"
    return f" ({processed} of {report['images']} images processed{also})"


def _uncertainty(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the intervals of mAP and, with energy, of the score."""
    level = f"{100 * report['level']:.0f} % interval"
    yield f"mAP, {level}", _interval(report["mean_ap"])
    if "score" in report:
        yield f"score, {level}", _interval(report["score"])
        yield "  from the images alone", _interval(report["score_from_images"])
        uncertainty_wh = report["energy_uncertainty_wh"]
        from_energy = (
            f"{_interval(report['score_from_energy'])} (± {uncertainty_wh:.3g} Wh, 1 sigma)"
        )
        unknown = "counted as exact; give --energy-uncertainty-wh"
        yield "  from the energy alone", from_energy if uncertainty_wh else unknown
    yield "  interval of", f"the {report['interval_of']}"
    whole = f"; {report['clusters']} whole clusters" if "clusters" in report else ""
    yield "  drawn", f"{report['resamples']} times, seed {report['seed']}{whole}"


def _rival(report: Report, level: str) -> Iterator[tuple[str, str]]:
    """Yield the rival's figures and the comparison."""
    yield "rival's mAP", _number(report["mean_ap"])
    by_score = report["compared"] == "score"
    if by_score:
        yield "rival's score", _score(report)
    yield f"{'score' if by_score else 'mAP'} minus rival's", f"{report['difference']:.12f}"
    yield f"  {level} interval", _interval(report["difference_interval"])
    turns = f"in {100 * report['turn_probability']:.1f} % of cases"
    yield "second contest turns it", f"{turns}, by the spread of these two sessions alone"


def _interval(ends: Sequence[float]) -> str:
    return f"{ends[0]:.6f} to {ends[1]:.6f}"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.12f}"
