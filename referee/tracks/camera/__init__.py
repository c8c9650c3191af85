# SPDX-License-Identifier: Apache-2.0
"""The camera track, held in 2016: contestants look at the referee's screen through a camera."""

from __future__ import annotations

from referee.tracks.network import NetworkTrack
from referee.tracks.track import Delivery


class CameraTrack(NetworkTrack):
    """The network track's answers and score, for images that a screen shows.

    Answers are in pixels of the source image, so the same ground truth scores both tracks.
    """

    name = "camera"
    delivery = Delivery.SHOWN


TRACK = CameraTrack()
