# SPDX-License-Identifier: Apache-2.0
"""Run the command line as `python -m referee`."""

import sys

from referee.cli import main

if __name__ == "__main__":
    sys.exit(main())
