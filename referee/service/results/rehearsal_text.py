# SPDX-License-Identifier: Apache-2.0
"""The text of a rehearsal's report for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from referee.service.results.rehearsal import RehearsalReport


def rehearsal_text(report: RehearsalReport) -> str:
    """Return the report as about twenty lines of text; the warnings come last."""
    lines = "\n".join(f"  {label:<11} {text}" for label, text in _lines(report))
    long = f"{report.session_s:.1f} s long"
    return f"Report of session {report.session_id} for '{report.team}', {long}\n{lines}"


def _lines(report: RehearsalReport) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each line."""
    answered = report.remarks.images_answered
    share = report.waited_s / report.session_s
    yield (
        "images",
        f"{report.images_fetched} of {report.images} fetched"
        + ("" if answered is None else f", {answered} answered"),
    )
    rates = " ".join(f"{rate:.3g}" for rate in report.rates)
    yield "images/s", f"{rates}  (each tenth of the session)"
    yield (
        "waiting",
        (
            f"{report.waited_s:.2f} s for the referee in {report.requests} requests "
            f"({share:.1%} of the session), {1e3 * report.slowest_s:.0f} ms at most"
        ),
    )
    yield "answers", f"{report.answers.answers}, late {report.answers.late_answers}"
    yield from report.remarks.lines
    yield "never match", _never(report)
    yield from (("WARNING", warning) for warning in report.remarks.warnings)
    if report.images_fetched and not report.answers.detections:
        yield "WARNING", "Images were fetched, but no detection was sent."


def _never(report: RehearsalReport) -> str:
    if not report.never_match:
        return "0"
    reasons = ", ".join(f"{count} {reason}" for reason, count in report.never_match.items())
    return f"{sum(report.never_match.values())}: {reasons}"
