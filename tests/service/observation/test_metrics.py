# SPDX-License-Identifier: Apache-2.0
"""The metrics say what the board, the stored requests and the system say, in Prometheus' format."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from referee.service.board.shown import ShownAlarm
from referee.service.observation.metrics import (
    lane_metrics,
    machine_metrics,
    request_metrics,
    text_of,
)
from referee.service.observation.processes import (
    ProcessFacts,
    processes_under,
    program_of,
    programs_under,
)
from referee.store.requests import BUCKETS_S, RequestTotals
from tests.support.shown import shown_board, shown_card, shown_lane, shown_meter, shown_reading

ALARM = ShownAlarm(text="The power meter is lost.", lane="")


class Scrape:
    """Metrics as another program reads them."""

    def __init__(self, metrics):
        families = text_string_to_metric_families(text_of(metrics).decode())
        self.samples = [sample for family in families for sample in family.samples]

    def values(self, name, label):
        """Return the values of a metric by one of its labels."""
        return {it.labels[label]: it.value for it in self.samples if it.name == name}

    def value(self, name, **labels):
        """Return the one value of a metric with these labels."""
        (found,) = [it for it in self.samples if it.name == name and it.labels == labels]
        return found.value


def lane(number=1, card=None, **meter):
    """Return a lane of the board."""
    usual = {"reading": shown_reading(age_s=0.5, power_w=7.25)}
    return shown_lane(card, shown_meter(**(usual | meter)), number)


def card(**values):
    """Return a card of the board."""
    fields = ("remaining_s", "images_fetched", "answers", "late_answers", "detections")
    return shown_card(**(dict.fromkeys(fields, 0) | {"team": 'a "b"\n'} | values))


def test_a_session_has_its_figures_and_its_state():
    """Each figure has lane, session and team; the state is 1 for one state; 0 is a value."""
    found = Scrape(lane_metrics(shown_board(lane(2, card(remaining_s=12.5)), alarms=[ALARM])))
    of = {"lane": "2", "session": "3", "team": 'a "b"\n'}
    assert 12.5 == found.value("referee_session_remaining_seconds", **of)
    assert 0 == found.value("referee_session_answers", **of)
    states = found.values("referee_session_state", "state")
    assert {"RUNNING"} == {state for state, value in states.items() if value == 1}
    assert {0, 1} == set(states.values())
    assert 1 == found.value("referee_alarms")


def test_what_is_not_known_has_no_sample():
    """An unknown energy, a meter without a reading and a lane without a session are left out."""
    lanes = [lane(1, card()), lane(2, reading=None), lane(3, link="none")]
    found = Scrape(lane_metrics(shown_board(*lanes)))
    assert {} == found.values("referee_session_energy_joules", "lane")
    assert {"1": 0} == found.values("referee_session_answers", "lane")
    assert {"1": 1, "2": 1} == found.values("referee_meter_up", "lane")
    assert {"1": 7.25} == found.values("referee_power_watts", "lane")


@pytest.mark.parametrize(
    ("meter", "up"), [({}, 1), ({"old": True}, 0), ({"link": "lost"}, 0), ({"link": "starting"}, 0)]
)
def test_a_meter_is_up_while_it_answers_with_new_readings(meter, up):
    """A lost link, a link that is not there yet, and old readings are down."""
    found = Scrape(lane_metrics(shown_board(lane(**meter))))
    assert up == found.value("referee_meter_up", lane="1")


def test_an_energy_is_in_joules():
    """An hour of a watt is 3,600 joules."""
    found = Scrape(lane_metrics(shown_board(lane(1, card(energy_wh=0.5)))))
    assert {"1": 1800.0} == found.values("referee_session_energy_joules", "lane")


# What promtool calls no base unit, no whole word, or a word that its type says already.
_OTHER_UNITS = (
    r"(milli|micro|nano|kilo|mega|giga)\w+|bits|minutes|hours|days|weeks|calories|percent"
)
_SHORT = r"s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d|w|j|wh"
_TYPES = r"counter|gauge|histogram|summary|info|metric"


def families():
    """Return all metrics, with a sample of each."""
    totals = [RequestTotals(1, 200, 5, 21.5, 3, 100, 2000, (1,) * len(BUCKETS_S))]
    processes = [ProcessFacts("desk", 7, 100, 1.5, 3, 9)]
    board = shown_board(lane(1, card(energy_wh=0.1, score=2.0)))
    made = [*lane_metrics(board), *request_metrics(totals), *machine_metrics(5, processes)]
    return list(text_string_to_metric_families(text_of(made).decode()))


def test_names_are_those_that_promtool_wants():
    """Each metric has a help text, base units, whole words, and the ending of its type alone."""
    assert len(families()) > 20
    for family in families():
        names = {sample.name for sample in family.samples}
        assert names and family.documentation.endswith("."), family
        for name in names:
            assert re.fullmatch("referee(_[a-z]+)+", name), name
            words = name.split("_")
            strange = [
                word for word in words if re.fullmatch(f"{_OTHER_UNITS}|{_SHORT}|{_TYPES}", word)
            ]
            assert [] == strange, name
            assert (words[-1] == "total") == (family.type == "counter"), name
            if family.type != "histogram":
                assert words[-1] not in ("bucket", "count", "sum"), name


def test_the_page_names_each_metric():
    """A metric that the page does not name is found by nobody."""
    page = (Path(__file__).parents[3] / "docs/monitoring.md").read_text(encoding="utf-8")
    told = set(re.findall(r"`(referee_\w+)`", page))
    made = {one.name + "_total" * (one.type == "counter") for one in families()}
    assert made == told


def test_requests_have_counts_and_a_histogram():
    """The last bucket has all requests, and the sum is that of the durations."""
    within = (2,) * (len(BUCKETS_S) - 1) + (4,)
    found = Scrape(request_metrics([RequestTotals(1, 200, 5, 21.5, 3, 100, 2000, within)]))
    of, name = {"lane": "1", "status": "200"}, "referee_contest_request_duration_seconds"
    assert 3 == found.value("referee_contest_images_sent_total", **of)
    assert 2000 == found.value("referee_contest_sent_bytes_total", **of)
    buckets = found.values(f"{name}_bucket", "le")
    assert (2, 4, 5) == (buckets["0.001"], buckets["10.0"], buckets["+Inf"])
    assert (5, 21.5) == (found.value(f"{name}_count", **of), found.value(f"{name}_sum", **of))


def test_the_machine_has_disk_and_processes():
    """Each process has its memory and time under its program's name and number."""
    found = Scrape(machine_metrics(5, [ProcessFacts("desk", 7, 100, 1.5, 3, 9)]))
    of = {"program": "desk", "pid": "7"}
    assert 5 == found.value("referee_disk_free_bytes")
    assert 100 == found.value("referee_process_memory_bytes", **of)
    assert 1.5 == found.value("referee_process_cpu_seconds_total", **of)


