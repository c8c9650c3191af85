# SPDX-License-Identifier: Apache-2.0
"""The driver's messages and its reading of the replies, line by line.

Each conversation can be checked against IM WT310E-17EN; page numbers stand beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from power.errors import (
    MeterBusy,
    MeterHolds,
    MeterMismatch,
    MeterRefused,
    MeterReplyError,
    MeterSilent,
)
from power.meter import InputMode, IntegrationState, MeterFlag, MeterSettings
from power.wt310.driver import WT310
from power.wt310.settings import compare
from tests.support.leave import LEAVE

IDN = "YOKOGAWA,WT310,C2PH13047V,F1.03"
NONE = '0,"No error"'
READ = ":NUMeric:NORMal:VALue?;:INTEGrate:STATe?;:STATus:CONDition?"

Line = tuple[str, str | bytes | None]

# Opening: pages 6-34 (*IDN?, *CLS), 6-31 (EESR, ERRor, QMESsage), 6-7 (HEADer, VERBose) and
# 6-33 (COMMand).
OPEN: list[Line] = [
    ("", None),
    ("*IDN?", IDN),
    (":STATus:EESR?", "0"),
    (":STATus:ERRor?", NONE),
    ("\n*CLS", None),
    ("*CLS", None),
    (":STATus:QMESsage ON", None),
    (":COMMunicate:HEADer OFF", None),
    (":COMMunicate:VERBose ON", None),
    (":SYSTem:COMMunicate:COMMand?", "WT300"),
]
NAMES = ("U,1", "I,1", "P,1", "WH,1", "TIME", "URANGE", "IRANGE")
MORE_NAMES = (*NAMES, "LAMBDA,1", "FU,1", "UPPEAK,1", "UMPEAK,1", "IPPEAK,1", "IMPEAK,1")


def items(*names: str) -> list[Line]:
    """Return the conversation in which the driver asks for the output items."""
    return [
        (":NUMeric:NORMal:NUMber?", str(len(names))),
        *((f":NUMeric:NORMal:ITEM{number}?", name) for number, name in enumerate(names, 1)),
    ]


# The items of an earlier version, which sent neither power factor nor peaks.
ITEMS: list[Line] = items(*NAMES)


def done(message: str) -> list[Line]:
    """Return the lines of a command that the meter accepts."""
    return [(message, None), (":STATus:ERRor?", NONE)]


@pytest.fixture
def drive(script: Any, fake_time: Any) -> Callable[..., tuple[WT310, Any]]:
    """Return a function that makes a driver on scripted conversations, one for each link."""

    def make(*conversations: list[Line]) -> tuple[WT310, Any]:
        scripts = [script(lines) for lines in conversations]
        left = list(scripts)
        meter = WT310(
            lambda: left.pop(0), clock=fake_time.clock, sleep=fake_time.sleep, utc=fake_time.utc
        )
        return meter, scripts[0] if len(scripts) == 1 else scripts

    return make


def test_identify(drive: Any) -> None:
    """The driver opens the link, brings it to a known state, and asks for the name."""
    meter, wire = drive(OPEN)
    identity = meter.identify()
    assert ("YOKOGAWA", "WT310", "C2PH13047V", "F1.03") == (
        identity.maker,
        identity.model,
        identity.serial,
        identity.firmware,
    )
    assert [] == wire.lines
    assert 1 == wire.clears


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("YOKOGAWA,WT1806,1,F1.0", "YOKOGAWA WT1806 is not supported"),
        ("GWINSTEK,GPM-8310,GEX000001,V1.00", "GWINSTEK GPM-8310 is not supported"),
        ("LECROY,WT310E,1,F1.0", "LECROY WT310E is not supported"),
    ],
)
def test_other_meters_are_refused_by_name(drive: Any, reply: str, words: str) -> None:
    """A look-alike with nearly the same language is refused by name."""
    meter, wire = drive([("", None), ("*IDN?", reply)])
    with pytest.raises(MeterMismatch, match=words):
        meter.identify()
    assert wire.closed


def test_something_else_that_answers_is_refused(drive: Any) -> None:
    """An instrument whose *IDN? does not have four fields is refused."""
    meter, _ = drive([("", None), ("*IDN?", "HELLO")])
    with pytest.raises(MeterMismatch, match="with 'HELLO'"):
        meter.identify()


def test_wt200_mode_is_refused(drive: Any) -> None:
    """In WT200 mode values come in another form (page 8-1)."""
    meter, _ = drive([*OPEN[:-1], (":SYSTem:COMMunicate:COMMand?", "WT200")])
    with pytest.raises(MeterMismatch, match="WT200 command mode"):
        meter.identify()


def test_a_meter_that_does_not_answer(drive: Any) -> None:
    """A silent meter is an error after one time-out."""
    meter, wire = drive([("", None), ("*IDN?", None)])
    with pytest.raises(MeterSilent):
        meter.identify()
    assert wire.closed


def test_late_replies_are_skipped_at_the_opening(drive: Any) -> None:
    """A late reply to a crashed program is not taken for the identity."""
    meter, wire = drive(OPEN)
    wire.pending += [b"5.0,1;START;0\n", b"813\n"]
    assert "C2PH13047V" == meter.identify().serial


# What `prepare` writes, each command with the page that defines it.
WRITTEN = (
    ":COMMunicate:REMote ON",  # 6-7
    ":HOLD OFF",  # 6-11
    ":NUMeric:HOLD OFF",  # 6-23
    ":MEASure:AVERaging:STATe OFF",  # 6-18
    ":MEASure:MHOLd OFF",  # 6-18
    ":INPut:SCALing:STATe OFF",  # 6-15
    ":INPut:MODE RMS",  # 6-14
    ":INPut:CFACtor 3",  # 6-12
    ":INPut:FILTer:LINE OFF",  # 6-14
    ":INPut:FILTer:FREQuency OFF",  # 6-14
    ":INPut:VOLTage:AUTO OFF",  # 6-15
    ":INPut:VOLTage:RANGe 150V",  # 6-15
    ":INPut:CURRent:AUTO OFF",  # 6-12
    ":INPut:CURRent:RANGe {amps}A",  # 6-13
    ":RATE 250MS",  # 6-29
    ":INTEGrate:MODE NORMal",  # 6-16
    ":INTEGrate:TIMer {timer}",  # 6-16
    ":NUMeric:FORMat ASCii",  # 6-19
    ":NUMeric:NORMal:ITEM1 U,1",  # 6-20
    ":NUMeric:NORMal:ITEM2 I,1",
    ":NUMeric:NORMal:ITEM3 P,1",
    ":NUMeric:NORMal:ITEM4 WH,1",
    ":NUMeric:NORMal:ITEM5 TIME",
    ":NUMeric:NORMal:ITEM6 URANGE",
    ":NUMeric:NORMal:ITEM7 IRANGE",
    ":NUMeric:NORMal:ITEM8 LAMBda,1",  # 6-24
    ":NUMeric:NORMal:ITEM9 FU,1",
    ":NUMeric:NORMal:ITEM10 UPPeak,1",
    ":NUMeric:NORMal:ITEM11 UMPeak,1",
    ":NUMeric:NORMal:ITEM12 IPPeak,1",
    ":NUMeric:NORMal:ITEM13 IMPeak,1",
    ":NUMeric:NORMal:NUMber 13",
)
# What `prepare` then reads back.
READ_BACK: list[Line] = [
    (":INPut:VOLTage:AUTO?", "0"),
    (":INPut:CURRent:AUTO?", "0"),
    (":INPut:MODE?", "RMS"),
    (":INTEGrate:TIMer?", "0,0,10"),
    (":RATE?", "250.0E-03"),
    (":INPut:VOLTage:RANGe?", "150.0E+00"),
    (":INPut:CURRent:RANGe?", "500.0E-03"),
    (":INPut:CFACtor?", "3"),
    (":INPut:FILTer:LINE?", "0"),
    (":INPut:FILTer:FREQuency?", "0"),
    (":HOLD?", "0"),
    (":NUMeric:HOLD?", "0"),
    (":MEASure:AVERaging:STATe?", "0"),
    (":MEASure:MHOLd?", "0"),
    (":INPut:SCALing:STATe?", "0"),
    (":INTEGrate:MODE?", "NORMAL"),
    (":STATus:EESR?", "0"),
]


def prepare_lines(timer: str = "0,0,10", amps: str = "0.5") -> list[Line]:
    """Return the conversation of a successful `prepare`."""
    lines: list[Line] = [(":INTEGrate:STATe?", "RESET"), (":STATus:ERRor?", NONE)]
    for message in WRITTEN:
        lines += done(message.format(amps=amps, timer=timer))
    lines += items(*MORE_NAMES)
    for number, edge in ((1, "FALL"), *((bit, "RISE") for bit in (2, 7, 8, 9))):  # 6-31
        lines += done(f":STATus:FILTer{number} {edge}")
    return [*lines, *READ_BACK]


QUALITIES = "1.0000E+00,60.000E+00,169.71E+00,-169.71E+00,58.926E-03,-58.926E-03"
NO_VALUES = f"NAN,NAN,NAN,0.00000E+00,0,150.0E+00,0.500E+00,{QUALITIES};RESET;0"
VALUES = f"120.00E+00,41.667E-03,5.0000E+00,0.00000E+00,0,150.0E+00,0.500E+00,{QUALITIES};RESET;0"
SETTINGS = MeterSettings(
    timer_s=10, update_interval_s=0.25, voltage_range_v=150.0, current_range_a=0.5
)


def test_prepare(drive: Any, fake_time: Any) -> None:
    """Each setting is written, checked for errors and read back; then two updates need data."""
    updates: list[Line] = [(READ, NO_VALUES), (READ, VALUES), (READ, VALUES)]
    meter, wire = drive([*OPEN, *prepare_lines(), *updates])
    assert SETTINGS == meter.prepare(SETTINGS)
    assert [] == wire.lines
    assert pytest.approx(1000.75) == fake_time.now


def test_prepare_resets_after_an_earlier_run(drive: Any) -> None:
    """After TIMEUP prepare resets the meter first, and awaits the reset (page 6-16)."""
    lines: list[Line] = [
        (":INTEGrate:STATe?", "TIMEUP"),
        (":STATus:ERRor?", NONE),
        (":INTEGrate:RESet", None),
        (":INTEGrate:STATe?", "TIMEUP"),
        (":INTEGrate:STATe?", "RESET"),
    ]
    rest = prepare_lines()[1:]
    meter, wire = drive([*OPEN, *lines, *rest, (READ, VALUES), (READ, VALUES)])
    meter.prepare(SETTINGS, LEAVE)
    assert [] == wire.lines


def test_a_result_that_nobody_asked_about_is_not_wiped(drive: Any) -> None:
    """A program that forgets to ask the rule cannot reset a meter that holds a result."""
    for state in ("TIMEUP", "STOP", "ERROR"):
        meter, wire = drive([*OPEN, (":INTEGrate:STATe?", state)])
        with pytest.raises(MeterHolds, match="has not asked .* power rescue") as caught:
            meter.prepare(SETTINGS)
        assert "--discard" in caught.value.remedy
        assert [] == wire.lines


def test_prepare_leaves_somebody_elses_integration_alone(drive: Any) -> None:
    """A running integration is never reset."""
    meter, wire = drive([*OPEN, (":INTEGrate:STATe?", "START")])
    with pytest.raises(MeterBusy, match="an integration runs on this meter"):
        meter.prepare(SETTINGS)
    assert [] == wire.lines


def test_a_refused_setting_carries_code_and_text(drive: Any) -> None:
    """A refused setting is an error with the code 813, its text and the command (appendix 1)."""
    lines = prepare_lines()
    index = lines.index((":INPut:MODE RMS", None))
    cut = [*lines[: index + 1], (":STATus:ERRor?", '813,"Invalid operation"')]
    meter, _ = drive([*OPEN, *cut, (":STATus:ERRor?", NONE)])
    with pytest.raises(MeterRefused, match=":INPut:MODE RMS with error 813") as caught:
        meter.prepare(SETTINGS)
    assert (813, "Invalid operation") == (caught.value.code, caught.value.text)


def test_a_clamped_setting_is_found_by_reading_it_back(drive: Any) -> None:
    """The read-back finds a value that the meter clamped without an error (page 5-6)."""
    lines = prepare_lines()
    index = lines.index((":INPut:CURRent:RANGe?", "500.0E-03"))
    lines[index] = (":INPut:CURRent:RANGe?", "1.000E+00")
    meter, _ = drive([*OPEN, *lines])
    with pytest.raises(MeterRefused, match="current_range_a at 1.0 instead of 0.5"):
        meter.prepare(SETTINGS)


FOUND = replace(SETTINGS, wiring=None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"current_range_a": 0.500001}, ""),
        ({"current_range_a": 0.51}, "current_range_a at 0.51 instead of 0.5"),
        ({"current_range_a": None}, "current_range_a at None instead of 0.5"),
        ({"line_filter": not SETTINGS.line_filter}, "line_filter at"),
        ({"mode": InputMode.DC}, "mode at"),
        ({"wiring": "P1W2"}, ""),
    ],
)
def test_what_reads_back_differently_is_refused(changes: dict[str, Any], words: str) -> None:
    """Numbers may differ by their last digits, and nothing else may, auto-range neither."""
    if not words:
        compare(SETTINGS, replace(FOUND, **changes))
        return
    with pytest.raises(MeterRefused, match=words):
        compare(SETTINGS, replace(FOUND, **changes))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (MeterSettings(timer_s=-1), "timer cannot be -1"),
        (MeterSettings(timer_s=10, update_interval_s=0.3), "no update interval 0.3"),
        (MeterSettings(timer_s=10, voltage_range_v=100.0), "no voltage range 100"),
        (MeterSettings(timer_s=10, current_range_a=0.3), "no current range 0.3"),
        (MeterSettings(timer_s=10, crest_factor=6, voltage_range_v=600.0), "no voltage range 600"),
        (MeterSettings(timer_s=10, crest_factor=4), "crest factor cannot be 4"),
    ],
)
def test_what_the_model_has_not_is_refused_before_anything_is_written(
    drive: Any, settings: MeterSettings, words: str
) -> None:
    """A setting that the model lacks is refused, and only the opening has been sent."""
    meter, wire = drive(OPEN)
    with pytest.raises(MeterRefused, match=words):
        meter.prepare(settings)
    assert [] == wire.lines


START: list[Line] = [
    (":INTEGrate:STATe?", "RESET"),
    (":STATus:ERRor?", NONE),
    (":STATus:EESR?", "256"),
    (":INTEGrate:STARt", None),
]
CONFIRMED: list[Line] = [
    (":INTEGrate:STATe?", "START"),
    (":STATus:ERRor?", NONE),
    (":STATus:EESR?", "2"),
]


def test_start(drive: Any, fake_time: Any) -> None:
    """START is confirmed after the busy window, between the two returned times."""
    meter, wire = drive([*OPEN, *START, *CONFIRMED])
    started = meter.start()
    assert [] == wire.lines
    assert (1000.0, 1000.0, 1000.2) == (
        started.sent_s,
        started.written_s,
        pytest.approx(started.confirmed_s),
    )


RUNNING = f"{VALUES.split(';')[0]};START;2"
AT_END = f"{VALUES.split(';')[0]};TIMEUP;0"
AFTER: list[Line] = [
    (":INPut:VOLTage:RANGe?", "150.0E+00"),
    (":INPut:CURRent:RANGe?", "0.500E+00"),
    (":INPut:VOLTage:AUTO?", "0"),
    (":INPut:CURRent:AUTO?", "0"),
    (":INPut:SCALing:STATe?", "0"),
    (":MEASure:AVERaging:STATe?", "0"),
    (":MEASure:MHOLd?", "0"),
    (":SYSTem:COMMunicate:COMMand?", "WT300E"),
]


@pytest.mark.parametrize(
    ("at_start", "at_end", "flags"),
    [
        ("2", "0", set()),
        ("2", "2", {MeterFlag.RESTARTED}),  # ITG rose again after our own START (page 7-5)
        ("0", "2", set()),  # the meter told our own START late
        ("66", "2", {MeterFlag.RESTARTED, MeterFlag.OVER_RANGE}),
    ],
)
def test_a_second_begin_is_told_by_the_event_register(
    drive: Any, at_start: str, at_end: str, flags: set[MeterFlag]
) -> None:
    """The first begin that the meter latched is our own START, and another one is somebody's."""
    lines: list[Line] = [
        *(*START, *CONFIRMED[:-1], (":STATus:EESR?", at_start)),
        *(*items(*MORE_NAMES), (READ, RUNNING), (READ, AT_END), (":STATus:EESR?", at_end), *AFTER),
    ]
    meter, wire = drive([*OPEN, *lines])
    meter.start()
    meter.read()
    assert flags == meter.read().flags
    assert [] == wire.lines


