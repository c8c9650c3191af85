# SPDX-License-Identifier: Apache-2.0
"""The energy that a bundle tells: what a score may divide by, and why one may not."""

from __future__ import annotations

from referee.extras.season.rows import OldResult
from referee.formats.faults import harmless
from referee.scoring import Energy, score
from referee.scoring.uncertainty import gives_interval, standard_uncertainty


def no_score(old: OldResult | None) -> str | None:
    """Return why the energy in the field `old` of a row gives no score, or None if it gives one."""
    if old is None:
        return "the bundle was exported before its first score"
    if old["verdict"] not in ("VALID", "SUSPECT"):
        return _judged(old)
    if old["energy_wh"] is None:
        return "the bundle tells no energy"
    return _divides_nothing(old) if score(1.0, old["energy_wh"]) is None else None


def divisor_or_why(old: OldResult | None) -> Energy | str:
    """Return the energy with its standard uncertainty, or why it gives a score no interval.

    Only an energy whose verdict gives an interval (`gives_interval`) has one here.
    """
    why = no_score(old)
    if old is None or why is not None:
        return str(why)
    if not gives_interval(old["verdict"]):
        return _judged(old)
    energy_wh, bound_wh = old["energy_wh"], old["uncertainty_wh"]
    if energy_wh is None or bound_wh is None:
        return "the energy has no uncertainty"
    try:
        return Energy(energy_wh, standard_uncertainty(bound_wh))
    except ValueError:
        return _divides_nothing(old)


def _judged(old: OldResult) -> str:
    """Return the verdict with its first reason; a file may have no reason."""
    if old["verdict"] is None:
        return "the energy has no verdict"
    reason = old.get("reason")
    suffix = f": {harmless(reason).rstrip('.')}" if reason else ""
    return f"the energy is {harmless(old['verdict'])}{suffix}"


def _divides_nothing(old: OldResult) -> str:
    bound_wh = old["uncertainty_wh"]
    limit = "" if bound_wh is None else f" ± {bound_wh:g}"
    return (
        f"an energy of {old['energy_wh']:g}{limit} Wh divides nothing: it is not above 0 and more"
        " than five times its standard uncertainty"
    )
