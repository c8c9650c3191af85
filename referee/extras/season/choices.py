# SPDX-License-Identifier: Apache-2.0
"""What a caller of a season may choose, and what counts without a choice."""

from __future__ import annotations

BY_SCORE, BY_MAP = "score", "map"
"""What ranks: the score, or the mAP alone."""

RESAMPLES = 100
"""Draws of the images by default, as in `score.json`."""
