# SPDX-License-Identifier: Apache-2.0
"""Each rule behind a verdict is judged again: a bundle that leaves one finding out does not hold.

Every session here is stored with an energy in which one finding is missing, as if it had never been
found. So its chain and its manifest fit, and nobody needs the key of the event for it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from power.energy.conditions import UNKNOWN, AmbientConditions, conditions_to_json
from power.energy.value_checks import AFTER
from power.energy.verdict import Verdict, invalid, suspect, worst
from power.meter import (
    SIGMA,
    ElementValues,
    InputMode,
    IntegrationState,
    MeterFlag,
    MeterSettings,
    Sampling,
)
from referee.core.instant import shifted
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.rejudge import energy_findings
from referee.service.evidence.verify import verify_bundle
from referee.service.results.session_energy import judge_session
from referee.store.notices import Subject, insert_notice
from referee.store.readings import SessionMeter, insert_energy, insert_reading, insert_session_meter
from referee.store.requests import Request, insert_requests
from referee.store.sessions import create_session, load_session, record_event
from tests.service.evidence.test_rejudge import (
    AUTO,
    FIXED,
    METER,
    SECONDS,
    reading,
    whole_run,
    with_changes,
)
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock

LAST = -1
START, STOP, TIMEUP = IntegrationState.START, IntegrationState.STOP, IntegrationState.TIMEUP
# An energy may be judged from a recording or a rescue, which are no sessions of a referee. So are
# `power run`, loads that are expected to give back, and chosen quantities.
ELSEWHERE = set(
    "coarse_window idle_once idle_moved net_negative net_below_error parts_missing "
    "parts_differ items_empty".split()
)


@dataclass(frozen=True)
class Run:
    """A run that breaks a rule."""

    readings: list = field(default_factory=whole_run)
    settings: MeterSettings = FIXED
    conditions: AmbientConditions = UNKNOWN
    slept_s: float = 0.0
    found: tuple = ()
    emulated: bool = False
    boots: int = 1
    started_again: bool = False
    replaced: bool = False
    requests_s: tuple = ()
    missing: int = 0


def every(**changes):
    """Return a run in which each reading has these changes."""
    return [replace(row, **changes) for row in whole_run()]


def at_the_end(**changes):
    """Return a run in which both readings after the end have these changes."""
    return [*whole_run()[:-2], *(replace(row, **changes) for row in whole_run()[-2:])]


def of_power(power_w, energy_factor=1.0, **changes):
    """Return a run of another power."""
    return [
        replace(
            row,
            power_w=power_w,
            energy_wh=energy_factor * power_w * row.integration_s / 3600,
            **changes,
        )
        for row in whole_run()
    ]


def moved(monotonic_s=0.0, wall_s=0.0):
    """Return a run in which the laptop's clocks jump at second 10."""
    return [
        replace(
            row,
            monotonic_s=row.monotonic_s + (monotonic_s if row.monotonic_s >= 10 else 0.0),
            utc=row.utc + timedelta(seconds=wall_s if row.monotonic_s >= 10 else 0.0),
        )
        for row in whole_run()
    ]


def summed(*energies):
    """Return a run of two elements with these energies."""
    parts = tuple(ElementValues(n, 6.0, wh) for n, wh in enumerate(energies, 1))
    return at_the_end(elements=parts)