def test_start_while_one_runs_is_busy(drive: Any) -> None:
    """START during a running integration is refused without sending a command."""
    meter, wire = drive([*OPEN, (":INTEGrate:STATe?", "START")])
    with pytest.raises(MeterBusy):
        meter.start()
    assert [] == wire.lines


def test_start_after_an_end_wants_prepare(drive: Any) -> None:
    """START after an end is refused, since the meter would add to the old energy (page 6-16)."""
    meter, _ = drive([*OPEN, (":INTEGrate:STATe?", "STOP")])
    with pytest.raises(MeterRefused, match="state STOP, not RESET"):
        meter.start()


def test_start_at_the_panel_at_the_same_moment_is_found(drive: Any) -> None:
    """If the panel starts first, the refusal 842 shows that the integration is not ours."""
    tail: list[Line] = [
        (":INTEGrate:STATe?", "START"),
        (":STATus:ERRor?", '842,"Integrator execute error"'),
        (":STATus:ERRor?", NONE),
    ]
    meter, _ = drive([*OPEN, *START, *tail])
    with pytest.raises(MeterRefused, match="error 842"):
        meter.start()


def test_stop(drive: Any) -> None:
    """STOP is sent once and awaited."""
    lines: list[Line] = [
        (":INTEGrate:STATe?", "START"),
        (":INTEGrate:STOP", None),
        (":INTEGrate:STATe?", "START"),
        (":INTEGrate:STATe?", "STOP"),
        (":STATus:ERRor?", NONE),
    ]
    meter, wire = drive([*OPEN, *lines])
    assert IntegrationState.STOP is meter.stop()
    assert [] == wire.lines


