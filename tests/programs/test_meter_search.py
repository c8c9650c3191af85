# SPDX-License-Identifier: Apache-2.0
"""The search for meters is another process, and ends in any case."""

from __future__ import annotations

import sys

import pytest

from referee.programs.meter_search import MetersFound, find_meters, identity_of


@pytest.fixture
def power(tmp_path, monkeypatch):
    """Return a function that lets a shell script answer in place of `python -m power`."""

    def answers(script: str) -> None:
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(path))

    return answers


def test_what_the_command_lists_is_found(power):
    """A serial port that PyVISA lists twice is there once; hints are passed on."""
    power("""echo '{"resources": ["ASRL1::INSTR", "PRLGX-ASRL::1::INTFC"], "hints": ["look"]}'""")
    assert MetersFound(("ASRL1::INSTR",), ("look",)) == find_meters()


def test_a_serial_port_may_be_chosen(power):
    """The list names no port as a meter, but whoever sets up a contest may know better."""
    power("""echo '{"resources": [], "serial_ports": ["ASRL1::INSTR"], "hints": []}'""")
    assert MetersFound(("ASRL1::INSTR",)) == find_meters()


@pytest.mark.parametrize("script", ["exit 1", "echo nonsense", "echo '{}'"])
def test_a_search_that_fails_finds_nothing_and_says_so(power, script):
    """No failure of a library stops the questions."""
    power(script)
    found = find_meters()
    assert () == found.resources
    assert "'python -m power list' says why" in found.hints[0]


def test_a_search_without_end_is_ended(power):
    """A broadcast that never ends, and a meter that never answers, cost their bound."""
    power("exec sleep 1000")
    assert "took more than 0.2 s" in find_meters(bound_s=0.2).hints[0]
    assert identity_of("TCPIP::192.0.2.3::INSTR", bound_s=0.2) is None


def test_a_meter_says_what_it_is(power):
    """The first line of the answer is the identity; a meter that is refused has none."""
    power("echo YOKOGAWA WT310")
    assert "YOKOGAWA WT310" == identity_of("TCPIP::192.0.2.3::INSTR")
    power("exit 1")
    assert identity_of("TCPIP::192.0.2.3::INSTR") is None