SUM = replace(FIXED, element=SIGMA, wiring="P1W3")
SAMPLED = replace(FIXED, sampling=Sampling("shelly", of_reading=0.02, interval_s=1.0))
ENERGY = 6.0 * SECONDS / 3600
RUNS = {
    "no_readings": Run([]),
    "not_started": Run([reading(n, IntegrationState.RESET) for n in range(SECONDS + 2)]),
    "not_ended": Run([*whole_run()[:-2], reading(SECONDS + 1), reading(SECONDS + 3)]),
    "meter_reset": Run(with_changes(9, state=IntegrationState.RESET)),
    "meter_error": Run(at_the_end(state=IntegrationState.ERROR)),
    "restarted": Run(with_changes(9, state=TIMEUP)),
    "time_went_back": Run(with_changes(9, integration_s=3.0)),
    "energy_went_back": Run(with_changes(9, energy_wh=0.9)),
    "no_final_energy": Run(with_changes(LAST, energy_wh=None, absent={"energy_wh": "no data"})),
    "final_differs": Run(with_changes(LAST, energy_wh=ENERGY + 0.001)),
    "final_unconfirmed": Run(whole_run()[:-1]),
    "window": Run(at_the_end(integration_s=15.0, state=STOP)),
    "timer": Run(at_the_end(integration_s=SECONDS - 1.0)),
    "stopped_short": Run(at_the_end(integration_s=SECONDS - 1.0, state=STOP)),
    "over_range": Run(with_changes(9, power_w=None, absent={"power_w": "over range"})),
    "peak_over": Run(with_changes(9, flags=frozenset({MeterFlag.CURRENT_PEAK_OVER}))),
    "range_changed": Run(with_changes(9, voltage_range_v=30.0)),
    "auto_range": Run(settings=AUTO),
    "range_switched": Run(with_changes(9, current_range_a=2.0), AUTO),
    "never_settled": Run(every(power_w=None, absent={"power_w": "no data"}), AUTO),
    "above_range": Run(with_changes(9, current_a=1.2)),
    "clipping": Run(with_changes(9, current_peak_a=3.2)),
    "no_data": Run(with_changes(9, power_w=None, absent={"power_w": "no data"})),
    "negative_power": Run(with_changes(9, power_w=-6.0)),
    "negative_energy": Run(of_power(-6.0)),
    "no_load": Run(of_power(0.0)),
    "no_load_half": Run(
        [
            replace(row, power_w=0.0, current_a=0.0) if row.monotonic_s < 14 else row
            for row in whole_run()
        ]
    ),
    "implausible": Run(with_changes(9, current_a=0.2)),
    "cross_check": Run(of_power(6.0, energy_factor=2.0)),
    "few_samples": Run([*whole_run()[:3], *whole_run()[-4:]]),
    "gap": Run([*whole_run()[:8], *whole_run()[12:]]),
    "clock": Run(moved(monotonic_s=4.0)),
    "suspended": Run(moved(wall_s=10.0), slept_s=10.0),
    "clock_set": Run(moved(wall_s=60.0)),
    "scaling": Run(at_the_end(flags=frozenset({MeterFlag.SCALING}))),
    "settings_changed": Run(at_the_end(flags=frozenset({MeterFlag.AVERAGING}))),
    "unchecked": Run(at_the_end(flags=frozenset({MeterFlag.UNCHECKED}))),
    "mode": Run(every(voltage_v=0.1), replace(FIXED, mode=InputMode.DC)),
    "elements": Run(settings=replace(FIXED, element="2", wiring="P1W2")),
    "elements_differ": Run(summed(0.9 * ENERGY, 0.2 * ENERGY), SUM),
    "calibration": Run(conditions=AmbientConditions(calibrated=date(2020, 1, 1))),
    "unspecified": Run(conditions=AmbientConditions(ambient_c=60.0)),
    "uncertain": Run(every(voltage_range_v=None, current_range_a=None), AUTO),
    "spec_1_percent": Run(of_power(0.05, current_a=0.05 / 12)),
    "readings_over_1_percent": Run(of_power(0.05, current_a=0.05 / 12)),
    "emulated": Run(emulated=True),
    "rebooted": Run(boots=2),
    "meter_used_again": Run(
        whole_run()[:-2],
        found=(suspect("meter_used_again", "It was not read before."),),
        started_again=True,
    ),
    "meter_replaced": Run(
        found=(invalid("meter_replaced", "Another one answers."),), replaced=True
    ),
    "images_missing": Run(missing=3),
    "no_load_at_work": Run(
        [
            replace(row, power_w=0.0, current_a=0.0) if 4 < row.monotonic_s < 12 else row
            for row in whole_run()
        ],
        requests_s=(6.0, 7.0, 8.0, 9.0),
    ),
    "not_read_at_end": Run(whole_run()[:-2], found=(suspect("not_read_at_end", "It is lost."),)),
    "not_official": Run(settings=SAMPLED),
    "samples_missing": Run(
        [
            replace(row, power_w=None, absent={"power_w": "no data"})
            if 4 < row.monotonic_s < 12
            else row
            for row in whole_run()
        ],
        SAMPLED,
    ),
    "samples_missed": Run(at_the_end(flags=frozenset({MeterFlag.SAMPLES_MISSED})), SAMPLED),
    "slow_samples": Run(at_the_end(flags=frozenset({MeterFlag.SLOW_SAMPLES})), SAMPLED),
    "counter_differs": Run(at_the_end(flags=frozenset({MeterFlag.COUNTER_DIFFERS})), SAMPLED),
    **{
        flag.value: Run(at_the_end(flags=frozenset({flag})), SAMPLED)
        for flag in (
            *(MeterFlag.SAMPLES_LOST, MeterFlag.IMPOSSIBLE_POWER, MeterFlag.COUNTER_RESTARTED),
            *(MeterFlag.VOLT_AMPERES_DIFFER, MeterFlag.NO_WITNESS, MeterFlag.WITNESS_COARSE),
            *(MeterFlag.DEVICE_RESTARTED, MeterFlag.DEVICE_FAULT),
        )
    },
    "one_part": Run(settings=replace(FIXED, sampling=Sampling("rapl", 0.02, machine_parts=2))),
    "sampling_changed": Run(at_the_end(flags=frozenset({MeterFlag.SAMPLING_CHANGED})), SAMPLED),
}


