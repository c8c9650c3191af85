# SPDX-License-Identifier: Apache-2.0
"""What the laptop says about sleep, lid, power and time, and how that is judged."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from referee.service.preflight.clock_jumps import ClockSample, jump_between
from referee.service.preflight.finding import Level
from referee.service.preflight.machine_facts import (
    Inhibitor,
    MachineFacts,
    SleepFacts,
    TimeFacts,
    ask_command,
    read_machine,
)
from referee.service.preflight.machine_rules import machine_findings
from referee.service.preflight.machine_watch import MachineWatch, sample_clocks

NOON = datetime(2026, 6, 7, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
KEEPER = Inhibitor("referee", frozenset({"sleep", "idle", "handle-lid-switch"}), True)
CALM = MachineFacts(
    system="Linux",
    sleep=SleepFacts(inhibitors=(KEEPER,)),
    has_lid=True,
    on_mains=True,
    battery_percent=80,
    time=TimeFacts("CEST", 2 * HOUR, 2 * HOUR, ntp=False, synchronized=False),
)

# As systemd 252 prints it; the column WHY has blanks.
LISTING = """\
NetworkManager 0    root 612  NetworkManager  sleep             NetworkManager needs to turn off \
networks delay
Screen Locker  1000 kim  1423 ksmserver       handle-power-key:handle-lid-switch KDE handles power \
events block
referee        1000 kim  2001 systemd-inhibit sleep:idle        the event runs block
"""


def judged(facts, jumps=()):
    """Return the findings by item."""
    return {it.item: it for it in machine_findings(facts, jumps)}


def test_a_laptop_that_will_not_sleep():
    """With a blocker, mains and a clock that nothing sets, all is OK."""
    assert {Level.OK} == {it.level for it in judged(CALM).values()}


@pytest.mark.parametrize(
    ("changes", "item", "words"),
    [
        ({"sleep": SleepFacts()}, "sleep", "nothing keeps"),
        ({"sleep": SleepFacts({"IdleAction": "suspend"})}, "sleep", "idle it does: suspend"),
        ({"sleep": SleepFacts(inhibitors=(replace(KEEPER, blocks=False),))}, "sleep", "nothing"),
        ({"sleep": SleepFacts()}, "lid", "suspend"),
        ({"sleep": SleepFacts({"HandleLidSwitchExternalPower": "hibernate"})}, "lid", "hibernate"),
        ({"open_files": 1024}, "open files", "takes 824 connections in place of 1000"),
        ({"on_mains": False}, "power", "on battery, 80 % left"),
        ({"time": TimeFacts("CEST", 2 * HOUR, HOUR, ntp=False)}, "time zone", "UTC+01:00"),
        ({"time": TimeFacts("CEST", HOUR, HOUR, True, False)}, "clock setting", "no server yet"),
        (
            {"time": TimeFacts("CEST", HOUR, HOUR, True, True, steps_any_time=True)},
            *("clock setting", "chrony"),
        ),
    ],
)
def test_what_may_disturb_an_event(changes, item, words):
    """Each of these is a warning with a remedy."""
    finding = judged(replace(CALM, **changes))[item]
    assert (Level.WARN, True) == (finding.level, words in finding.text)
    assert finding.remedy


def test_a_limit_below_the_share_of_one_address_fails():
    """No event begins while a server could not even take the connections of one address."""
    finding = judged(replace(CALM, open_files=256))["open files"]
    assert (Level.FAIL, True) == (finding.level, "may open 256 files" in finding.text)
    assert "LimitNOFILE=" in finding.remedy


@pytest.mark.parametrize(
    ("changes", "item"),
    [
        ({"sleep": None}, "sleep"),
        ({"sleep": None}, "lid"),
        ({"time": TimeFacts("CEST", HOUR, HOUR)}, "clock setting"),
    ],
)
def test_what_nobody_can_check_here_is_a_note(changes, item):
    """A warning that nothing could ever remove would teach to ignore warnings."""
    finding = judged(replace(CALM, **changes))[item]
    assert (Level.OK, True) == (finding.level, finding.text.startswith("not checked here: "))
    assert finding.remedy


@pytest.mark.parametrize("item", ["sleep", "lid"])
def test_what_begins_with_the_referee_is_a_note_before(item):
    """The laptop is kept awake together with the referee: before, nothing can be put right."""
    facts = replace(CALM, sleep=SleepFacts())
    note = judged(facts, None)[item]
    assert (Level.OK, True) == (note.level, note.text.startswith("not checked here: "))
    assert "systemd-inhibit" in note.remedy
    assert Level.WARN is judged(facts)[item].level
    assert "held back by referee" == judged(CALM, None)["sleep"].text


@pytest.mark.parametrize(
    ("changes", "item"),
    [
        ({"sleep": SleepFacts(masked=True)}, "sleep"),
        ({"sleep": SleepFacts(masked=True)}, "lid"),
        ({"sleep": SleepFacts({"HandleLidSwitch": "ignore"})}, "lid"),
        ({"sleep": SleepFacts(), "has_lid": False}, "lid"),
        ({"on_mains": None}, "power"),
        ({"time": TimeFacts("IST", HOUR, HOUR, True, True)}, "clock setting"),
    ],
)
def test_what_disturbs_nothing(changes, item):
    """A masked sleep, a lid that does nothing, no lid, no battery and a set clock are OK."""
    assert Level.OK is judged(replace(CALM, **changes))[item].level


def test_a_lid_counts_by_the_power_that_feeds_the_laptop():
    """What the lid does on mains does not count on battery."""
    sleep = SleepFacts({"HandleLidSwitchExternalPower": "ignore"})
    assert Level.OK is judged(replace(CALM, sleep=sleep))["lid"].level
    assert Level.WARN is judged(replace(CALM, sleep=sleep, on_mains=False))["lid"].level


def test_facts_are_read_from_the_system(tmp_path):
    """Drop-ins override, inhibitors are told apart, batteries of mice do not count."""
    for name, text in {
        "run/systemd/system/x": "",
        "usr/lib/systemd/logind.conf": "[Login]\n#HandleLidSwitch=suspend\nIdleAction=suspend\n",
        "etc/systemd/logind.conf.d/90-lid.conf": "[Login]\nHandleLidSwitch=ignore\n",
        "etc/systemd/logind.conf.d/10-lid.conf": "[Login]\nHandleLidSwitch=hibernate\n",
        "proc/acpi/button/lid/LID0/state": "state: open",
        "sys/class/power_supply/AC/type": "Mains\n",
        "sys/class/power_supply/AC/online": "0\n",
        "sys/class/power_supply/BAT0/type": "Battery\n",
        "sys/class/power_supply/BAT0/status": "Discharging\n",
        "sys/class/power_supply/BAT0/capacity": "63\n",
        "sys/class/power_supply/mouse/type": "Battery\n",
        "sys/class/power_supply/mouse/scope": "Device\n",
        "run/chrony/chronyd.pid": "7",
        "etc/chrony/chrony.conf": "pool x\nmakestep 1 -1\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "etc/systemd/system").mkdir()
    (tmp_path / "etc/systemd/system/sleep.target").symlink_to("/dev/null")
    answers = {
        "systemd-inhibit": LISTING,
        "timedatectl": "Timezone=Europe/Berlin\nNTP=yes\nNTPSynchronized=no\n",
    }
    facts = read_machine(tmp_path, lambda command: answers[command[0]], NOON)
    assert {"HandleLidSwitch": "ignore", "IdleAction": "suspend"} == facts.sleep.settings
    assert facts.sleep.masked and facts.has_lid
    assert [False, True, True] == [it.blocks for it in facts.sleep.inhibitors]
    assert {"handle-power-key", "handle-lid-switch"} == facts.sleep.inhibitors[1].what
    assert (False, 63) == (facts.on_mains, facts.battery_percent)
    assert (True, False) == (facts.time.ntp, facts.time.synchronized)
    assert facts.time.steps_any_time


def test_an_empty_system_tells_nothing(tmp_path):
    """Without systemd, batteries and commands there are no facts, and no error."""
    facts = read_machine(tmp_path, lambda command: None, NOON)
    assert (None, None, False) == (facts.sleep, facts.on_mains, facts.has_lid)
    assert ask_command(["/no/such/program"]) is None


def test_a_command_answers_in_no_language(monkeypatch):
    """A laptop in German gives the same words as any other one."""
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert "C.UTF-8" == ask_command(["sh", "-c", 'printf %s "$LC_ALL"'])


def sample(monotonic_s, utc_s, boot_s=None):
    """Return a sample of the clocks, in seconds since noon."""
    return ClockSample(monotonic_s, NOON + timedelta(seconds=utc_s), boot_s)


@pytest.mark.parametrize(
    ("later", "stepped_s", "slept_s"),
    [
        (sample(1, 1, 1), None, None),
        (sample(1, 1.5, 1), None, None),
        (sample(1, 1.6, 1), 0.6, 0.0),
        (sample(1, -3599, 1), -3600.0, 0.0),
        (sample(1, 301, 301), 0.0, 300.0),
        (sample(1, 301), 300.0, 0.0),
    ],
)
def test_jumps_and_sleep_are_told_apart(later, stepped_s, slept_s):
    """A sleep moves the clock that goes on while the laptop sleeps; a step does not."""
    jump = jump_between(sample(0, 0, None if later.boot_s is None else 0), later)
    if stepped_s is None:
        assert jump is None
    else:
        assert jump is not None
        assert (stepped_s, slept_s) == (pytest.approx(jump.stepped_s), pytest.approx(jump.slept_s))


def test_the_watch_tells_each_jump_once():
    """A jump is a sentence and a finding; a quiet second is neither."""
    samples = iter([sample(0, 0), sample(1, 1), sample(2, 3602), sample(3, 3603)])
    told = []
    watch = MachineWatch(lambda: CALM, lambda: next(samples), told.append)
    for _ in range(3):
        watch.look()
    assert 1 == len(watch.jumps) == len(told)
    assert told[0].startswith("The clock jumped by +3600.0 s at ")
    assert Level.WARN is judged(CALM, watch.jumps)["clock"].level


def test_the_clocks_of_this_machine_go_on():
    """Two samples one after the other hold no jump."""
    assert jump_between(sample_clocks(), sample_clocks()) is None
