# SPDX-License-Identifier: Apache-2.0
"""What a desk gets from outside for its list of checks: laptop, ports, network, slow checks."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from referee.errors import ConfigError, RefereeError
from referee.programs.ports import answering
from referee.service.board.addresses import contestants_urls
from referee.service.desk.readiness import Outside
from referee.service.evidence.newer_evidence import newer_evidence
from referee.service.preflight.clock_rule import Dated, DateFacts
from referee.service.preflight.machine_facts import MachineFacts, ask_command, read_machine
from referee.service.preflight.machine_watch import MachineWatch, sample_clocks
from referee.service.preflight.surroundings import PortFacts
from referee.service.setup.commit import commit_time
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.contest_tls import pinned_context
from referee.service.setup.lane_words import of_lane
from referee.service.setup.program import command_of
from referee.store.notices import fact_times, insert_notice

_MOST_S = 600.0
_END_S = 20.0
_LOOK_S = 0.1
# systemd-timesyncd, chrony and ntpd write these whenever a server has told them the time.
_SET_BY_NETWORK = tuple(
    f"var/lib/{name}"
    for name in (
        *("systemd/timesync/clock", "chrony/chrony.drift", "chrony/drift"),
        *("ntpsec/ntp.drift", "ntp/ntp.drift", "ntp/drift"),
    )
)


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
                PortFacts(name, address, str(error))
                for name, address in zip(names, addresses, strict=True)
            )
        return tuple(
            answering(name, address, context)
            for name, address in zip(names, addresses, strict=True)
        )

    def urls(lane: int) -> tuple[str, ...]:
        return tuple(contestants_urls(addresses[lane - 1], config.server.contest_scheme))

    watch = MachineWatch(read_here, sample_clocks, tell)
    return Outside(
        machine=watch,
        ports=ports,
        urls=urls,
        console_urls=lambda: tuple(contestants_urls(config.server.console)),
        dates=partial(dates_of, contest),
        run=partial(run_in_a_process, config),
        newer=tuple(newer_evidence(config, contest.database.connection)),
    )


def port_names(config: Config) -> list[str]:
    """Return what the list calls the contest servers' ports."""
    return [of_lane("contest", lane.name) for lane in config.lanes]


def read_here() -> MachineFacts:
    """Return what this machine says now."""
    return read_machine(Path("/"), ask_command, datetime.now(UTC))


def dates_of(contest: Contest, root: Path = Path("/")) -> DateFacts:
    """Return what tells whether the laptop's date can be right; `root` is that of its files."""
    config, commit = contest.config, commit_time()
    kept = [config.storage.folder / name for name in ("secrets.json", "signing.key")]
    paths = [config.path, config.teams, config.database, *kept]
    event = [Dated(f"the file {path.name}", at) for path in paths if (at := _written(path))]
    event += [
        Dated("a record of the event", datetime.fromisoformat(utc))
        for utc in fact_times(contest.database.connection)
    ]
    synced = [at for name in _SET_BY_NETWORK if (at := _written(root / name))]
    program = None if commit is None else Dated("this program's commit", commit)
    server = Dated("the last word of a time server", max(synced)) if synced else None
    return DateFacts(datetime.now(UTC), program, event, server)


def _written(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None


def run_in_a_process(config: Config, stopping: threading.Event) -> str:
    """Make all slow checks in a process of their own; return '' or why they were not made.

    The process ends within twenty seconds when `stopping` is set, and dies with this one.
    """
    command = command_of("checks", config)
    path = config.storage.folder / "logs" / "checks.log"
    with path.open("ab") as log:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    deadline = time.monotonic() + _MOST_S
    while child.poll() is None and time.monotonic() < deadline:
        if stopping.wait(_LOOK_S):
            break
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(_END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        return f"the checks were stopped: they had not ended after {_MOST_S:.0f} s"
    return "" if child.returncode == 0 else f"the checks ended with {child.returncode}"
