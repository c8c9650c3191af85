# SPDX-License-Identifier: Apache-2.0
"""A rehearsal's report as a contestant reads it on the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from referee.service.results.rehearsal import RehearsalReport

_CLASSES_SHOWN = 8


def rehearsal_text(report: RehearsalReport, class_names: Mapping[int, str]) -> str:
    """Return the report in some twenty lines, with what to repair at the end."""
    status = report.status
    rates = " ".join(f"{rate:.3g}" for rate in report.rates)
    share = report.waited_s / report.length_s
    lines = [
        f"Report of session {report.session_id} for '{report.team}'",
        f"  images      {status.images_fetched} of {status.images} fetched, "
        f"{report.images_answered} answered",
        f"  images/s    {rates}  (each tenth of the session)",
        f"  waiting     {report.waited_s:.2f} s for the referee in {report.requests} requests "
        f"({share:.1%} of the session), {1e3 * report.slowest_s:.0f} ms at most",
        f"  answers     {status.answers}, late {status.late_answers}",
        f"  detections  {status.detections}: {_classes(report, class_names)}",
        f"  boxes       {report.outside} reach beyond their image, {report.inverted} inverted, "
        f"{report.duplicates} repeated",
        f"  never match {_never(report)}",
    ]
    for mistake in report.mistakes:
        gain = ""
        if mistake.repaired_mean_ap is not None and report.mean_ap is not None:
            gain = (
                f" Repaired, the mAP is {mistake.repaired_mean_ap:.4f}, not {report.mean_ap:.4f}."
            )
        lines.append(f"  WARNING     {mistake.text}{gain}")
    if status.images_fetched and not status.detections:
        lines.append("  WARNING     Images were fetched and nothing was answered.")
    return "\n".join(lines)


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
