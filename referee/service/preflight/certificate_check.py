# SPDX-License-Identifier: Apache-2.0
"""The check of the contestants' certificate: whether it can be used, and whom it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from referee.errors import ConfigError
from referee.service.preflight.finding import Finding, fail, ok, warn
from referee.service.preflight.surroundings import LaneFacts
from referee.service.setup.config import Config
from referee.service.setup.contest_tls import usable_certificate

_ITEM = ("network", "certificate for contestants")
_SOON = timedelta(days=7)


def certificate_findings(
    config: Config, lanes: Sequence[LaneFacts], now: datetime
) -> Iterator[Finding]:
    """Judge the certificate of a contest that speaks TLS; without TLS there is no finding."""
    files = config.server.contest_tls
    if files is None:
        return
    try:
        certificate = usable_certificate(files, now)
    except ConfigError as error:
        remedy = "Repair what it names, or make a certificate with 'referee certificate'."
        yield fail(*_ITEM, str(error), remedy)
        return
    urls = [url for lane in lanes for url in lane.urls]
    unnamed = [url for url in urls if not certificate.covers(urlsplit(url).hostname or "")]
    if unnamed:
        remedy = (
            f"Run 'referee certificate --config {config.path.name}' on this network and start the "
            "referee again, or get a certificate that names the address."
        )
        text = f"it does not name {', '.join(unnamed)}, so the teams' clients refuse it there"
        yield warn(*_ITEM, text, remedy)
    elif certificate.until - now < _SOON:
        remedy = "Get a new one, or make one with 'referee certificate'. Then start again."
        yield warn(*_ITEM, f"it expires on {certificate.until:%Y-%m-%d %H:%M} UTC", remedy)
    else:
        names = ", ".join(sorted(certificate.names))
        yield ok(*_ITEM, f"it names {names}, until {certificate.until:%Y-%m-%d}")
