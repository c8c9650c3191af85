# SPDX-License-Identifier: Apache-2.0
"""What a desk is told from outside for its list of checks: laptop, ports, network, slow checks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from referee.errors import ConfigError, RefereeError
from referee.programs.checks_process import run_in_a_process
from referee.service.board.addresses import contestants_urls
from referee.service.desk.readiness import Outside
from referee.service.preflight.machine_facts import MachineFacts, ask_command, read_machine
from referee.service.preflight.machine_watch import MachineWatch, sample_clocks
from referee.service.preflight.ports import answering
from referee.service.preflight.surroundings import PortFacts
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.contest_tls import pinned_context
from referee.service.setup.lane_words import of_lane
from referee.store.notices import insert_notice


def outside_of(config: Config, contest: Contest, addresses: Sequence[str]) -> Outside:
    """Return it; `addresses` are those of the contest servers, lane 1 first."""

    def tell(text: str) -> None:
        try:
            with contest.database.write() as connection:
                utc = contest.clock.now().utc.isoformat()
                insert_notice(connection, None, utc, "warning", text)
        except RefereeError:
            return  # The list of checks has the jump anyway.

    def ports() -> tuple[PortFacts, ...]:
        names = port_names(config)
        tls = config.server.contest_tls
        try:
            context = None if tls is None else pinned_context(tls)
        except (ConfigError, OSError) as error:
            return tuple(
                PortFacts(name, it, str(error)) for name, it in zip(names, addresses, strict=True)
            )
        return tuple(
            answering(name, it, context) for name, it in zip(names, addresses, strict=True)
        )

    def urls(lane: int) -> tuple[str, ...]:
        return tuple(contestants_urls(addresses[lane - 1], config.server.contest_scheme))

    watch = MachineWatch(read_here, sample_clocks, tell)
    return Outside(watch, ports, urls, partial(run_in_a_process, config))


def port_names(config: Config) -> list[str]:
    """Return what the list calls the contest servers' ports."""
    return [of_lane("contest", lane.name) for lane in config.lanes]


def read_here() -> MachineFacts:
    """Return what this machine says now."""
    return read_machine(Path("/"), ask_command, datetime.now(UTC))