def test_processes_are_those_of_the_system():
    """This process is found with its memory; a process that does not exist has nobody below it."""
    (me,) = [one for one in processes_under(os.getpid()) if one.pid == os.getpid()]
    assert me.memory_bytes > 10_000_000 and me.threads >= 1 and me.open_files >= 3
    assert [] == processes_under(0)


def test_programs_are_those_of_the_system():
    """A child is found with its program; a process that does not exist has none."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        assert Path(sys.executable).name == dict(programs_under(os.getpid()))[child.pid]
    assert [] == programs_under(0)


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("/v/bin/python -m referee process contest --lane 2 --config c", "contest-2"),
        ("/v/bin/python -m referee process contest --lane 1", "contest"),
        ("/v/bin/python -m referee process desk --lane", "desk"),
        ("/v/bin/python -m referee serve --config c", "serve"),
        ("/v/bin/python /v/bin/referee practice", "practice"),
        ("/v/bin/python -m power emulate --exit-with-parent", "power emulate"),
        ("/v/bin/python -m referee", "python"),
        ("ssh board", "ssh"),
        ("", "?"),
    ],
)
def test_a_program_has_the_name_that_its_command_line_gives(command, program):
    """The name is that of the referee's process, with its lane, else the command's first word."""
    assert program == program_of("python", command.split())


@pytest.mark.parametrize(
    ("name", "program"),
    [("ref desk", "desk"), ("ref contest-2", "contest-2"), ("power emulate", "power emulate")],
)
def test_a_program_that_has_named_its_process_has_that_name(name, program):
    """A program that was forked has the command line of the referee that started it."""
    assert program == program_of(name, "/v/bin/python -m referee serve".split())
