# SPDX-License-Identifier: Apache-2.0
"""The windows in which pages are tested, from a phone to a hall's screen."""

from __future__ import annotations

# Width, height and zoom of the window, and whether it is dark.
WINDOWS = (
    (1024, 600, 1, False),
    (1366, 681, 1, True),
    (1366, 681, 1.5, False),
    (1366, 768, 2, False),
    (1920, 1080, 1, True),
    (1920, 1080, 1.5, False),
    (3840, 2160, 1, False),
)
# A small laptop, its zoom, a large screen and a phone: those of a page in each state and font.
FEW = ((1024, 600, 1), (1366, 681, 1), (1366, 681, 1.5), (1920, 1080, 1), (360, 740, 1))
PHONES = ((400, 800, 1, True), (360, 740, 1, False))