@pytest.fixture(scope="module")
def contest(tmp_path_factory):
    """Return a contest of a real meter."""
    contest = make_contest(
        tmp_path_factory.mktemp("rules"), FakeClock(), mode="event", seconds=SECONDS
    )
    yield contest
    contest.database.close()


def stored(contest, run, without):
    """Store a run whose energy lacks the findings of a code; return its number and these."""
    begun = contest.clock.now()
    with contest.database.write() as connection:
        number = create_session(
            connection, team="ants", length_s=float(SECONDS), order_seed=None, now=begun
        )
        end = shifted(begun, SECONDS)
        for kind, at, cause in (
            ("armed", begun, None),
            ("started", begun, None),
            ("ended", end, "deadline"),
        ):
            record_event(connection, number, kind, at, actor="x", cause=cause)
        meter = SessionMeter(run.emulated, METER, run.settings, conditions_to_json(run.conditions))
        insert_session_meter(connection, number, "", meter)
        for place, row in enumerate(run.readings):
            boot = f"boot {place * run.boots // len(run.readings)}"
            insert_reading(connection, number, row.monotonic_s, row, boot)
        sent = ("then", "GET", "/image", 200, 1, 1, 0, 9, 0.5, "::1")
        insert_requests(connection, [Request(number, at_s, *sent) for at_s in run.requests_s])
        if run.missing:
            subject = Subject(image_id=run.missing)
            insert_notice(connection, number, "then", "alarm", "It is gone.", subject)
    _log(contest, end if run.started_again else begun, run.replaced)
    session = load_session(contest.database.connection, number)
    result, detail = judge_session(contest, session, run.settings, METER, run.found, run.slept_s)
    kept = [finding for finding in result.findings if finding.code != without]
    usable = worst(kept) is not Verdict.INVALID
    energy_wh = ENERGY if result.integrator_wh is None else result.integrator_wh
    detail["findings"] = [it for it in detail["findings"] if it["code"] != without]
    detail["reasons"] = [finding.text for finding in kept]
    detail["facts"]["added"] = [it for it in detail["facts"]["added"] if it["code"] != without]
    with contest.database.write() as connection:
        insert_energy(
            connection,
            number,
            utc=shifted(begun, 2 * SECONDS).utc.isoformat(),
            energy_wh=energy_wh if usable else None,
            uncertainty_wh=result.uncertainty_wh if usable else None,
            verdict=worst(kept).value,
            detail=detail,
        )
    contest.clock.advance(1000.0)
    return number, [finding for finding in result.findings if finding.code == without]


