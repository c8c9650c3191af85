# SPDX-License-Identifier: Apache-2.0
"""The emulated meter's language, question by question, against the manual's examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from power.emulator.instrument import Options, serial_at
from power.emulator.profile import parse_steps

MakeBench = Callable[..., Any]


@pytest.fixture
def bench(make_bench: MakeBench) -> Any:
    """Return an emulated meter as delivered (HEADer ON, VERBose OFF), with settled ranges."""
    bench = make_bench()
    bench.time.sleep(5.0)
    return bench


def queue(bench: Any) -> list[int]:
    """Return the codes in the error queue."""
    codes = []
    while (entry := bench.ask(":STAT:ERR?")) != '0,"No error"':
        codes.append(int(entry.split(",")[0]))
    return codes


@pytest.mark.parametrize(
    ("header", "verbose", "timer", "mode", "volts"),
    [
        (
            1,
            1,
            ":INTEGRATE:TIMER 0,5,0",
            ":INTEGRATE:MODE NORMAL",
            ":INPUT:VOLTAGE:RANGE 150.0E+00",
        ),
        (1, 0, ":INTEG:TIM 0,5,0", ":INTEG:MODE NORM", ":VOLT:RANG 150.0E+00"),
        (0, 1, "0,5,0", "NORMAL", "150.0E+00"),
        (0, 0, "0,5,0", "NORM", "150.0E+00"),
    ],
)
def test_header_and_verbose(
    bench: Any, header: int, verbose: int, timer: str, mode: str, volts: str
) -> None:
    """HEADer and VERBose give the four forms of a reply (pages 5-5, 6-7, 6-16)."""
    bench.tell(":INTEG:TIM 0,5,0")
    bench.tell(":VOLT:AUTO OFF;RANG 150V")
    bench.tell(f":COMM:HEAD {header};VERB {verbose}")
    assert timer == bench.ask(":INTEG:TIM?")
    assert mode == bench.ask(":INTEG:MODE?")
    assert volts == bench.ask(":INP:VOLT:RANG?")


@pytest.mark.parametrize(
    "message",
    [
        ":INPut:VOLTage:RANGe 60V",
        ":INP:VOLT:RANG 60",
        ":INPu:VOLTag:RANGe 60V",
        ":VOLT:RANG 60V",
        "VOLT:RANG 60V",
        ":inp:volt:rang\t60v",
        ":INPUT:MODE RMS;VOLTAGE:RANGE 60V",
        ":INPUT:VOLTAGE:AUTO OFF;RANGE 60V",
        ":INTEG:MODE NORM;*CLS;:VOLT:RANG 60V",
    ],
)
def test_ways_to_say_the_same(bench: Any, message: str) -> None:
    """Short and long words, optional nodes and kept levels are understood (pages 5-1 to 5-4)."""
    bench.tell(message)
    assert ":VOLT:RANG 60.0E+00" == bench.ask(":VOLT:RANG?")
    assert [] == queue(bench)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (":IN:VOLT:RANG 60V", 113),
        (":INPUTS:VOLT:RANG 60V", 113),
        (":FOO", 113),
        (":FOO?", 113),
        ("*FOO?", 113),
        ("*PSC 1", 113),
        (":VOLT:RANG", 109),
        (":VOLT:RANG 60V,1", 108),
        (":VOLT:RANG MAX", 141),
        (":INPUT:MODE XYZ", 141),
        (":INTEG:TIM 0,5", 109),
        (":NUM:ITEM256 U", 114),
        (":VO!LT:RANG 60V", 102),
        (":INTEG:STOP", 844),
    ],
)
def test_mistakes_are_queued_and_not_answered(bench: Any, message: str, code: int) -> None:
    """A refused command gives no reply, and only the error queue shows it (page 7-6)."""
    bench.tell(message)
    assert bench.interpreter.fetch(1000) is None
    assert [code] == queue(bench)


def test_states_and_refusals(bench: Any) -> None:
    """Each transition that the meter does not allow has its error code."""
    bench.tell(":COMM:HEAD OFF;VERB ON")
    steps = [
        (":INTEG:STOP", "RESET", [844]),
        (":INTEG:STAR", "START", []),
        (":INTEG:STAR", "START", [842]),
        (":INTEG:RES", "START", [845]),
        (":INTEG:TIM 0,1,0", "START", [813]),
        (":RATE 1S", "START", [813]),
        (":INP:MODE DC", "START", [813]),
        (":INTEG:STOP", "STOP", []),
        (":INTEG:STOP", "STOP", [844]),
        (":INP:FILT:LINE ON", "STOP", [813]),
        (":INTEG:STAR", "START", []),
        (":INTEG:STOP", "STOP", []),
        (":INTEG:RES", "RESET", []),
    ]
    for message, state, codes in steps:
        bench.time.sleep(0.3)
        bench.tell(message)
        bench.time.sleep(0.3)
        assert (state, codes) == (bench.ask(":INTEG:STAT?"), queue(bench)), message


def test_stop_and_start_accumulate(bench: Any) -> None:
    """START after STOP adds to energy and time."""
    bench.tell(":COMM:HEAD OFF")
    bench.tell(":NUM:NUM 2;ITEM1 WH;ITEM2 TIME")
    for _ in range(2):
        bench.tell(":INTEG:STAR")
        bench.time.sleep(3.0)
        bench.tell(":INTEG:STOP")
        bench.time.sleep(5.0)
    assert "8.33333E-03,6" == bench.ask(":NUM:VAL?")


def test_the_timer_ends_the_run_and_values_are_held(bench: Any) -> None:
    """After TIMEUP energy and time stay, START needs RESET, and STOP is refused."""
    bench.tell(":INTEG:TIM 0,0,2")
    bench.tell(":NUM:NUM 2;ITEM1 WH;ITEM2 TIME")
    bench.tell(":INTEG:STAR")
    bench.time.sleep(100.0)
    assert "TIM" == bench.ask(":INTEG:STAT?")
    assert "2.77778E-03,2" == bench.ask(":NUM:VAL?")
    bench.tell(":INTEG:STAR")
    bench.tell(":INTEG:STOP")
    assert [841, 844] == queue(bench)
    assert "TIM" == bench.ask(":INTEG:STAT?")


def test_first_values_after_a_change_are_no_data(bench: Any) -> None:
    """For one update after a change U, I and P are NAN, while WH and TIME are zero, as recorded."""
    bench.tell(":RATE 1S")
    bench.tell(":NUM:NUM 5;ITEM4 WH;ITEM5 TIME")
    bench.tell(":INTEG:STAR")
    bench.time.sleep(0.5)
    assert "NAN,NAN,NAN,0.00000E+00,0" == bench.ask(":NUM:VAL?")
    bench.time.sleep(0.6)
    assert "120.00E+00,41.667E-03,5.0000E+00,1.38889E-03,1" == bench.ask(":NUM:VAL?")


def test_values_are_constant_between_updates(bench: Any) -> None:
    """WH and TIME step once per update."""
    bench.tell(":RATE 2S")
    bench.tell(":NUM:NUM 1;ITEM1 TIME")
    bench.tell(":INTEG:STAR")
    seen = []
    for _ in range(8):
        bench.time.sleep(0.9)
        seen.append(int(bench.ask(":NUM:VAL?")))
    assert [0, 0, 2, 2, 4, 4, 6, 6] == seen


def test_float_output(bench: Any) -> None:
    """FLOat answers a block that ends with a line feed."""
    bench.tell(":NUM:FORM FLO;:NUM:NUM 1;ITEM1 U")
    bench.time.sleep(1.0)
    bench.tell(":NUM:VAL?")
    assert (b"#14\x42\xf0\x00\x00\n", True) == bench.interpreter.fetch(100)


def test_a_reply_in_pieces(bench: Any) -> None:
    """A reader with a small buffer gets the rest of a reply with its next read."""
    bench.tell("*OPT?")
    assert (b"C1,", False) == bench.interpreter.fetch(3)
    assert (b"C7,EX2,G5,DA4\n", True) == bench.interpreter.fetch(30)


def test_group_query(bench: Any) -> None:
    """An upper-level query returns the group in a form that can be sent back (page 5-4)."""
    bench.tell(":COMM:VERB ON")
    assert ":INTEGRATE:MODE NORMAL;TIMER 0,0,0" == bench.ask(":INTEG?")
    assert ":INPUT:FILTER:LINE 0;FREQUENCY 0" == bench.ask(":INP:FILT?")


def test_several_queries_in_one_message(bench: Any) -> None:
    """Answers to several queries come in order, joined by semicolons (page 5-2)."""
    bench.tell(":COMM:HEAD OFF;:CURR:AUTO OFF;RANG 20A;:VOLT:AUTO ON;RANG 300V")
    reply = bench.ask(":CURR:RANG?;AUTO?;:VOLT:RANG?;AUTO?")
    assert "20.000E+00;0;300.0E+00;1" == reply


def test_a_reply_that_is_not_read_is_interrupted(bench: Any) -> None:
    """A new message drops an unread reply, and is executed (page 5-2)."""
    bench.tell("*IDN?")
    assert "C1,C7,EX2,G5,DA4" == bench.ask("*OPT?")
    assert [410] == queue(bench)


def test_clear_status_after_a_terminator_drops_the_reply_without_an_error(bench: Any) -> None:
    """LF and *CLS bring any meter to a clean state (page 7-3)."""
    bench.tell("*IDN?")
    bench.tell("\n*CLS")
    assert bench.interpreter.fetch(100) is None
    assert [] == queue(bench)


def test_reading_without_a_question_is_unterminated(bench: Any) -> None:
    """Reading without a question queues error 420 (page App-3)."""
    bench.interpreter.unterminated()
    assert [420] == queue(bench)


def test_a_message_too_long_is_an_overflow(bench: Any) -> None:
    """A message of more than 1024 bytes is an overflow (page 5-2)."""
    bench.tell(":INTEG:MODE NORM;" * 100)
    assert [225] == queue(bench)


def test_the_error_queue_overflows_with_350(bench: Any) -> None:
    """The last entry of a full error queue becomes 350 (page 7-6)."""
    for _ in range(40):
        bench.tell(":FOO")
    codes = queue(bench)
    assert [113] * (len(codes) - 1) + [350] == codes


def test_reset_keeps_communication(bench: Any) -> None:
    """*RST resets everything except the settings of communication (page 6-35)."""
    bench.tell(":COMM:HEAD OFF;VERB ON")
    bench.tell(":INTEG:TIM 1,2,3;:RATE 5S;:VOLT:AUTO OFF")
    bench.tell("*RST")
    assert "0,0,0" == bench.ask(":INTEG:TIM?")
    assert "1" == bench.ask(":VOLT:AUTO?")
    assert "ASCII" == bench.ask(":NUM:FORM?")


def test_default_items_are_pattern_2(bench: Any) -> None:
    """The default items are U, I, P, S, Q, lambda, phi and both frequencies (page 6-26)."""
    assert "U-E1,I-E1,P-E1,S-E1,Q-E1,LAMBDA-E1,PHI-E1,FU-E1,FI-E1,NONE" == bench.ask(":NUM:HEAD?")


def test_wait_blocks_until_the_update(bench: Any) -> None:
    """The reply to WAIT comes right after the next update, as on page 5-8."""
    bench.tell(":RATE 1S")
    bench.tell(":STAT:FILT1 FALL;:STAT:EESR?")
    bench.interpreter.fetch(100)
    begin_s = bench.time.now
    bench.time.sleep(0.3)
    bench.tell(":COMM:WAIT 1")
    bench.ask(":NUM:VAL?")
    assert pytest.approx(begin_s + 1.0, abs=0.001) == bench.time.now
    assert "1" == bench.ask(":STAT:EESR?")


def test_a_device_clear_ends_a_wait(bench: Any) -> None:
    """A device clear aborts WAIT for an event that never comes (page 2-7)."""
    bench.tell(":COMM:WAIT 2")
    bench.tell("*IDN?")
    bench.time.sleep(50.0)
    assert bench.interpreter.fetch(100) is None
    bench.interpreter.clear()
    assert "C1,C7,EX2,G5,DA4" == bench.ask("*OPT?")


def test_a_number_out_of_range_is_moved_to_the_nearest(bench: Any) -> None:
    """A number out of range is clamped without an error (page 5-6), or refused with the option."""
    bench.tell(":VOLT:RANG 1000V")
    assert ":VOLT:RANG 600.0E+00" == bench.ask(":VOLT:RANG?")
    assert [] == queue(bench)


def test_illegal_values_are_refused_on_request(make_bench: MakeBench) -> None:
    """The emulator can clamp or refuse illegal values, since the manual says neither."""
    bench = make_bench(None, Options(refuse_illegal=True))
    bench.tell(":VOLT:RANG 1000V")
    assert [222] == queue(bench)


def test_crest_factor_halves_the_ranges(bench: Any) -> None:
    """CF 6 halves the ranges of CF 3 (page 6-12)."""
    bench.tell(":VOLT:AUTO OFF;RANG 300V;:INP:CFAC 6")
    assert ":VOLT:RANG 150.0E+00" == bench.ask(":VOLT:RANG?")


def test_auto_range_finds_the_range(bench: Any) -> None:
    """For 120 V and 42 mA auto-range goes down to 300 V and 100 mA, and stays above 30 %."""
    assert ":VOLT:RANG 300.0E+00" == bench.ask(":VOLT:RANG?")
    assert ":CURR:RANG 100.000E-03" == bench.ask(":CURR:RANG?")


def test_dc_mode_on_an_ac_load(bench: Any) -> None:
    """DC mode on an AC load shows U and I of about zero and the right P, as recorded."""
    bench.tell(":INP:MODE DC")
    bench.time.sleep(1.0)
    assert bench.ask(":NUM:VAL?").startswith("0.0000E+00,0.0000E+00,5.0000E+00,")


def test_status_byte(bench: Any) -> None:
    """The status byte shows errors, unread replies and enabled events (page 7-3)."""
    assert 0 == bench.interpreter.status_byte()
    bench.tell(":FOO")
    assert 4 == bench.interpreter.status_byte()
    bench.tell("*SRE 4")
    bench.tell("*IDN?")
    assert 4 | 16 | 64 == bench.interpreter.status_byte()
    assert "0" == bench.ask("*ESE?")
    bench.tell("*SRE 239")
    assert "175" == bench.ask("*SRE?")


def test_standard_events(bench: Any) -> None:
    """Power-on and command errors have their event bits, and reading clears them (page 7-4)."""
    assert "128" == bench.ask("*ESR?")
    bench.tell(":FOO")
    bench.tell(":INTEG:STOP")
    assert "48" == bench.ask("*ESR?")
    assert "0" == bench.ask("*ESR?")


def test_slow_self_test(bench: Any) -> None:
    """*TST? takes about six seconds (page 6-36)."""
    begin_s = bench.time.now
    assert "0" == bench.ask("*TST?")
    assert 6.0 == pytest.approx(bench.time.now - begin_s, abs=0.01)


def test_a_small_current_on_a_large_range_reads_zero(bench: Any) -> None:
    """A current of up to 0.5 % of its range reads as zero, and is integrated as zero."""
    bench.tell(":CURR:AUTO OFF;RANG 20A;:VOLT:RANG 150V")
    bench.tell(":NUM:NUM 3;ITEM3 WH")
    bench.tell(":INTEG:STAR")
    bench.time.sleep(5.0)
    assert "120.00E+00,0.0000E+00,0.00000E+00" == bench.ask(":NUM:VAL?")


def test_no_query_may_follow_an_identity(bench: Any) -> None:
    """A query after *IDN? in the same message is refused (page App-3)."""
    assert "YOKOGAWA,WT310,EMU000000,F1.03" == bench.ask("*IDN?;:INTEG:STAT?")
    assert [440] == queue(bench)


def test_auto_range_fills_its_gap_with_what_comes_next(make_bench: MakeBench) -> None:
    """Auto-range estimates WH when a step comes in its gap (IM WT310E-01EN, page 5-12)."""
    bench = make_bench(parse_steps("0:5,10.3:50,11.4:20"))
    bench.time.sleep(5.0)
    bench.tell(":COMM:HEAD OFF;:RATE 1S;:NUM:NUM 1;ITEM1 WH")
    bench.tell(":INTEG:STAR")
    bench.time.sleep(20.0)
    bench.tell(":INTEG:STOP")
    shown = float(bench.ask(":NUM:VAL?"))
    truth = bench.instrument.measurement.true_energy_wh(bench.time.now)
    assert abs(shown / truth - 1) > 0.01
    assert bench.ask(":CURR:RANG?").startswith("-")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (":NUM:ITEM1 U,0", 222),
        (":NUM:ITEM1 U,4", 222),
        (":NUM:ITEM1 U,X", 141),
        (":INTEG:STAT??", 102),
        ("*IDN??", 113),
        (":INP:VOLT:RANG 1E999", 123),
        (":NUM:NUM 1E999", 123),
    ],
)
def test_what_is_no_element_no_header_or_no_number_is_refused(
    bench: Any, message: str, code: int
) -> None:
    """An element outside 1 to 3, a second question mark and an endless exponent have a code."""
    before = [bench.ask(question) for question in (":NUM:ITEM1?", ":VOLT:RANG?", ":NUM:NUM?")]
    bench.tell(message)
    assert [code] == queue(bench)
    assert before == [bench.ask(one) for one in (":NUM:ITEM1?", ":VOLT:RANG?", ":NUM:NUM?")]


@pytest.mark.parametrize("typed", ["SIGM", "sigma"])
def test_the_sum_of_elements_is_told_in_both_forms(make_bench: MakeBench, typed: str) -> None:
    """VERBose tells the whole word, and without it the reply has the capitals (page 5-5)."""
    bench = make_bench(None, Options(model="WT333E"))
    bench.tell(f":NUM:ITEM1 P,{typed}")
    assert ":NUM:ITEM1 P,SIGM" == bench.ask(":NUM:ITEM1?")
    bench.tell(":COMM:VERB ON")
    assert ":NUMERIC:NORMAL:ITEM1 P,SIGMA" == bench.ask(":NUM:ITEM1?")


def test_opc_before_the_end_of_a_message_is_told_on_request(bench: Any) -> None:
    """QENable stores messages that are no errors, such as the one about *OPC (6-31, App-3)."""
    bench.tell("*OPC;:COMM:HEAD OFF")
    assert [] == queue(bench)
    bench.ask("*ESR?")
    bench.tell(":STAT:QEN ON")
    bench.tell("*OPC;:COMM:HEAD OFF")
    assert [50] == queue(bench)
    assert "1" == bench.ask("*ESR?")
    bench.tell(":COMM:HEAD OFF;*OPC")
    assert [] == queue(bench)


def test_each_emulated_meter_has_a_serial_number_of_its_own() -> None:
    """The number goes by the address, so it stays over a restart, and it says what this is."""
    first, second = (f"TCPIP::127.0.0.1,{port}::inst0::INSTR" for port in (5025, 5026))
    assert serial_at(first) == serial_at(first) != serial_at(second)
    assert serial_at(first).startswith("EMU")


def test_both_questions_for_the_serial_number_have_one_answer(bench: Any) -> None:
    """`*IDN?` and `:SYSTem:SERial?` name the same meter."""
    told = bench.ask(":SYST:SER?").split('"')[1]
    assert told == bench.ask("*IDN?").split(",")[2] != ""


def test_the_range_of_a_current_sensor_is_told_with_its_word(bench: Any) -> None:
    """`EXTernal` chooses the sensor input, in volts; nothing is connected there (page 6-13)."""
    bench.tell(":NUM:FORM ASC;:NUM:NORM:NUM 3;ITEM1 I,1;ITEM2 P,1;ITEM3 IRANGE;:COMM:VERB ON")
    bench.tell(":INPUT:CURRENT:RANGE EXTERNAL,2V")
    bench.time.sleep(3.0)
    assert ":INPUT:CURRENT:RANGE EXTERNAL,50.0E-03" == bench.ask(":INPUT:CURRENT:RANGE?")
    bench.tell(":CURR:AUTO OFF;RANG EXT,2")
    bench.time.sleep(3.0)
    assert ":INPUT:CURRENT:RANGE EXTERNAL,2.00E+00" == bench.ask(":INPUT:CURRENT:RANGE?")
    assert "0.0000E+00,0.0000E+00,2.0000E+00" == bench.ask(":NUM:VAL?")
    bench.tell(":COMM:VERB OFF;:INPUT:CFACTOR 6")
    assert ":CURR:RANG EXT,1.00E+00" == bench.ask(":CURR:RANG?")
    bench.tell(":CURR:RANG 0.1A;:CFACTOR 3")
    bench.time.sleep(3.0)
    assert ":CURR:RANG 200.000E-03" == bench.ask(":CURR:RANG?")
    assert "41.667E-03,5.0000E+00,200.00E-03" == bench.ask(":NUM:VAL?")
    assert [] == queue(bench)


@pytest.mark.parametrize(
    ("data", "code"),
    [("EXTERNAL", 109), ("EXTERNAL,1,2", 108), ("EXT,1A", 131), ("EXTREME,1", 141)],
)
def test_what_is_no_range_of_a_sensor_is_refused(bench: Any, data: str, code: int) -> None:
    """The word wants one voltage behind it, and the range of before stays."""
    before = bench.ask(":CURR:RANG?")
    bench.tell(f":CURR:RANG {data}")
    assert [code] == queue(bench)
    assert before == bench.ask(":CURR:RANG?")


def test_a_sensor_input_integrates_what_is_connected_to_it(bench: Any) -> None:
    """Without a sensor the energy stays zero, and the load's own is not counted."""
    bench.tell(":COMM:HEAD OFF;:NUM:NUM 2;ITEM1 WH;ITEM2 TIME;:CURR:AUTO OFF;RANG EXT,2")
    bench.tell(":INTEG:STAR")
    bench.time.sleep(10.0)
    assert "0.00000E+00,10" == bench.ask(":NUM:VAL?")


def test_an_item_of_an_element_that_the_model_lacks_has_no_value(bench: Any) -> None:
    """The presets have elements 2 and 3 on every model, and their values are NAN (page 6-26)."""
    bench.tell(":COMM:HEAD OFF;:NUM:NORM:PRES 2")
    assert "U,2" == bench.ask(":NUM:NORM:ITEM11?")
    bench.tell(":NUM:NORM:ITEM1 U,2;NUM 2")
    assert "NAN,41.667E-03" == bench.ask(":NUM:VAL?")
    assert [] == queue(bench)
