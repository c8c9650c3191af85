# SPDX-License-Identifier: Apache-2.0
"""Everything that this package changes in a meter: note it, put it back, prove it by reading back.

Settings are kept as the meter's own text, so that settings which this package never writes (crest
factor A6, automatic rate) come back too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from power.errors import MeterRefused, MeterReplyError
from power.scpi import Absent, parse_flag, parse_number, without_header
from power.wt310.link import ScpiLink
from power.wt310.output import LATCHED

COMMUNICATION = (":STATus:QMESsage", ":COMMunicate:VERBose", ":COMMunicate:HEADer")
"""What opening a link changes. HEADer comes last, because it changes the form of all replies."""

_RANGES = {
    ":INPut:VOLTage:AUTO": ":INPut:VOLTage:RANGe",
    ":INPut:CURRent:AUTO": ":INPut:CURRent:RANGe",
}
# A driver writes these as items of a reading, and the peaks after them.
_MOST_ITEMS = 20
_HEADS = (
    # The crest factor comes before the ranges, which depend on it.
    ":INPut:MODE",
    ":INPut:CFACtor",
    ":INPut:FILTer:LINE",
    ":INPut:FILTer:FREQuency",
    ":INPut:VOLTage:AUTO",
    ":INPut:VOLTage:RANGe",
    ":INPut:CURRent:AUTO",
    ":INPut:CURRent:RANGe",
    ":INPut:SCALing:STATe",
    ":MEASure:AVERaging:STATe",
    ":MEASure:MHOLd",
    ":RATE",
    ":INTEGrate:MODE",
    ":INTEGrate:TIMer",
    *(f":STATus:FILTer{number}" for number in LATCHED),
    ":NUMeric:FORMat",
    *(f":NUMeric:NORMal:ITEM{number}" for number in range(1, _MOST_ITEMS + 1)),
    ":NUMeric:NORMal:NUMber",
    # A hold comes last, because it freezes what the display shows.
    ":NUMeric:HOLD",
    ":HOLD",
)


Snapshot = Mapping[str, str]
"""The settings of a meter, by command, as the meter's own text without headers."""


def take(link: ScpiLink) -> Snapshot:
    """Return what the meter has now; it changes nothing."""
    return {head: ask(link, head) for head in _HEADS}


def put_back(link: ScpiLink, snapshot: Snapshot) -> list[str]:
    """Write what differs from the snapshot; return what reads back differently all the same.

    The integrator must be RESET. A setting that the meter refuses does not end the others.
    """
    for head in _HEADS:
        wanted = snapshot[head]
        if _floats(head, snapshot) or same(ask(link, head), wanted):
            continue
        try:
            link.command(f"{head} {wanted}")
        except MeterRefused:
            continue  # the comparison below tells it
    return [
        f"{head} is {answer} instead of {snapshot[head]}"
        for head in _HEADS
        if not _floats(head, snapshot) and not same(answer := ask(link, head), snapshot[head])
    ]


def unlock(link: ScpiLink) -> None:
    """Unlock the front panel."""
    link.tell(":COMMunicate:REMote OFF")


def give_back(link: ScpiLink, on_answer: Callable[[], object]) -> list[str]:
    """Unlock the panel, let the meter talk as before; return what reads back differently.

    `on_answer` is called when the meter has answered a first question.
    """
    link.errors()  # this also resynchronises a link with old replies
    on_answer()
    unlock(link)
    for head, value in link.found.items():
        link.command(f"{head} {value}")
    wrong = [head for head, value in link.found.items() if not same(ask(link, head), value)]
    if parse_flag(link.ask(":COMMunicate:REMote?")):
        wrong.append(":COMMunicate:REMote")
    return wrong


def ask(link: ScpiLink, head: str) -> str:
    """Return the value of a setting as text."""
    return without_header(link.ask(f"{head}?")).strip().strip("-")


def same(a: str, b: str) -> bool:
    """Tell whether two texts are one value: a number in two spellings, or ON and 1."""
    spelled = {"ON": "1", "OFF": "0"}
    a, b = (spelled.get(text.upper(), text.upper()) for text in (a, b))
    if a == b:
        return True
    try:
        first, second = parse_number(a), parse_number(b)
    except MeterReplyError:  # not numbers, so they differ
        return False
    return not isinstance(first, Absent) and first == second


def _floats(head: str, snapshot: Snapshot) -> bool:
    """Tell whether a range is chosen by the meter itself, so that nobody can put it back."""
    for automatic, size in _RANGES.items():
        if head == size:
            return same(snapshot[automatic], "1")
    return False
