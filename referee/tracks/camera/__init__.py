# SPDX-License-Identifier: Apache-2.0
"""The camera track: images on the referee's screen, which the contestant's camera sees."""

from referee.tracks.camera.track import TRACK

__all__ = ["TRACK"]
