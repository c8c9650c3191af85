# SPDX-License-Identifier: Apache-2.0
"""What must hold for a session whatever was killed: answers, deadline, energy, bundle and chain."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from referee.cli import main
from tests.bench.killing.poster import Attempt, post_of, rows_of
from tests.bench.killing.stored import Rows, StoredAnswer

# A float of seconds since the boot has this resolution after some weeks.
CLOCK_S = 1e-6
# How long the killing of all processes may take after the disk has lost its power.
DYING_S = 2.0


def lost_answers(
    attempts: Iterable[Attempt], stored: Iterable[StoredAnswer], cuts_s: Sequence[float] = ()
) -> list[str]:
    """Name each answer that was acknowledged and is not there, in time or late, as it was told.

    An answer to which no reply came may be there or not. Nor is a reply one that came after the
    power was cut: here the processes live a moment longer, but no laptop sends it.
    """
    found = Counter((post_of(one.rows[0][2]), one.late) for one in stored)
    told: dict[tuple[int, bool], list[float]] = {}
    for one in attempts:
        if one.told in _KEPT and not in_the_dark(one.over_s, cuts_s):
            told.setdefault((one.post, one.told == "late"), []).append(one.over_s)
    return [
        f"post {post} was acknowledged {len(times_s)} times, at last {times_s[-1]:.3f} s, and is "
        f"stored {found[post, late]} times"
        for (post, late), times_s in told.items()
        if found[post, late] < len(times_s)
    ]


def in_the_dark(at_s: float, cuts_s: Sequence[float]) -> bool:
    """Tell whether something happened while the laptop had lost its power and was being killed."""
    return any(0 <= at_s - cut_s < DYING_S for cut_s in cuts_s)


_KEPT = ("stored", "late")


def odd_answers(
    attempts: Sequence[Attempt],
    stored: Sequence[StoredAnswer],
    images: int,
    cuts_s: Sequence[float] = (),
) -> Iterator[str]:
    """Yield a sentence for each stored answer that nobody sent so, so often, or as that number.

    A number that was told after a power cut, by a process that no laptop has then, may be given
    again.
    """
    sent = Counter(one.post for one in attempts)
    found = Counter(post_of(one.rows[0][2]) for one in stored)
    for post, times in found.items():
        if times > sent[post]:
            yield f"post {post} was sent {sent[post]} times and is stored {times} times"
    by_number = {one.number: one for one in stored}
    for one in stored:
        if one.rows != rows_of(post_of(one.rows[0][2]), images):
            yield f"answer {one.number} has other boxes than were sent"
    for attempt in attempts:
        told = attempt.answer and not in_the_dark(attempt.over_s, cuts_s)
        if told and post_of(_first(by_number, attempt.answer)) != attempt.post:
            yield f"answer {attempt.answer} is not the one that was acknowledged as such"


def _first(by_number: dict[int, StoredAnswer], number: int) -> float:
    return by_number[number].rows[0][2] if number in by_number else -1.0


def over_the_deadline(
    attempts: Iterable[Attempt],
    stored: Iterable[StoredAnswer],
    start_s: float,
    length_s: float,
    cuts_s: Sequence[float],
) -> Iterator[str]:
    """Yield a sentence for each answer on the wrong side of the deadline, and for each lost token.

    The referee's own moments are exact. The client's show that they are true: what it sent after
    the deadline cannot be in time, and what was answered before it cannot be late.
    """
    deadline_s = start_s + length_s
    for one in stored:
        if one.late is (one.elapsed_s < length_s):
            yield f"answer {one.number} came after {one.elapsed_s} s, and late is {one.late}"
    for attempt in attempts:
        # A laptop without power says nothing; its processes live a moment longer here.
        if attempt.status >= 500 and in_the_dark(attempt.over_s, cuts_s):
            continue
        if attempt.told == "stored" and attempt.sent_s > deadline_s + CLOCK_S:
            yield f"post {attempt.post} counts, and was sent {attempt.sent_s - deadline_s} s late"
        if attempt.told in ("late", "refused") and attempt.over_s < deadline_s - CLOCK_S:
            yield (
                f"post {attempt.post} was {attempt.told} (status {attempt.status}) "
                f"{deadline_s - attempt.over_s:.3f} s before the deadline"
            )


def evidence_faults(
    config: Path, session: int, folder: Path, truth: Path, key: Path, stored: Sequence[StoredAnswer]
) -> Iterator[str]:
    """Yield what export, verify and audit find wrong, and how the bundle differs from the rows."""
    bundle = folder / f"session{session}.zip"
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        asked = ["export", str(session), "--out", str(bundle), "--config", str(config)]
        if main(asked) != 0:
            yield f"export: {said.getvalue().strip()}"
            return
    with redirect_stdout(io.StringIO()) as told, redirect_stderr(said):
        asked = ["verify", str(bundle), "--ground-truth", str(truth), "--public-key", str(key)]
        main([*asked, "--shadow", "--json"])
    for finding in json.loads(told.getvalue())["findings"]:
        yield f"verify: {finding['member']}: {finding['what']}"
    with redirect_stdout(io.StringIO()) as told, redirect_stderr(said):
        main(["audit", "--config", str(config), "--json"])
    for fault in json.loads(told.getvalue())["chain"]["faults"]:
        yield f"audit: {fault}"
    late = [row for one in stored if one.late for row in one.rows]
    in_time = [row for one in stored if not one.late for row in one.rows]
    with zipfile.ZipFile(bundle) as archive:
        if _rows(archive, "detections.csv") != in_time:
            yield "bundle: detections.csv is not what is stored"
        if _rows(archive, "late_detections.csv") != late:
            yield "bundle: late_detections.csv is not what is stored"


def _rows(archive: zipfile.ZipFile, member: str) -> Rows:
    text = archive.read(member).decode().splitlines()
    return [tuple(float(value) for value in row) for row in csv.reader(text)]
