# SPDX-License-Identifier: Apache-2.0
"""The check of who may use the console."""

from __future__ import annotations

from referee.core.actors import Role
from referee.service.people.operators import operators_of
from referee.service.preflight.finding import Finding, ok, warn
from referee.service.setup.contest import Contest


def operators_finding(contest: Contest) -> Finding:
    """Check that somebody is registered who may act, so that the audit has names."""
    found = operators_of(contest)
    acting = [one.name for one in found if one.role == Role.OPERATOR.value]
    remedy = f"Run: referee operator add NAME --role operator --config {contest.config.path}"
    if acting:
        return ok("operators", "logins", f"{len(acting)} may act: {', '.join(acting)}")
    if found:
        return warn("operators", "logins", "only assistants are registered: nobody may act", remedy)
    if contest.config.contest.mode == "practice":
        return ok("operators", "logins", "a rehearsal: the console needs no login")
    text = "nobody is registered: everybody at this laptop may act, without a login"
    return warn("operators", "logins", text, remedy)
