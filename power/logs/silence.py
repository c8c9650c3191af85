# SPDX-License-Identifier: Apache-2.0
"""What the libraries that draw may log in a program of ours."""

from __future__ import annotations

import logging


def keep_drawing_silent() -> None:
    """Let the libraries that draw log nothing but errors, in a program of ours.

    They tell of a list of fonts that is made, of a folder that cannot be written, and of each step
    of cutting letters out. What somebody can act on, our own remarks say.
    """
    for library in ("matplotlib", "fontTools"):
        logging.getLogger(library).setLevel(logging.ERROR)
