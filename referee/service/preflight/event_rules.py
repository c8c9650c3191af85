# SPDX-License-Identifier: Apache-2.0
"""The rules about configuration and network: session length, addresses, ports, certificate.

They also tell what has changed since the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from referee.errors import ConfigError
from referee.service.people.operators import is_on_this_machine
from referee.service.preflight.finding import CheckResult, fail, ok, warn
from referee.service.preflight.surroundings import LaneFacts, PortFacts, Surroundings
from referee.service.setup.config import Config
from referee.service.setup.contest_tls import usable_certificate
from referee.service.setup.lane_words import of_lane

_RULE_S = 600
_CERTIFICATE = ("network", "certificate for contestants")
_SOON = timedelta(days=7)


def configuration_findings(config: Config, around: Surroundings) -> Iterator[CheckResult]:
    """Judge the configuration, and whether the servers run with it."""
    settings = config.contest
    if around.changed:
        text = f"changed since the referee started: {', '.join(around.changed)}"
        yield warn("configuration", "file", text, "Start the referee again when no session runs.")
    else:
        yield ok("configuration", "file", f"{config.path.name} is sound: {settings.track} track")
    yield _length(settings.seconds, settings.mode)
    if settings.mode == "event" and not settings.shuffle:
        remedy = "Set [contest] shuffle = true, so that each session has its own secret order."
        yield warn("configuration", "image order", "the same order in each session", remedy)


def network_findings(config: Config, around: Surroundings) -> Iterator[CheckResult]:
    """Judge the contestants' address and the ports."""
    for lane in around.lanes:
        item = of_lane("address for contestants", lane.name)
        key = _address_key(config, lane.lane)
        yield replace(_address(item, key, lane.address, lane.urls), lane=lane.lane)
    yield _console(config.server.console, around.console_urls)
    for port in around.ports:
        yield _port(port, _port_key(config, port), runs=around.runs)


def _length(seconds: int, mode: str) -> CheckResult:
    if seconds == _RULE_S or mode == "practice":
        return ok("configuration", "session length", f"{seconds} s")
    remedy = f"Set [contest] seconds = {_RULE_S}, unless the rules of this event say otherwise."
    text = f"{seconds} s; the rules say {_RULE_S} s"
    return warn("configuration", "session length", text, remedy)


def _address_key(config: Config, lane: int) -> str:
    """Return the setting of a lane's address, as an operator finds it in contest.toml."""
    return f"[[lane]] number {lane} contest" if config.declared_lanes else "[server] contest"


def _address(item: str, key: str, address: str, urls: Sequence[str]) -> CheckResult:
    if is_on_this_machine(address):
        port = address.rpartition(":")[2]
        remedy = f"Set {key} to 0.0.0.0:{port} or to the laptop's address on the network."
        text = f"{address}: only this laptop reaches it"
        return warn("network", item, text, remedy)
    if not urls:
        remedy = "Connect the cable or the Wi-Fi. The address then appears by itself."
        return warn("network", item, "this laptop is on no network", remedy)
    # One network often gives an address of each kind.
    ipv6 = sum("[" in url for url in urls)
    networks = max(ipv6, len(urls) - ipv6)
    if networks > 1:
        text = f"{', '.join(urls)}: the laptop is on {networks} networks"
        remedy = (
            "Give the teams the address of the contest's network, and leave the others if you can."
        )
        return warn("network", item, text, remedy)
    return ok("network", item, ", ".join(urls))


def _console(address: str, urls: Sequence[str]) -> CheckResult:
    if is_on_this_machine(address):
        return ok("network", "address of the console", f"{address}: this laptop alone reaches it")
    remedy = (
        "Set [server] console to 127.0.0.1:8001, unless operators on other laptops must reach it."
    )
    at = f", at {' or '.join(urls)}" if urls else ""
    text = f"{address}: everybody on the network reaches the console{at}"
    return warn("network", "address of the console", text, remedy)


def _port_key(config: Config, port: PortFacts) -> str:
    """Return the setting of a port; a lane's port is named after its lane."""
    for number, lane in enumerate(config.lanes, 1):
        if port.name == of_lane("contest", lane.name):
            return _address_key(config, number)
    return f"[server] {port.name}"


def _port(port: PortFacts, key: str, *, runs: bool) -> CheckResult:
    item = f"{port.name} port"
    if not port.fault:
        return ok("network", item, f"{port.address} {'answers' if runs else 'is free'}")
    if runs:
        remedy = (
            "Wait some seconds: the server starts again by itself. Its log in data/logs says why."
        )
        return fail("network", item, f"{port.address}: {port.fault}", remedy)
    remedy = f"Stop the other program, or choose another {key}."
    return fail("network", item, f"{port.address}: {port.fault}", remedy)


def certificate_findings(
    config: Config, lanes: Sequence[LaneFacts], now: datetime
) -> Iterator[CheckResult]:
    """Judge the certificate of a contest that speaks TLS; without TLS there is no finding."""
    files = config.server.contest_tls
    if files is None:
        return
    try:
        certificate = usable_certificate(files, now)
    except ConfigError as error:
        remedy = "Repair what it names, or make a certificate with 'referee certificate'."
        yield fail(*_CERTIFICATE, str(error), remedy)
        return
    urls = [url for lane in lanes for url in lane.urls]
    unnamed = [url for url in urls if not certificate.covers(urlsplit(url).hostname or "")]
    if unnamed:
        remedy = (
            f'Run "referee certificate {config.option}" on this network and start the '
            "referee again, or get a certificate that names the address."
        )
        text = f"it does not name {', '.join(unnamed)}, so the teams' clients refuse it there"
        yield warn(*_CERTIFICATE, text, remedy)
    elif certificate.until - now < _SOON:
        remedy = "Get a new one, or make one with 'referee certificate'. Then start again."
        yield warn(*_CERTIFICATE, f"it expires on {certificate.until:%Y-%m-%d %H:%M} UTC", remedy)
    else:
        names = ", ".join(sorted(certificate.names))
        yield ok(*_CERTIFICATE, f"it names {names}, until {certificate.until:%Y-%m-%d}")
