# SPDX-License-Identifier: Apache-2.0
"""The text of a rehearsal's report for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from referee.core.counts import counted
from referee.formats.answers import FORM_FIELDS
from referee.formats.faults import quoted
from referee.formats.unused_fields import FieldKind
from referee.service.results.rehearsal import RehearsalReport
from referee.store.unused_fields import UnusedFields

# Every refusal of an answer begins so. The report says it once.
_NOTHING = "Nothing was stored: "
_FIELDS_NAMED = 8
# What a field was, where its name alone does not show why it is not used.
_WHAT_IT_WAS = {
    FieldKind.FILE.value: " (a file part)",
    FieldKind.CONTENT.value: " (a whole answer in a field)",
    FieldKind.NO_NAME.value: " (text without a name)",
    FieldKind.QUERY.value: " (in the address)",
}


def rehearsal_text(report: RehearsalReport) -> str:
    """Return the report as about twenty lines of text; the warnings come last."""
    lines = "\n".join(f"  {label:<11} {text}" for label, text in _lines(report))
    long = f"{report.session_s:.1f} s long"
    return f"Report of session {report.session_id} for '{report.team}', {long}\n{lines}"


def _lines(report: RehearsalReport) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each line."""
    answered = report.remarks.images_answered
    yield (
        "images",
        f"{report.images_fetched} of {report.images} fetched"
        + ("" if answered is None else f", {answered} answered"),
    )
    yield "images/s", f"{_rates(report.rates)}  (fetched in each tenth of the session)"
    yield "rows/s", f"{_rates(report.row_rates)}  (answered in each tenth)"
    yield (
        "waiting",
        (
            f"{report.waited_s:.2f} s for the referee in {counted(report.requests, 'request')} "
            f"({100 * report.waited_s / report.session_s:.1f} % of the session), "
            f"{1e3 * report.slowest_s:.0f} ms at most"
        ),
    )
    refused = sum(report.refused.values())
    yield (
        "answers",
        f"{report.answers.answers}, late {report.answers.late_answers}, refused {refused}",
    )
    yield from report.remarks.lines
    yield "never match", _never(report)
    yield from (("WARNING", warning) for warning in report.remarks.warnings)
    if refused:
        yield "WARNING", _refused(report.refused)
    if report.unused.posts:
        yield "WARNING", _unused(report.unused)
    if report.empty and not report.answers.detections:
        yield "WARNING", _empty(report.empty)
    elif report.images_fetched and not report.answers.detections and not refused:
        yield "WARNING", "Images were fetched, but no detection was sent."
    if report.answers.late_answers:
        yield "WARNING", late_text(report.answers.late_answers)


def late_text(late_answers: int) -> str:
    """Return what a contestant must know of late answers."""
    verb = "does" if late_answers == 1 else "do"
    return (
        f"{_answers(late_answers)} came after the session's end and {verb} not count. Ask /status "
        "for the time that is left, and send answers earlier."
    )


def _answers(count: int) -> str:
    return counted(count, "answer")


def _refused(refused: Mapping[str, int]) -> str:
    """Return how many answers were refused, and the commonest reason."""
    reason, count = next(iter(refused.items()))
    total = sum(refused.values())
    text = f"Refused: {_answers(total)}"
    if len(refused) > 1:
        text += f" for {len(refused)} reasons, {count} of them for this"
    return (
        f"{text}: {reason.removeprefix(_NOTHING).rstrip('.')}. Nothing of refused answers was "
        "stored. The header X-Referee-Detail of each says what is wrong."
    )


def _unused(unused: UnusedFields) -> str:
    """Return how many forms were refused because of their fields, and which these were."""
    named = unused.fields[:_FIELDS_NAMED]
    names = ", ".join(quoted(name) + _WHAT_IT_WAS.get(kind, "") for name, kind in named)
    more = len(unused.fields) - _FIELDS_NAMED
    return (
        f"Fields that are not an answer's came in {_answers(unused.posts)}: {names}"
        + (f" and {more} more" if more > 0 else "")
        + f". A form's fields are {', '.join(FORM_FIELDS)}, with one value for each box."
    )


def _empty(count: int) -> str:
    verb = "has" if count == 1 else "have"
    return f"{_answers(count)} {verb} no row, and no detection was stored."


def _rates(rates: Iterable[float]) -> str:
    """Return rates with three digits at most for small ones, and without an exponent."""
    return " ".join(f"{rate:.3g}" if rate < 999.5 else f"{rate:.0f}" for rate in rates)


def _never(report: RehearsalReport) -> str:
    if not report.never_match:
        return "0"
    reasons = ", ".join(f"{count} {reason}" for reason, count in report.never_match.items())
    return f"{sum(report.never_match.values())}: {reasons}"
