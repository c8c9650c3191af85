# SPDX-License-Identifier: Apache-2.0
"""MLCommons' own server, client and checker, unmodified, from a checkout of mlcommons/power-dev."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import power_dev
from tests.support.ntp_responder import NtpResponder, answer

NTP_HOST = "127.0.0.123"


def test_the_ntp_responder_answers_clients_alone() -> None:
    """Mode 4 to mode 3, with the client's time as origin; anything else gets no answer."""
    request = bytes([4 << 3 | 3]) + bytes(39) + b"moment!!"
    reply = answer(request, 0.5)
    assert reply is not None
    assert (48, 4 << 3 | 4, 1) == (len(reply), reply[0], reply[1])
    assert b"moment!!" == reply[24:32]
    # Half a second after 1970 is 2 208 988 800.5 s after 1900.
    assert (2_208_988_800).to_bytes(4, "big") + b"\x80\0\0\0" == reply[40:48]
    assert answer(reply, 0.0) is None
    assert answer(b"", 0.0) is None


@pytest.mark.slow
def test_the_programs_of_power_dev_complete_a_run(
    start_emulator: Callable[..., Any], tmp_path: Path
) -> None:
    """Ranging and testing run to their end, and the checker objects to nothing but debug mode.

    Debug mode shortens four waits of 10 s. `make bench ARGS=power_dev` runs without it.
    """
    source = power_dev.checkout()
    if source is None:
        pytest.skip(f"needs a checkout of mlcommons/power-dev, named by {power_dev.VARIABLE}")
    if os.geteuid() != 0:
        pytest.skip("needs root: power-dev asks for the time at port 123")
    emulator = start_emulator("--watts", "23", "--volts", "228", "--power-factor", "0.9")
    port = int(emulator.resource.split(",")[1].partition(":")[0])
    with NtpResponder(NTP_HOST) as ntp:
        found = power_dev.rehearse(source, tmp_path, port, ntp.host, debug=True, seconds=15)
    assert 0 == found.client_code, found.client + found.server
    failed = {name for name, passed in found.checks.items() if not passed}
    assert {"Check debug is disabled on server-side"} == failed, found.checker
    assert 11 == len(found.checks)
    for phase in ("ranging", "run_1"):
        rows = (found.folder / phase / "spl.txt").read_text().split()
        assert len([row for row in rows if ",Watts,23.000000," in row]) >= 12
