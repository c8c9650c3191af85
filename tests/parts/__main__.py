# SPDX-License-Identifier: Apache-2.0
"""Serve the page that shows each part of the pages in each of its states, until Ctrl-C."""

from __future__ import annotations

import argparse
import threading
from contextlib import suppress

from tests.support.project_files import project_files


def main() -> None:
    """Serve the page of the parts on this machine."""
    parser = argparse.ArgumentParser(prog="python -m tests.parts", description=__doc__)
    parser.add_argument("--port", type=int, default=8009, help="port (default: 8009)")
    args = parser.parse_args()
    with project_files(args.port) as address, suppress(KeyboardInterrupt):
        print(f"{address}parts", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
