# SPDX-License-Identifier: Apache-2.0
"""Run the program that shows a recording."""

from __future__ import annotations

import sys

from power.live.process import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