def test_stop_that_the_timer_beats_is_an_end(drive: Any) -> None:
    """If the timer ends before our STOP, the refusal 844 is expected and TIMEUP is the end."""
    lines: list[Line] = [
        (":INTEGrate:STATe?", "START"),
        (":INTEGrate:STOP", None),
        (":INTEGrate:STATe?", "TIMEUP"),
        (":STATus:ERRor?", '844,"Integrator execute error"'),
        (":STATus:ERRor?", NONE),
    ]
    meter, wire = drive([*OPEN, *lines])
    assert IntegrationState.TIMEUP is meter.stop()
    assert [] == wire.lines


@pytest.mark.parametrize("state", ["STOP", "TIMEUP", "RESET", "ERROR"])
def test_stop_of_a_meter_that_does_not_run_sends_nothing(drive: Any, state: str) -> None:
    """Stopping a meter that does not run sends nothing and returns its state."""
    meter, wire = drive([*OPEN, (":INTEGrate:STATe?", state)])
    assert IntegrationState(state) is meter.stop()
    assert [] == wire.lines


def test_read(drive: Any, fake_time: Any) -> None:
    """One reply to one question holds values, state and condition."""
    reply = "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1,150.0E+00,0.500E+00;START;6"
    meter, wire = drive([*OPEN, *ITEMS, (READ, reply)])
    reading = meter.read()
    assert [] == wire.lines
    assert (120.0, 0.041667, 5.0, 0.00138889, 1.0) == (
        reading.voltage_v,
        reading.current_a,
        reading.power_w,
        reading.energy_wh,
        reading.integration_s,
    )
    assert (150.0, 0.5) == (reading.voltage_range_v, reading.current_range_a)
    assert IntegrationState.START is reading.state
    assert frozenset() == reading.flags
    assert {} == reading.absent
    assert fake_time.now == reading.monotonic_s


