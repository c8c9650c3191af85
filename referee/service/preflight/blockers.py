# SPDX-License-Identifier: Apache-2.0
"""The blockers: conditions of the contest's folder under which no session could end well.

Until they are gone `serve` does not say `ready`, and no rehearsal begins. Arming in an event asks
for the whole list of findings (`listing.py`), which has these too.
"""

from __future__ import annotations

from referee.service.preflight.contest_checks import changed_images
from referee.service.preflight.disk import disk_shortage
from referee.service.setup.contest import Contest


def blockers(contest: Contest) -> list[str]:
    """Return one sentence for each blocker; the list is empty when all is well.

    The disk must have room. Every image must still have the size and the modification time that it
    had when it was hashed. The meter is not checked here: preparing it is its check.
    """
    shortage = disk_shortage(contest.config)
    found = [] if shortage is None else [shortage]
    changed = changed_images(contest)
    if changed:
        found.append(
            f"{len(changed)} images are missing or have changed since the start. The first is "
            f"{changed[0]}: put them back, or start the referee again."
        )
    return found
