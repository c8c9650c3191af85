# SPDX-License-Identifier: Apache-2.0
"""The rules by which an energy is judged, by number: an old verdict is judged again as it was.

Rule 2 is that of this version. Under rule 1 crests that were cut, and a gap that lacks energy, left
the energy SUSPECT; auto-range that never settled had no finding and no share of the limit; a
counter that differs left the limit as it was; the mean power was that of whole seconds; and the
clocks of a long run could drift apart by no more than those of a short one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from power.energy.verdict import Finding, Verdict

RULE = 2
"""The rule of this version; what an earlier version judged may name none, and that is rule 1."""

FIRST_RULE = 1

_LATER = {"never_settled", "items_empty"}
_WAS_SUSPECT = {"clipping"}
# The first rule told these after the counter, and told the counter last otherwise.
_AFTER_THE_COUNTER = {"sampling_changed", "parts_missing", "parts_differ"}


def known_rule(value: object) -> int:
    """Return the number of a rule that this version knows; another value is a ValueError."""
    if value in (FIRST_RULE, RULE) and not isinstance(value, bool) and isinstance(value, int):
        return value
    raise ValueError(f"{value!r} is no rule of judging that this version knows, 1 or 2")


def by_first_rule(findings: Sequence[Finding], *, far_off: bool) -> list[Finding]:
    """Return findings as rule 1 made them; `far_off` tells of samples far from the integrator."""
    kept = [_by_first_rule(one, far_off) for one in findings if one.code not in _LATER]
    counter = [one for one in kept if one.code == "counter_differs"]
    behind = [place for place, one in enumerate(kept) if one.code in _AFTER_THE_COUNTER]
    if not counter or not behind:
        return kept
    others = [one for one in kept if one.code != "counter_differs"]
    return [*others[: behind[0]], *counter, *others[behind[0] :]]


def _by_first_rule(finding: Finding, far_off: bool) -> Finding:
    suspect = finding.code in _WAS_SUSPECT or (finding.code == "cross_check" and not far_off)
    return replace(finding, severity=Verdict.SUSPECT) if suspect else finding