@pytest.mark.parametrize(
    "values",
    [
        "NAN,INF,9.91E+37,0.00000E+00,0,150.0E+00,0.500E+00",
        bytes.fromhex("7E951BEE 7E94F56A 7E951BEE 00000000 00000000 43160000 3F000000"),
    ],
)
def test_read_without_data_has_reasons_and_no_numbers(drive: Any, values: str | bytes) -> None:
    """NAN, INF and their numerals are absent values, as text and as binary block (page 6-25)."""
    if isinstance(values, bytes):
        reply = b"#228" + values + b";STAR;0\n"
    else:
        reply = f"{values};STAR;0\n".encode()
    meter, _ = drive([*OPEN, *ITEMS, (READ, reply)])
    reading = meter.read()
    assert (None, None, None) == (reading.voltage_v, reading.current_a, reading.power_w)
    assert {
        "voltage_v": "no data",
        "current_a": "over range",
        "power_w": "no data",
    } == reading.absent
    assert (0.0, 0.0, 150.0) == (reading.energy_wh, reading.integration_s, reading.voltage_range_v)


def test_peak_over_bits_become_flags_that_stay(drive: Any) -> None:
    """Bits OVR1, POV1 and POA1 become flags that stay (page 7-5)."""
    values = "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1,150.0E+00,0.500E+00"
    lines: list[Line] = [(READ, f"{values};START;{1 << 8 | 1 << 6}"), (READ, f"{values};START;2")]
    meter, _ = drive([*OPEN, *ITEMS, *lines])
    meter.read()
    assert {MeterFlag.OVER_RANGE, MeterFlag.CURRENT_PEAK_OVER} == meter.read().flags


