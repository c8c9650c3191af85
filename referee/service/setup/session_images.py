# SPDX-License-Identifier: Apache-2.0
"""The images as one session's team knows them: their order, and the tag of their frames."""

from __future__ import annotations

import hmac
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from referee.core.order import image_order
from referee.service.setup.contest import Contest
from referee.store.images import ImageEntry
from referee.store.nonces import nonce_of
from referee.store.sessions import SessionRecord
from referee.tracks.camera.code import session_tag


@lru_cache(maxsize=64)
def order_of(image_count: int, seed: int | None) -> NDArray[np.int64]:
    """Return a session's image order (see `referee.core.order.image_order`), with a cache."""
    order = image_order(image_count, seed)
    order.setflags(write=False)
    return order


def image_behind(contest: Contest, session: SessionRecord, number: int) -> ImageEntry:
    """Return the image that has a number in a session's order; the number must be 1 to N."""
    order = order_of(contest.image_count, session.order_seed)
    return contest.images[int(order[number - 1]) - 1]


def frame_tag_of(contest: Contest, session_id: int) -> int:
    """Return the tag in the margins of a session's frames, from 0 to 65,535.

    Another session has another tag, but for one pair in 65,536: another contest's, and one that
    had its number before a backup was restored.
    """
    nonce = nonce_of(contest.database.connection, "session", session_id) or b""
    text = f"frames of session {session_id} ".encode("ascii") + nonce
    return session_tag(hmac.digest(contest.secrets.token_key, text, "sha256").hex())
