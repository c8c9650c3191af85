# SPDX-License-Identifier: Apache-2.0
"""The sentences of the referee 1.0, for databases and bundles of 1.0 only.

1.0 stored notices without their subjects, so what a notice is about stands in its text alone. No
later referee writes a notice without a subject. The sentences here are those of 1.0: they never
follow those of a later version.
"""

from __future__ import annotations

import re

from referee.store.notices import Notice, Subject

_IMAGE = re.compile(r"Image ([1-9][0-9]{0,8}): ")
_LANE = re.compile(r"Lane (.+?): ")


def subject_of_1_0(notice: Notice) -> Subject:
    """Return what a notice of 1.0 is about: an image of a session, or a lane outside of one."""
    if notice.session_id is None:
        lane = _LANE.match(notice.text)
        return Subject(lane=None if lane is None else lane[1])
    image = _IMAGE.match(notice.text) if notice.level == "alarm" else None
    return Subject(image_id=None if image is None else int(image[1]))
