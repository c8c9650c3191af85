# SPDX-License-Identifier: Apache-2.0
"""Run all benchmarks or the named ones: `python -m tests.bench [--list | NAME …]`."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def benches() -> dict[str, str]:
    """Return what each module here that has a `run` function measures, by its name.

    None is imported: not all can be everywhere.
    """
    texts = {it.stem: it.read_text(encoding="utf-8") for it in sorted(FOLDER.glob("*.py"))}
    return {
        name: (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
        for name, text in texts.items()
        if "\ndef run(" in text
    }


def main(wanted: list[str]) -> int:
    """Run the wanted benchmarks, or all, and print their results; `--list` names them.

    Returns 2 for a name that there is not.
    """
    known = benches()
    if wanted == ["--list"]:
        print("\n".join(f"{name:22} {measures}" for name, measures in known.items()))
        return 0
    unknown = sorted(set(wanted) - known.keys())
    if unknown:
        print(f"there is no benchmark {unknown[0]}: choose of {', '.join(known)}", file=sys.stderr)
        return 2
    for name, measures in known.items():
        if not wanted or name in wanted:
            print(f"\n== {name}: {measures}\n", flush=True)
            importlib.import_module(f"tests.bench.{name}").run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
