# SPDX-License-Identifier: Apache-2.0
"""Make a certificate with which the contestants' servers speak TLS.

It names the addresses that the teams are told on this network, and a name for boards whose TLS
knows no addresses. The event's own CA signs it. The first run makes the CA, and later runs keep it.
So the teams keep its file when the laptop gets another address: run the command again there, and
restart the referee.

  referee certificate --config event/contest.toml
  referee certificate --config event/contest.toml --name referee.local --name 10.0.0.5
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from referee.commands.options import add_config
from referee.service.board.addresses import certificate_hosts
from referee.service.setup.config import Config, TlsFiles
from referee.service.setup.config_file import load_config, tls_line
from referee.service.setup.contest_tls import OWN_NAME, ca_words, usable_certificate
from referee.service.setup.own_folder import require_own
from referee.service.setup.private_files import make_private


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add_config(parser)
    add(
        "--name",
        action="append",
        default=[],
        metavar="HOST",
        help="another host name or IP address that the certificate names; may be repeated",
    )


def run(args: argparse.Namespace) -> int:
    """Write the files, and say what to do with each."""
    from referee.service.setup.certificate import make_certificate

    config = load_config(args.config)
    now = datetime.now(UTC)
    require_own(config.storage.folder)
    make_private(config.storage.folder)
    hosts = [*args.name, *certificate_hosts([lane.contest for lane in config.lanes])]
    files = make_certificate(config.storage.folder, config.path, hosts, now)
    certificate = usable_certificate(files, now)
    named = ", ".join(dict.fromkeys([*hosts, OWN_NAME]))
    print(f"Wrote {files.certificate}. It names {named}, ", end="")
    print(f"and is valid until {certificate.until:%Y-%m-%d}.")
    print(f"Give the teams {files.ca}: their clients take it as --ca-file.")
    print(f"They can compare it: {ca_words(files)}")
    print(f"A board whose TLS knows no addresses checks the name {OWN_NAME} (docs/protocol.md).")
    print(f"Keep {files.key} and the CA's key beside it to yourself.")
    print(_next(config, files))
    return 0


def _next(config: Config, files: TlsFiles) -> str:
    if config.server.contest_tls == files:
        return "Next: start the referee again. It reads the certificate when it starts."
    return f"Next: put this line into [server] of {config.path}:\n{tls_line(files, config.path)}"
