# SPDX-License-Identifier: Apache-2.0
"""One parser under libFuzzer, in a process of its own: `python -m tests.bench.parser_fuzzer NAME`.

All other arguments are libFuzzer's. An exception that the parser does not document ends it.
"""

from __future__ import annotations

import sys

import atheris


def main() -> None:
    """Run libFuzzer until its own arguments end it."""
    name, arguments = sys.argv[1], [sys.argv[0], *sys.argv[2:]]
    with atheris.instrument_imports(include=["referee", "power", "client_sample", "multipart"]):
        from tests.bench.parser_targets import targets
    target = targets()[name]

    def once(content: bytes) -> None:
        try:
            target.parse(content)
        except target.errors:
            pass

    atheris.Setup(arguments, once)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
