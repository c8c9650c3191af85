# SPDX-License-Identifier: Apache-2.0
"""What the server knows of a contestant's request, from its arrival to its line in the log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from referee.core.instant import Instant
from referee.formats.unused_fields import UnusedField
from referee.store.sessions import SessionRecord


@dataclass(slots=True)
class RequestState:
    """What the steps of a request tell one another.

    `received` is when its last byte came. `form` has the fields of a small body, and `is_json`
    tells of one that is JSON. `session` is whose request it is, and `sent` are the images in the
    answer. `stored` tells that an answer is kept, `unused` what in it was of no use, and `is_long`
    that its memory should be given back.
    """

    received: Instant
    is_json: bool
    form: Mapping[str, Sequence[str]] = field(default_factory=dict)
    session: SessionRecord | None = None
    sent: range | None = None
    stored: bool = False
    unused: Sequence[UnusedField] = ()
    is_long: bool = False