@pytest.mark.parametrize("amps", ["-0.500E+00", "0.500E+00-"])
def test_a_hyphen_at_a_range_is_a_mark_and_no_sign(drive: Any, amps: str) -> None:
    """A hyphen at a range marks auto-range and leaves its size positive (IM WT310E-01EN, 5-12)."""
    reply = f"120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1,150.0E+00,{amps};START;2"
    meter, _ = drive([*OPEN, *ITEMS, (READ, reply)])
    reading = meter.read()
    assert 0.5 == reading.current_range_a
    assert {MeterFlag.RANGE_SWITCHED} == reading.flags


@pytest.mark.parametrize(
    "reply",
    [
        "120.00E+00,41.667E-03,5.0000E+00;START;2",
        "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1,150.0E+00,0.500E+00",
        "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,0,0,1,150.0E+00,0.500E+00;START;2",
        "120.00E+00,41.667E-03,5.00#0E+00,1.38889E-03,1,150.0E+00,0.500E+00;START;2",
        "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1,150.0E+00,0.500E+00;RUN;2",
        b"\x00\xff\xfe;START;2\n",
        b"#228short;START;2\n",
    ],
)
def test_a_broken_reply_is_an_error_and_never_a_number(drive: Any, reply: str | bytes) -> None:
    """Truncated, shifted, noisy and foreign replies are refused."""
    meter, _ = drive([*OPEN, *ITEMS, (READ, reply)])
    with pytest.raises(MeterReplyError):
        meter.read()


