# SPDX-License-Identifier: Apache-2.0
"""The report of `referee score`: it reads the files, scores, and writes the tables asked for."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from referee.commands.score.given_detections import begin_given, begin_given_results
from referee.commands.score.options import require_sense
from referee.core.coco_boxes import CocoTruth, unlike_coco
from referee.core.counts import counted
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.errors import ArgumentError, InputError
from referee.formats.csv_truth import read_clusters
from referee.formats.ground_truth import read_ground_truth
from referee.formats.truth_file import GroundTruthFile
from referee.formats.yolo_counts import FolderCounts, folder_line, label_line, label_warnings
from referee.scoring.class_tables import classes_csv, curves_csv
from referee.scoring.ilsvrc import evaluate
from referee.scoring.result import IlsvrcResult
from referee.scoring.rules import RULE_SETS, Rules
from referee.scoring.score_report import (
    Report,
    coco_report,
    energy_report,
    ilsvrc_report,
    images_with_detections,
)

if TYPE_CHECKING:  # Loaded where they are used: not every score needs them.
    from referee.scoring.coco import CocoResult
    from referee.scoring.uncertainty import Energy
from referee.formats.image_ids import contest_image_ids, renumber
from referee.scoring.mistakes.diagnosis import advice, find_mistakes
from referee.scoring.mistakes.posted import Posted

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def report_of(args: argparse.Namespace) -> tuple[Report, dict[int, str]]:
    """Return the whole report, and the names of the classes; raise `InputError` for wrong use."""
    require_sense(args)
    score = _score_coco if args.metric == "coco" else _score_ilsvrc
    result, report, truth, image_id = score(args)
    if args.energy_wh is not None:
        empty = report.get("detection_files", {}).get("empty", 0)
        answered = images_with_detections(image_id, truth) + empty
        processed = answered if args.images_processed is None else args.images_processed
        if processed < answered:
            raise InputError(
                f"--images-processed {processed} is less than the {counted(answered, 'image')} with"
                " an answer: a contestant detects nothing in an image that it did not get"
            )
        if processed > result.images:
            raise InputError(
                f"--images-processed {processed} is more than the {counted(result.images, 'image')}"
                " of the ground truth"
            )
        report |= energy_report(result.mean_ap, result.images, args.energy_wh, processed)
        report["images_answered"] = answered
        if args.energy_uncertainty_wh and _energy_fault(args.energy_wh, args.energy_uncertainty_wh):
            report["score"] = None
    return report, truth.class_names


def _ground_truth(args: argparse.Namespace) -> GroundTruthFile:
    return read_ground_truth(
        args.ground_truth,
        images=args.images,
        blacklist=args.blacklist,
        classes=args.classes,
        pictures=args.pictures,
    )


def _counted(truth_file: GroundTruthFile, files: FolderCounts | None) -> Report:
    """Return what came in YOLO labels and what was taken of it, and say it."""
    report: Report = {}
    if truth_file.labels is not None:
        report["labels"] = asdict(truth_file.labels)
        print(f"referee score: {label_line(truth_file.labels)}", file=sys.stderr)
    if files is not None:
        report["detection_files"] = asdict(files)
        print(f"referee score: {folder_line(files)}", file=sys.stderr)
    return report


def _score_ilsvrc(args: argparse.Namespace) -> tuple[IlsvrcResult, Report, GroundTruth, Ints]:
    """Return result, report, ground truth, and the image ids of the detections as it has them."""
    read = begin_given(args.detections, args)
    truth_file = _ground_truth(args)
    given = read(truth_file)
    detections = given.detections
    warnings = [*of_truth(truth_file), *given.warnings]
    rules = RULE_SETS[args.rules or "devkit"]
    result = _evaluate(truth_file.truth, detections, rules)
    warnings += of_mistakes(truth_file, detections, result.mean_ap, as_coco=given.as_coco)
    report = ilsvrc_report(result) | {"image_ids": given.numbering, "warnings": warnings}
    report |= _counted(truth_file, given.files)
    if args.resamples and result.mean_ap is not None:
        intervals, faults = _uncertainty(args, truth_file, result)
        report |= intervals | {"warnings": [*warnings, *faults]}
    _write_tables(args, result, truth_file.truth.class_names)
    if args.explain:
        # The drawing library is slow to import, and only --explain needs it.
        from referee.service.results.score_explanation import write_explanation

        pictures = args.pictures or (args.images if args.images and args.images.is_dir() else None)
        subject = f"'{args.detections.name}'"
        write_explanation(args.explain, result, truth_file, detections, pictures, subject)
        print(f"Open {args.explain / 'index.html'}", file=sys.stderr)
    return result, report, truth_file.truth, detections.image_id


def _write_tables(
    args: argparse.Namespace, result: IlsvrcResult, class_names: Mapping[int, str]
) -> None:
    for path, make in (
        (args.per_class, lambda: [classes_csv(result, class_names)]),
        (args.curves, lambda: curves_csv(result)),
    ):
        if path is None:
            continue
        try:
            with path.open("w", encoding="utf-8") as file:
                file.writelines(make())
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}") from None


def _evaluate(truth: GroundTruth, detections: Detections, rules: Rules) -> IlsvrcResult:
    with _two_threads() as threads:
        return evaluate(truth, detections, rules, threads.map)


def _two_threads() -> ThreadPoolExecutor:
    """Return two threads; more gain nothing, because only one at a time runs Python."""
    return ThreadPoolExecutor(2, thread_name_prefix="scoring")


def _uncertainty(
    args: argparse.Namespace, truth_file: GroundTruthFile, result: IlsvrcResult
) -> tuple[Report, list[str]]:
    """Return the intervals and, with a rival, the comparison with it; and what energies lack."""
    # The library of the progress bar is slow to import, and only these draws show a bar.
    from referee.programs.progress import progress_bar
    from referee.service.results.score_uncertainty import Draws, rival_report, uncertainty_report

    clusters = None if args.clusters is None else read_clusters(args.clusters, truth_file.truth)
    solution = (args.energy_wh, args.energy_uncertainty_wh)
    rivals = (args.rival_energy_wh, args.rival_energy_uncertainty_wh)
    faults = [fault for fault in (_energy_fault(*solution), _energy_fault(*rivals)) if fault]
    energy, rival_energy = (None, None) if faults else (_energy(*solution), _energy(*rivals))
    try:
        with progress_bar("draws of the images") as progress:
            draws = Draws(args.resamples, args.seed or 0, progress, clusters)
            mine = draws.of(result)
            report = uncertainty_report(mine, energy, draws)
            if args.rival_detections is not None:
                others = begin_given(args.rival_detections, args)(truth_file).detections
                rival = draws.of(_evaluate(truth_file.truth, others, result.rules))
                energies = (energy, rival_energy) if energy and rival_energy else None
                report |= rival_report(mine, rival, energies)
    except ValueError as error:
        raise InputError(str(error)) from None
    return report, faults


def _energy_fault(energy_wh: float | None, uncertainty_wh: float | None) -> str | None:
    """Say why an energy divides nothing: then mAP and its interval are told, and no score."""
    try:
        _energy(energy_wh, uncertainty_wh)
    except ArgumentError as error:
        return str(error)
    return None


def _energy(energy_wh: float | None, uncertainty_wh: float | None) -> Energy | None:
    from referee.scoring.uncertainty import Energy

    return None if energy_wh is None else Energy(energy_wh, uncertainty_wh or 0.0)


def _score_coco(args: argparse.Namespace) -> tuple[CocoResult, Report, GroundTruth, Ints]:
    """Return the same as `_score_ilsvrc`, with the COCO metric."""
    read = begin_given_results(args.detections, args)
    from referee.scoring import coco

    truth_file = _ground_truth(args)
    given = read(truth_file)
    results = given.results
    warnings = [*of_truth(truth_file), *given.warnings, *unlike_coco(truth_file.truth)]
    truth = CocoTruth.from_ground_truth(truth_file.truth)
    with _two_threads() as threads:
        prepared = coco.prepare(truth, results, mapped=threads.map)
    image_id, numbering, files = results.image_id, given.numbering, given.files
    del results, given  # The evaluator has its copy, and needs much memory for its work.
    result = prepared.evaluate()
    report = coco_report(result) | {"image_ids": numbering, "warnings": warnings}
    return result, report | _counted(truth_file, files), truth_file.truth, image_id


def of_truth(truth_file: GroundTruthFile) -> list[str]:
    """Warn of truth boxes that nobody can find, and of what is odd in YOLO labels."""
    lost = truth_file.unfindable()
    odd = [] if truth_file.labels is None else label_warnings(truth_file.labels)
    return [lost.words(), *odd] if lost else odd


def of_mistakes(
    truth_file: GroundTruthFile, detections: Detections, mean_ap: float | None, *, as_coco: bool
) -> list[str]:
    """Warn of the classic mistakes that the score proves, as the report of a rehearsal does.

    The detections have the source's image ids.
    """
    if mean_ap is None:
        return []
    numbers = contest_image_ids(truth_file.truth.image_ids.tolist())
    image_numbers = np.arange(1, len(numbers) + 1)
    posted = Posted(
        detections=_in_contest_numbers(detections, truth_file.truth.image_ids),
        as_coco=np.full(len(detections), as_coco),
        order=image_numbers,
        source_ids=image_numbers,
    )
    sizes = {numbers[image]: size for image, size in truth_file.sizes.items() if image in numbers}
    mistakes = find_mistakes(renumber(truth_file.truth, numbers), posted, sizes, mean_ap)
    return list(
        advice([mistake for mistake in mistakes if mistake.repaired_mean_ap is not None], mean_ap)
    )


def _in_contest_numbers(detections: Detections, own_ids: Ints) -> Detections:
    """Return rows with the place of their image among the own ids, or 0 for an unknown image."""
    place = np.searchsorted(own_ids, detections.image_id).clip(max=len(own_ids) - 1)
    known = own_ids[place] == detections.image_id
    return detections.with_image_ids(np.where(known, place + 1, 0))
