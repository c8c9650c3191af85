# SPDX-License-Identifier: Apache-2.0
"""The counts of images and files in words, for the list of checks and for the line `ready`."""

from __future__ import annotations

from referee.core.counts import counted
from referee.store.images import ImageCounts


def counts_text(counts: ImageCounts | None) -> str:
    """Say how many images of the ground truth are used, and how many files are not.

    An earlier referee has stored no counts.
    """
    if counts is None:
        return "files not counted yet"
    text = f"{counts.used_listed} of {counted(counts.listed, 'image')} of the ground truth"
    unlisted = counts.used - counts.used_listed
    if unlisted:
        text += f" and {unlisted} without a box"
    others = counts.other_files
    if not others:
        return f"{text}; no other file in the folder"
    if others == 1:
        return f"{text}; 1 other file in the folder is not used"
    return f"{text}; {others} other files in the folder are not used"
