# SPDX-License-Identifier: Apache-2.0
"""Each of the manual's 136 entries is answered (IM WT310E-17EN, list of commands, 6-1 to 6-4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

MakeBench = Callable[..., Any]

# What is sent, what is asked, and the answer with VERBose ON. A setting is sent before it is asked;
# None stands for an entry without the other half.
SETTINGS = [
    (":AOUTPUT:NORMAL:CHANNEL1 P,1", ":AOUTPUT:NORMAL:CHANNEL1?"),
    (":AOUTPUT:NORMAL:IRTIME 2,30,0", ":AOUTPUT:NORMAL:IRTIME?"),
    (":AOUTPUT:NORMAL:MODE12 COMPARE", ":AOUTPUT:NORMAL:MODE12?"),
    (":AOUTPUT:NORMAL:RATE1 100.0E+00,-100.0E+00", ":AOUTPUT:NORMAL:RATE1?"),
    (":COMMUNICATE:HEADER 1", ":COMMUNICATE:HEADER?"),
    (":COMMUNICATE:LOCKOUT 1", ":COMMUNICATE:LOCKOUT?"),
    (":COMMUNICATE:REMOTE 1", ":COMMUNICATE:REMOTE?"),
    (":COMMUNICATE:VERBOSE 1", ":COMMUNICATE:VERBOSE?"),
    (":DISPLAY:NORMAL:ITEM3 WH,1", ":DISPLAY:NORMAL:ITEM3?"),
    (":DISPLAY:HARMONICS:ITEM2 UHDF,1", ":DISPLAY:HARMONICS:ITEM2?"),
    (":HARMONICS:PLLSOURCE I1", ":HARMONICS:PLLSOURCE?"),
    (":HARMONICS:ORDER 1,25", ":HARMONICS:ORDER?"),
    (":HARMONICS:THD FUNDAMENTAL", ":HARMONICS:THD?"),
    (":HARMONICS:DISPLAY:STATE 1", ":HARMONICS:DISPLAY:STATE?"),
    (":HARMONICS:DISPLAY:ORDER 3", ":HARMONICS:DISPLAY:ORDER?"),
    (":HOLD 1", ":HOLD?"),
    (":INPUT:CFACTOR 6", ":INPUT:CFACTOR?"),
    (":INPUT:WIRING P1W2", ":INPUT:WIRING?"),
    (":INPUT:MODE VMEAN", ":INPUT:MODE?"),
    (":INPUT:VOLTAGE:RANGE 150.0E+00", ":INPUT:VOLTAGE:RANGE?"),
    (":INPUT:VOLTAGE:AUTO 0", ":INPUT:VOLTAGE:AUTO?"),
    (":INPUT:VOLTAGE:CONFIG 600.0E+00,150.0E+00,15.00E+00", ":INPUT:VOLTAGE:CONFIG?"),
    (":INPUT:VOLTAGE:POJUMP 600.0E+00", ":INPUT:VOLTAGE:POJUMP?"),
    (":INPUT:CURRENT:RANGE 2.000E+00", ":INPUT:CURRENT:RANGE?"),
    (":INPUT:CURRENT:AUTO 0", ":INPUT:CURRENT:AUTO?"),
    (":INPUT:CURRENT:CONFIG 20.00E+00,5.000E+00,1.000E+00", ":INPUT:CURRENT:CONFIG?"),
    (":INPUT:CURRENT:POJUMP 20.00E+00", ":INPUT:CURRENT:POJUMP?"),
    (":INPUT:CURRENT:EXTSENSOR:CONFIG 2.000E+00,500.0E-03", ":INPUT:CURRENT:EXTSENSOR:CONFIG?"),
    (":INPUT:CURRENT:EXTSENSOR:POJUMP 2.000E+00", ":INPUT:CURRENT:EXTSENSOR:POJUMP?"),
    (":INPUT:CURRENT:SRATIO:ELEMENT1 10.00", ":INPUT:CURRENT:SRATIO:ELEMENT1?"),
    (":INPUT:RCONFIG 1", ":INPUT:RCONFIG?"),
    (":INPUT:SCALING:STATE 1", ":INPUT:SCALING:STATE?"),
    (":INPUT:SCALING:VT:ELEMENT1 1.500", ":INPUT:SCALING:VT:ELEMENT1?"),
    (":INPUT:SYNCHRONIZE CURRENT", ":INPUT:SYNCHRONIZE?"),
    (":INPUT:FILTER:LINE 1", ":INPUT:FILTER:LINE?"),
    (":INPUT:FILTER:FREQUENCY 1", ":INPUT:FILTER:FREQUENCY?"),
    (":INTEGRATE:MODE CONTINUOUS", ":INTEGRATE:MODE?"),
    (":INTEGRATE:TIMER 1,0,0", ":INTEGRATE:TIMER?"),
    (":MATH CFU1", ":MATH?"),
    (":MEASURE:AVERAGING:STATE 1", ":MEASURE:AVERAGING:STATE?"),
    (":MEASURE:AVERAGING:TYPE LINEAR", ":MEASURE:AVERAGING:TYPE?"),
    (":MEASURE:AVERAGING:COUNT 16", ":MEASURE:AVERAGING:COUNT?"),
    (":MEASURE:MHOLD 1", ":MEASURE:MHOLD?"),
    (":NUMERIC:FORMAT FLOAT", ":NUMERIC:FORMAT?"),
    (":NUMERIC:NORMAL:NUMBER 15", ":NUMERIC:NORMAL:NUMBER?"),
    (":NUMERIC:NORMAL:ITEM1 UK,1,1", ":NUMERIC:NORMAL:ITEM1?"),
    (":NUMERIC:LIST:NUMBER 5", ":NUMERIC:LIST:NUMBER?"),
    (":NUMERIC:LIST:ORDER 50", ":NUMERIC:LIST:ORDER?"),
    (":NUMERIC:LIST:SELECT EVEN", ":NUMERIC:LIST:SELECT?"),
    (":NUMERIC:LIST:ITEM1 UHDF,1", ":NUMERIC:LIST:ITEM1?"),
    (":NUMERIC:HOLD 1", ":NUMERIC:HOLD?"),
    (":RATE 500.0E-03", ":RATE?"),
    (":RATE:AUTO:TIMEOUT 10", ":RATE:AUTO:TIMEOUT?"),
    (":RATE:AUTO:SYNCHRONIZE I1", ":RATE:AUTO:SYNCHRONIZE?"),
    (":STATUS:EESE 255", ":STATUS:EESE?"),
    (":STATUS:FILTER2 RISE", ":STATUS:FILTER2?"),
    (":STATUS:QENABLE 1", ":STATUS:QENABLE?"),
    (":STATUS:QMESSAGE 1", ":STATUS:QMESSAGE?"),
    (":STORE:STATE 1", ":STORE:STATE?"),
    (":STORE:INTERVAL 0,1,30", ":STORE:INTERVAL?"),
    (":SYSTEM:KLOCK 1", ":SYSTEM:KLOCK?"),
    (":SYSTEM:RESOLUTION 4", ":SYSTEM:RESOLUTION?"),
    (":SYSTEM:COMMUNICATE:COMMAND WT300", ":SYSTEM:COMMUNICATE:COMMAND?"),
]
COMMANDS = [
    *(":AOUTPUT:NORMAL:PRESET INTEGRATE", ":INPUT:CURRENT:SRATIO:ALL 10"),
    *(":INPUT:SCALING:CT:ALL 2", ":INTEGRATE:START", ":INTEGRATE:STOP", ":INTEGRATE:RESET"),
    *(":NUMERIC:NORMAL:PRESET 4", ":NUMERIC:NORMAL:CLEAR ALL", ":NUMERIC:NORMAL:DELETE 1,3"),
    *(":NUMERIC:LIST:PRESET 3", ":NUMERIC:LIST:CLEAR ALL", ":NUMERIC:LIST:DELETE 1"),
    *(":STORE:PANEL 1", ":RECALL:PANEL 1", ":COMMUNICATE:WAIT 1"),
    *("*CLS", "*ESE 251", "*OPC", "*RST", "*SRE 239", "*TRG", "*WAI"),
]
QUERIES = [
    *(":COMMUNICATE:STATUS?", ":COMMUNICATE:WAIT? 65535", ":INPUT:POVER?", ":INPUT:CRANGE?"),
    *(":INTEGRATE:STATE?", ":NUMERIC:NORMAL:VALUE?", ":NUMERIC:NORMAL:HEADER?"),
    *(":NUMERIC:LIST:VALUE?", ":RECALL:NUMBER?", ":RECALL:NORMAL:VALUE? 1"),
    *(":RECALL:LIST:VALUE? 1", ":STATUS:CONDITION?", ":STATUS:EESR?", ":STATUS:ERROR?"),
    *(":STATUS:SPOLL?", ":SYSTEM:MODEL?", ":SYSTEM:SUFFIX?", ":SYSTEM:SERIAL?"),
    *(":SYSTEM:VERSION:FIRMWARE?", ":SYSTEM:COMMUNICATE:ETHERNET:MACADDRESS?"),
    *("*CAL?", "*ESR?", "*IDN?", "*OPC?", "*OPT?", "*STB?", "*TST?"),
]
GROUPS = [
    *(":AOUTPUT?", ":COMMUNICATE?", ":DISPLAY?", ":DISPLAY:NORMAL?", ":DISPLAY:HARMONICS?"),
    *(":HARMONICS?", ":HARMONICS:DISPLAY?", ":INPUT?", ":INPUT:VOLTAGE?", ":INPUT:CURRENT?"),
    *(":INPUT:CURRENT:SRATIO?", ":INPUT:SCALING?", ":INPUT:SCALING:VT?", ":INPUT:FILTER?"),
    *(":INTEGRATE?", ":MEASURE?", ":MEASURE:AVERAGING?", ":NUMERIC?", ":NUMERIC:NORMAL?"),
    *(":NUMERIC:LIST?", ":RATE:AUTO?", ":STATUS?", ":STORE?", ":SYSTEM?"),
]
ENTRIES = 136


@pytest.fixture
def bench(make_bench: MakeBench) -> Any:
    """Return an emulated meter that writes its answers out, with settled ranges."""
    bench = make_bench()
    bench.time.sleep(5.0)
    bench.tell(":COMMUNICATE:VERBOSE ON")
    bench.tell(":STATUS:FILTER1 FALL")  # WAIT ends when an update does.
    return bench


def answer(bench: Any, question: str) -> str:
    """Ask, wait as long as the slowest query takes, and return the whole answer as text."""
    bench.tell(question)
    bench.time.sleep(40.0)
    data, complete = bench.interpreter.fetch(100_000)
    assert complete
    return str(data[:-1].decode("latin-1"))


def test_the_tables_are_the_manuals_list() -> None:
    """There are as many entries as in the manual: `*ESE` and `*SRE` set what they also ask."""
    assert ENTRIES == len(SETTINGS) + len(COMMANDS) + len(QUERIES) + len(GROUPS)


@pytest.mark.parametrize(("sent", "asked"), SETTINGS, ids=lambda text: text.split()[0])
def test_a_setting_is_kept_and_told_as_it_was_sent(bench: Any, sent: str, asked: str) -> None:
    """The answer to the query is the command that was sent, with long words."""
    bench.tell(sent)
    assert sent == answer(bench, asked)
    assert '0,"No error"' == answer(bench, ":STAT:ERR?")


@pytest.mark.parametrize("sent", COMMANDS)
def test_a_command_is_taken(bench: Any, sent: str) -> None:
    """No command of the list is an error, where its conditions hold."""
    before = {":INTEGRATE:STOP": ":INTEGRATE:START", ":RECALL:PANEL 1": ":STORE:PANEL 1"}
    if sent in before:
        bench.tell(before[sent])
        bench.time.sleep(1.0)
    bench.tell(sent)
    bench.time.sleep(1.0)
    assert '0,"No error"' == answer(bench, ":STAT:ERR?")


@pytest.mark.parametrize("asked", QUERIES)
def test_a_query_is_answered(bench: Any, asked: str) -> None:
    """Each query has an answer and leaves no error."""
    assert answer(bench, asked)
    assert '0,"No error"' == answer(bench, ":STAT:ERR?")


@pytest.mark.parametrize("asked", GROUPS)
def test_a_groups_answer_restores_its_settings(bench: Any, asked: str) -> None:
    """The answer to a group, sent back after *RST, brings all its settings back (page 5-4)."""
    group = asked.strip("?")
    for sent, _ in SETTINGS:
        if sent.startswith(group + ":") and not sent.startswith((":RATE:", ":COMM")):
            bench.tell(sent)
    told = answer(bench, asked)
    assert told.startswith(group)
    bench.tell("*RST")
    bench.tell(told)
    assert told == answer(bench, asked)
    assert '0,"No error"' == answer(bench, ":STAT:ERR?")
