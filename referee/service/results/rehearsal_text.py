# SPDX-License-Identifier: Apache-2.0
"""A rehearsal's report as a contestant reads it on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from referee.service.results.rehearsal import RehearsalReport

_CLASSES_SHOWN = 8


def rehearsal_text(report: RehearsalReport, class_names: Mapping[int, str]) -> str:
    """Return the report in some twenty lines, with what to repair at the end."""
    answers = report.answers
    rates = " ".join(f"{rate:.3g}" for rate in report.rates)
    share = report.waited_s / report.session_s
    lines = [
        f"Report of session {report.session_id} for '{report.team}', {report.session_s:.1f} s long",
        f"  images      {report.images_fetched} of {report.images} fetched, "
        f"{report.images_answered} answered",
        f"  images/s    {rates}  (each tenth of the session)",
        f"  waiting     {report.waited_s:.2f} s for the referee in {report.requests} requests "
        f"({share:.1%} of the session), {1e3 * report.slowest_s:.0f} ms at most",
        f"  answers     {answers.answers}, late {answers.late_answers}",
        f"  detections  {answers.detections}: {_classes(report, class_names)}",
        f"  boxes       {report.outside} reach beyond their image, {report.inverted} inverted, "
        f"{report.duplicates} repeated",
        f"  never match {_never(report)}",
    ]
    lines += [f"  WARNING     {warning}" for warning in _warnings(report)]
    return "\n".join(lines)


def _warnings(report: RehearsalReport) -> Iterator[str]:
    """Yield what to repair; the mAP of the repaired answers proves the mistakes before it."""
    repaired = [m for m in report.mistakes if m.repaired_mean_ap is not None]
    yield from (mistake.text for mistake in repaired)
    if repaired and report.mean_ap is not None:
        what = "Repaired" if len(repaired) == 1 else "With all of this repaired"
        yield f"{what}, the mAP is {repaired[0].repaired_mean_ap:.4f}, not {report.mean_ap:.4f}."
    yield from (mistake.text for mistake in report.mistakes if mistake.repaired_mean_ap is None)
    if report.images_fetched and not report.answers.detections:
        yield "Images were fetched and nothing was answered."


def _classes(report: RehearsalReport, names: Mapping[int, str]) -> str:
    ranked = sorted(report.per_class.items(), key=lambda item: -item[1])
    shown = [f"{names.get(c, f'class {c}')} {n}" for c, n in ranked[:_CLASSES_SHOWN]]
    more = len(ranked) - _CLASSES_SHOWN
    return ", ".join(shown or ["none"]) + (f" and {more} more classes" if more > 0 else "")


def _never(report: RehearsalReport) -> str:
    if not report.never_match:
        return "0"
    reasons = ", ".join(f"{count} {reason}" for reason, count in report.never_match.items())
    return f"{sum(report.never_match.values())}: {reasons}"