def _log(contest, at, replaced):
    """Write a START into the log of the meter after a moment, and perhaps another meter's name."""
    at = shifted(at, 0.5)
    line = {"utc": at.utc.isoformat(), "monotonic_s": at.monotonic_s}
    lines = [line | {"event": "sent", "text": ":INTEGrate:STARt"}]
    if replaced:
        lines.append(line | {"event": "sent", "text": "*IDN?"})
        lines.append(line | {"event": "received", "text": "YOKOGAWA,WT310E,ANOTHER,F1.04\n"})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    contest.config.wire_log_of(1).write_text(text)


def told_of(contest, number, folder):
    """Return what is told of the energy when the session's bundle is verified."""
    write_bundle(contest, number, folder / "bundle.zip")
    truth = contest.config.images.ground_truth
    return [
        f"{finding.member}: {finding.what}"
        for finding in verify_bundle(folder / "bundle.zip", truth)
        if "judged again" in finding.what or "says" in finding.what
    ]


@pytest.mark.parametrize("code", RUNS)
def test_a_finding_that_was_left_out_is_found(contest, tmp_path, code):
    """The rule finds it again, though chain and manifest fit the forged verdict."""
    number, left_out = stored(contest, RUNS[code], without=code)
    assert left_out
    assert told_of(contest, number, tmp_path)


def test_nothing_is_found_where_nothing_was_left_out(contest):
    """The same runs with all their findings are judged again to the same energy."""
    for code, run in RUNS.items():
        number, _ = stored(contest, run, without="")
        log = {"meter.jsonl": contest.config.wire_log_of(1).read_bytes()}
        session = load_session(contest.database.connection, number)
        findings = [finding.what for finding in energy_findings(contest, session, log)]
        assert [] == [it for it in findings if "judged again" in it or "says" in it], code


@pytest.mark.parametrize(
    ("told", "emulated"),
    [
        ({"event": "open", "text": "TCPIP::127.0.0.1,4000::inst0::INSTR"}, True),
        ({"event": "open", "text": "TCPIP::10.0.0.3::inst0::INSTR"}, False),
    ],
)
def test_an_emulator_that_passes_for_a_real_meter_is_found(contest, told, emulated):
    """The meter's log has the address, which must fit what the bundle says of the meter."""
    number, _ = stored(contest, Run(), without="")
    log = contest.config.wire_log_of(1).read_bytes()
    line = json.dumps(json.loads(log.splitlines()[0]) | told).encode()
    session = load_session(contest.database.connection, number)
    found = energy_findings(contest, session, {"meter.jsonl": line + b"\n" + log})
    assert emulated == any("These are an emulator's" in one.what for one in found)


def test_each_rule_has_its_row():
    """A new code in the judge or in the settling needs a run here that breaks its rule."""
    root = Path(__file__).parents[3]
    places = [
        *(root / "power/energy").glob("*.py"),
        root / "referee/service/desk/settling.py",
        root / "referee/service/results/session_energy.py",
    ]
    call = re.compile(r'\b(?:invalid|suspect|note)\(\s*"([a-z_0-9]+)"')
    codes = {code for place in places for code in call.findall(place.read_text(encoding="utf-8"))}
    codes |= {code for _, _, code, _ in AFTER}
    assert codes - ELSEWHERE == RUNS.keys()
