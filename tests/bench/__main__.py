# SPDX-License-Identifier: Apache-2.0
"""Run all benchmarks or the named ones: `python -m tests.bench [NAME …]`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def main(wanted: list[str]) -> int:
    """Run each module here that has a `run` function, and print its result.

    Returns 2 for a name that there is not.
    """
    # Not all modules can be imported everywhere, and not all are benchmarks.
    names = sorted(it.stem for it in FOLDER.glob("*.py") if "\ndef run(" in it.read_text())
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        print(f"there is no benchmark {unknown[0]}: choose of {', '.join(names)}", file=sys.stderr)
        return 2
    for name in names:
        if not wanted or name in wanted:
            module = importlib.import_module(f"tests.bench.{name}")
            print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}\n", flush=True)
            module.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
