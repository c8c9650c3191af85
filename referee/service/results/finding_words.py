# SPDX-License-Identifier: Apache-2.0
"""The findings of a stored energy without their words, which another version may put otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from power.energy.judge_rules import FIRST_RULE, RULE, known_rule
from referee import __version__

JUDGED_BY = "judged_by"
"""The key of an energy's detail that has the version of the judge; 1.0 stored none."""

IMAGES_MISSING = "images_missing"
"""The key that has the ids of the images that the team could not get; 1.0 stored none."""

NOTICES_OF_1_0 = "notices_of_1_0"
"""The key that says how many notices of the session 1.0 stored, so without their subjects."""

LATER_THAN_1_0 = (JUDGED_BY, IMAGES_MISSING, NOTICES_OF_1_0)
"""The keys of an energy's detail that 1.0 did not store."""

JUDGE_RULE = "judge_rule"
"""The key that has the number of the judge's rule; energies without it were judged by rule 1."""

DERIVED = ("duration_s", "duration_uncertainty_s")
"""The keys of an energy's detail that follow from the others; early energies have none of them."""


def has_words_of_ours(detail: Mapping[str, Any]) -> bool:
    """Tell whether the version that runs here has worded the findings of an energy."""
    return detail.get(JUDGED_BY) == __version__ and detail.get(JUDGE_RULE) == RULE


def rule_of(detail: Mapping[str, Any]) -> int:
    """Return the rule by which an energy was judged; one that is not known is a ValueError."""
    return known_rule(detail.get(JUDGE_RULE, FIRST_RULE))


def judged_again_by(detail: Mapping[str, Any]) -> str:
    """Return who has judged an energy after a second judgement: of two versions both.

    The findings that were added keep the words of the first one, so no version has worded all.
    """
    first = detail.get(JUDGED_BY, "1.0")
    return __version__ if first == __version__ else f"{first}, {__version__}"


def codes_of(detail: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return code and severity of each finding of an energy."""
    return [(one["code"], one["severity"]) for one in detail.get("findings", ())]


def without_words(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return an energy's detail without the words of its findings, which their codes stand for."""
    facts = detail["facts"]
    left = {name: value for name, value in detail.items() if name != "reasons"}
    return left | {
        "findings": codes_of(detail),
        "facts": {**facts, "added": codes_of({"findings": facts["added"]})},
    }


def misplaced_words(detail: Mapping[str, Any]) -> str | None:
    """Say where an energy has other words of a finding than beside its code, None if nowhere."""
    findings, added = detail["findings"], detail["facts"]["added"]
    if detail["reasons"] != [one["text"] for one in findings]:
        return "The reasons are not the texts of the findings."
    if added and findings[-len(added) :] != added:
        return "The findings do not end with those that were added."
    return None