def test_after_a_time_out_the_late_reply_is_not_taken_for_the_next(drive: Any) -> None:
    """After a time-out the link is cleared, and *IDN? must answer before the next question."""
    late = b"1.0,1.0,1.0,9.0,9,150.0E+00,0.500E+00;START;2\n"
    good = "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1,150.0E+00,0.500E+00;START;2"
    meter, wire = drive([*OPEN, *ITEMS, (READ, None), ("*IDN?", IDN), (READ, good)])
    with pytest.raises(MeterSilent):
        meter.read()
    wire.pending.append(late)
    assert 5.0 == meter.read().power_w
    assert 2 == wire.clears


def test_a_lost_link_is_opened_again_without_a_reset(drive: Any) -> None:
    """After a lost link the next call reopens it and checks the meter, without any setting."""
    good = "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1,150.0E+00,0.500E+00;START;2"
    first: list[Line] = [*OPEN, *ITEMS, (READ, None), ("*IDN?", None)]
    meter, wires = drive(first, [*OPEN, (READ, good)])
    with pytest.raises(MeterSilent):
        meter.read()
    assert 5.0 == meter.read().power_w
    assert wires[0].closed
    assert [] == wires[1].lines


def test_another_meter_after_a_lost_link_is_refused(drive: Any) -> None:
    """After a lost link another meter is refused."""
    other: list[Line] = [("", None), *[("*IDN?", "YOKOGAWA,WT310,OTHER,F1.03")] * 2]
    meter, _ = drive(OPEN, other)
    meter.identify()
    with pytest.raises(MeterMismatch, match="WT310 OTHER answers where WT310 C2PH13047V was"):
        meter.attach()


