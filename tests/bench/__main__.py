# SPDX-License-Identifier: Apache-2.0
"""Run all benchmarks or the named ones: `python -m tests.bench [NAME …]`."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def main(wanted: list[str]) -> int:
    """Run each module here that has a `run` function, and print its result."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(FOLDER)]))
    for name in names:
        if name.startswith("_") or (wanted and name not in wanted):
            continue
        module = importlib.import_module(f"tests.bench.{name}")
        if hasattr(module, "run"):
            print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}\n", flush=True)
            module.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
