# SPDX-License-Identifier: Apache-2.0
"""Schemathesis against the contest server, by /openapi.json alone, with a team's login.

Each operation gets requests that the description allows and such as it forbids. A session runs all
the time. `python -m tests.bench.described --examples 1000` sends more.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile

from tests.bench.malformed_arena import arena

EXAMPLES = 200
# What the protocol of 2015-2019 has otherwise, and older clients rest on: 500 where there is no
# display and for an empty image number, 400 without a token, and fields and forms that the
# description does not have. `tests/web/contest/test_openapi.py` asks without a token.
_LEFT_OUT = (
    "not_a_server_error",
    "ignored_auth",
    "negative_data_rejection",
    "positive_data_acceptance",
    "unsupported_method",
)


def run(examples: int = EXAMPLES) -> int:
    """Let Schemathesis ask, print what it says, and return its exit code."""
    with arena() as site, tempfile.TemporaryDirectory() as kept:  # It keeps what it has found.
        site.enter("running")
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "run"),
            f"{site.urls['contest']}/openapi.json",
            *("--header", f"Authorization: Bearer {site.keys().tokens[0]}"),
            *("--exclude-path", "/logout", "--include-path-regex", "^/(?!ovic)"),
            *("--checks", "all", "--exclude-checks", ",".join(_LEFT_OUT)),
            *("--max-examples", str(examples), "--seed", "14", "--max-redirects", "0"),
        ]
        return subprocess.run(command, cwd=kept, check=False).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=EXAMPLES, metavar="N")
    sys.exit(run(parser.parse_args().examples))
