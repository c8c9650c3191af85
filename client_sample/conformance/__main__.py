# SPDX-License-Identifier: Apache-2.0
"""Check a server against the protocol: one line for each rule, exit code 0 if all hold.

    python -m client_sample.conformance http://127.0.0.1:8000 --user me --password practice

It runs a session of its own from login to logout, so try it against a rehearsal. `--legacy` leaves
out the rules for new clients. It needs only Python 3.9.
"""

from __future__ import annotations

import argparse
import sys
from typing import Sequence

from client_sample.client import ClientError, connector
from client_sample.conformance.http import TIMEOUT_S, BrokenRule, Server
from client_sample.conformance.modern import MODERN
from client_sample.conformance.rules import AFTER, BEFORE, DURING, Rule
from client_sample.escapes import print_escapes


def check(server: Server, rules: Sequence[Rule]) -> int:
    """Try each rule and print its line; return the number of broken rules."""
    broken = 0
    for rule in rules:
        name = (rule.__doc__ or rule.__name__).strip()
        try:
            rule(server)
            print(f"ok    {name}", flush=True)
        except Exception as error:  # A server under test may answer anything.
            broken += 1
            kind = "" if isinstance(error, BrokenRule) else f"{type(error).__name__}: "
            print(f"FAIL  {name}: {kind}{error}", flush=True)
    return broken


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suite; return 0 when every rule holds, 1 when one does not."""
    print_escapes()
    parser = argparse.ArgumentParser(prog="conformance", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("url", help="base URL, for example http://127.0.0.1:8000")
    parser.add_argument("--ca-file", metavar="FILE", help="the organiser's CA, for https://")
    parser.add_argument("--user", required=True, help="name of the team")
    parser.add_argument("--password", required=True, help="password of the team")
    parser.add_argument("--legacy", action="store_true", help="leave out the rules for new clients")
    options = parser.parse_args(arguments)
    try:
        connector(options.url, TIMEOUT_S, options.ca_file)
    except ClientError as error:
        parser.error(str(error))
    server = Server(options.url, options.user, options.password, options.ca_file)
    modern: Sequence[Rule] = () if options.legacy else MODERN
    rules = [*BEFORE, *DURING, *modern, *AFTER]
    broken = check(server, rules)
    print(f"{len(rules) - broken} of {len(rules)} rules hold", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
