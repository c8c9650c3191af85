# SPDX-License-Identifier: Apache-2.0
"""Which files will score the sessions that come, if an applied proposal has put others in force."""

from __future__ import annotations

from referee.store.database import Connection
from referee.store.images import load_inputs
from referee.store.inputs_in_force import inputs_in_force
from referee.store.proposals import stored_proposals

_ROLES = {
    "ground_truth": "ground truth",
    "sizes": "list of image sizes",
    "blacklist": "blacklist",
}


def scored_with(connection: Connection) -> str:
    """Return a sentence about the files in force, '' while they are those of the preparation."""
    in_force = inputs_in_force(connection)
    if in_force is None:
        return ""
    own = {role: file.sha256 for role, file in load_inputs(connection).items()}
    others = [words for role, words in _ROLES.items() if in_force.sha256.get(role) != own.get(role)]
    if not others:
        return ""
    (reason,) = (
        one.reason
        for one in stored_proposals(connection)
        if one.proposal_id == in_force.proposal_id
    )
    return (
        f"The {' and the '.join(others)} of proposal {in_force.proposal_id} ({reason}) will score "
        "it, as the sessions before it are scored since the proposal was applied."
    )
