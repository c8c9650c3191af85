# SPDX-License-Identifier: Apache-2.0
"""Run `python -m power`."""

from __future__ import annotations

import sys

from power.cli import main

if __name__ == "__main__":
    sys.exit(main())