def test_attach_writes_nothing_but_communication_settings(drive: Any) -> None:
    """Attaching to a running integration writes only settings of communication."""
    meter, wire = drive([*OPEN, (":INTEGrate:STATe?", "START"), *ITEMS])
    assert IntegrationState.START is meter.attach()
    assert [] == wire.lines


def test_attach_refuses_other_items(drive: Any) -> None:
    """Attaching refuses other items, because an integration may run."""
    lines: list[Line] = [(":INTEGrate:STATe?", "START"), (":NUMeric:NORMal:NUMber?", "1")]
    meter, _ = drive([*OPEN, *lines, (":NUMeric:NORMal:ITEM1?", "P,1")])
    with pytest.raises(MeterRefused, match="not those of a reading"):
        meter.attach()


def test_after_the_end_ranges_and_latched_bits_are_read_once(drive: Any) -> None:
    """After the end ranges, latched bits and settings are read once; later readings show them."""
    running = "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1,150.0E+00,0.500E+00;START;2"
    ended = "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1;TIMEUP;0"
    items: list[Line] = [
        (":NUMeric:NORMal:NUMber?", "5"),
        *ITEMS[1:6],
    ]
    lines: list[Line] = [
        (":INTEGrate:STATe?", "START"),
        *items,
        (READ, running.replace(",150.0E+00,0.500E+00", "")),
        (READ, ended),
        (":STATus:EESR?", str(1 << 7)),
        (":INPut:VOLTage:RANGe?", "150.0E+00"),
        (":INPut:CURRent:RANGe?", "1.000E+00-"),
        (":INPut:VOLTage:AUTO?", "0"),
        (":INPut:CURRent:AUTO?", "1"),
        (":INPut:SCALing:STATe?", "0"),
        (":MEASure:AVERaging:STATe?", "1"),
        (":MEASure:MHOLd?", "0"),
        (":SYSTem:COMMunicate:COMMand?", "WT200"),
        (READ, ended),
    ]
    meter, wire = drive([*OPEN, *lines])
    meter.attach()
    assert meter.read().current_range_a is None
    for _ in range(2):
        reading = meter.read()
        assert 1.0 == reading.current_range_a
        assert {
            *(MeterFlag.VOLTAGE_PEAK_OVER, MeterFlag.AUTO_RANGE, MeterFlag.RANGE_SWITCHED),
            *(MeterFlag.AVERAGING, MeterFlag.OTHER_LANGUAGE),
        } == reading.flags
    assert [] == wire.lines


def test_close_twice(drive: Any) -> None:
    """Closing twice is safe and sends nothing."""
    meter, wire = drive(OPEN)
    meter.identify()
    meter.close()
    meter.close()
    assert wire.closed
