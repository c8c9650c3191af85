# SPDX-License-Identifier: Apache-2.0
"""The board: figures with their age, and every session with its reasons.

It is long because the board shows each state of a session, a meter and a lane, and a wrong one
would stand before operators.
"""

from __future__ import annotations

import errno
import json
import socket
from dataclasses import replace

import pytest

from power.meter import IntegrationState
from referee.core.detections import Detections, pack
from referee.core.states import EndCause
from referee.errors import Refusal
from referee.service.board import addresses, board
from referee.service.board.addresses import contestants_urls
from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.desk.metering import LinkState, MeterStatus
from referee.store.answers import Answer, insert_answer
from referee.store.notices import Notice, insert_notice
from referee.store.readings import insert_energy, insert_reading
from referee.store.scores import Snapshot, insert_snapshot
from referee.store.session_clients import insert_session_clients
from tests.support.fakes import FakeMeter, running_desk
from tests.support.shown import as_json
from tests.support.teams import give_password


class Shown:
    """A contest and its board, with a meter whose status the test sets."""

    def __init__(self, contest, desk) -> None:
        self.contest = contest
        self.clock = contest.clock
        self.desk = desk
        self.meter = FakeMeter(contest.clock)
        self.status = MeterStatus(LinkState.OK, "", FakeMeter.IDENTITY)
        self.unstored: list[Notice] = []
        self.board = Board(
            contest, [ShownLane(lambda: self.status)], unstored=lambda: self.unstored
        )

    def current(self, key):
        """Return a field of the session on the big card."""
        return self.lane()["current"][key]

    def lane(self):
        """Return the board's only lane."""
        (lane,) = as_json(self.board.show())["lanes"]
        return lane

    def read(self, **changes):
        """Let the meter give a reading."""
        reading = replace(self.meter.read(), **changes)
        self.status = replace(self.status, reading=reading)
        return reading

    def lose(self):
        """Lose the link, as metering reports it."""
        self.status = MeterStatus(LinkState.LOST, "No link to the meter.", FakeMeter.IDENTITY)

    def run(self, team="ants"):
        """Begin a session of a team."""
        session_id = self.desk.new_session(team, "Kim")
        self.desk.steps_of(session_id).arm(session_id, "Kim")
        return self.desk.begin(team, "10.0.0.2")

    def store(self, session_id, elapsed_s, **changes):
        """Store a reading of a session."""
        reading = replace(self.meter.read(), **changes)
        with self.contest.database.write() as connection:
            insert_reading(connection, session_id, elapsed_s, reading, "this boot")

    def answer(self, session_id, *rows, flagged=0, late=False):
        """Store an answer of these rows."""
        answer = Answer(
            session_id=session_id,
            elapsed_s=1.0,
            utc=self.clock.now().utc.isoformat(),
            late=late,
            format="csv",
            address="10.0.0.2",
            row_count=len(rows),
            flagged_count=flagged,
            content=pack(Detections.from_rows(list(rows))),
        )
        with self.contest.database.write() as connection:
            insert_answer(connection, answer)

    def snapshot(self, session_id, mean_ap):
        """Store a live mAP."""
        with self.contest.database.write() as connection:
            insert_snapshot(connection, session_id, "", Snapshot(1, mean_ap, 1))

    def notice(self, session_id, level, text):
        """Store a notice of this moment."""
        with self.contest.database.write() as connection:
            insert_notice(connection, session_id, self.clock.now().utc.isoformat(), level, text)

    def judge(self, session_id, energy_wh, verdict, *reasons):
        """Store a judged energy."""
        with self.contest.database.write() as connection:
            insert_energy(
                connection,
                session_id,
                utc="",
                energy_wh=energy_wh,
                uncertainty_wh=None,
                verdict=verdict,
                detail={"reasons": list(reasons)},
            )


@pytest.fixture
def shown(contest):
    """Return the board of an event whose desk has no meter of its own."""
    with running_desk(contest, None) as desk:
        yield Shown(contest, desk)


GOOD = (1, 1, 0.5, 1, 2, 10, 11)


def test_board_before_anything(shown):
    """Without a session the board has all its fields, and JSON can hold it."""
    board = as_json(shown.board.show())
    json.dumps(board, allow_nan=False)
    assert (None, [], []) == (board["lanes"][0]["current"], board["sessions"], board["teams"])
    assert (4, 2, 600, "event") == (
        board["images"],
        board["classes"],
        board["settings"]["seconds"],
        board["settings"]["mode"],
    )


# The meter


@pytest.mark.parametrize(("seconds", "old"), [(0, False), (2.9, False), (3.1, True), (100, True)])
def test_age_of_the_last_reading(shown, seconds, old):
    """A reading carries its age, and counts as old after three update intervals of a second."""
    shown.read()
    shown.clock.advance(seconds)
    meter = shown.lane()["meter"]
    assert pytest.approx(seconds) == meter["reading"]["age_s"]
    assert ("ok", old) == (meter["link"], meter["old"])


def test_lost_meter_keeps_its_last_reading(shown):
    """The board keeps the last reading and its time, although the link's status forgets both."""
    reading = shown.read(power_w=4.5)
    as_json(shown.board.show())
    shown.lose()
    shown.clock.advance(12)
    meter = shown.lane()["meter"]
    assert (True, "lost", "No link to the meter.") == (meter["old"], meter["link"], meter["text"])
    assert (4.5, 12.0) == (meter["reading"]["power_w"], meter["reading"]["age_s"])
    assert reading.utc.isoformat() == meter["reading"]["utc"]


def test_desk_that_was_started_anew_knows_the_stored_reading(shown):
    """A desk without a reading of its own shows the session's stored reading."""
    session_id = shown.run()
    shown.store(session_id, 0.0, power_w=3.5)
    shown.clock.advance(20)
    shown.lose()
    meter = shown.lane()["meter"]
    assert (3.5, 20.0) == (meter["reading"]["power_w"], meter["reading"]["age_s"])


def test_no_meter_is_not_an_old_one(shown):
    """Sessions without a meter give no alarm."""
    shown.status = MeterStatus(LinkState.NONE)
    meter = shown.lane()["meter"]
    assert ("none", False, None) == (meter["link"], meter["old"], meter["reading"])


def test_numbers_that_the_meter_lacks(shown):
    """An absent value is null with its reason, never a number."""
    shown.read(power_w=None, absent={"power_w": "over range"})
    reading = shown.lane()["meter"]["reading"]
    assert (None, {"power_w": "over range"}) == (reading["power_w"], reading["absent"])


@pytest.mark.parametrize(
    ("resource", "emulated"),
    [
        ("emulated", True),
        ("TCPIP::127.0.0.1,4000::inst0::INSTR", True),
        ("USB0::1::INSTR", False),
        ("none", False),
    ],
)
def test_board_says_whether_the_meter_is_emulated(shown, resource, emulated):
    """The board says that a meter is emulated, and does not say so of a real one."""
    config = shown.contest.config
    other = replace(config, meter=replace(config.meter, resource=resource))
    board = Board(replace(shown.contest, config=other), [ShownLane(lambda: shown.status)])
    shown_meter = as_json(board.show())["lanes"][0]["meter"]
    assert (emulated, resource == "emulated") == (shown_meter["emulated"], shown_meter["restarts"])


def test_a_meter_without_samples_is_old(shown):
    """Readings that come while the device behind them is silent are no news."""
    shown.run()
    shown.read(power_w=None, absent={"power_w": "the first update is not complete"})
    assert not shown.lane()["meter"]["old"]
    shown.read(power_w=None, absent={"power_w": "no sample for 4.2 s"})
    assert shown.lane()["meter"]["old"]


def test_lost_meter_has_one_voice(shown):
    """The red bar, the meter's line and the session's line come from one place, and agree."""
    shown.run()
    shown.read()
    assert as_json(shown.board.show())["alarm"] is None
    shown.lose()
    board = as_json(shown.board.show())
    assert board["alarm"]["text"].startswith("The power meter is lost, but the session goes on.")
    assert "No link to the meter." == board["alarm"]["detail"]
    (lane,) = board["lanes"]
    assert ("lost", "The clock runs.") == (lane["meter"]["word"], lane["current"]["text"])


# Figures of a session


@pytest.mark.parametrize(("seconds", "short"), [(0.2, True), (9.9, True), (10.0, False)])
def test_session_that_was_too_short_is_marked(shown, seconds, short):
    """A session shorter than ten update intervals has no exact energy, and shows its length."""
    session_id = shown.run()
    shown.clock.advance(seconds)
    shown.desk.steps_of(session_id).end(session_id, EndCause.LOGOUT, "ants")
    shown.clock.advance(50)
    ended = as_json(shown.board.session(session_id))
    assert (pytest.approx(seconds), short) == (ended["ran_s"], ended["too_short"])


def test_session_of_its_whole_length_is_not_too_short(contest):
    """The meter's own timer ends a session at its deadline, so even a short energy is exact."""
    settings = replace(contest.config.contest, seconds=5)
    contest = replace(contest, config=replace(contest.config, contest=settings))
    with running_desk(contest, None) as desk:
        shown = Shown(contest, desk)
        session_id = shown.run()
        contest.clock.advance(5)
        desk.steps_of(session_id).end(session_id, EndCause.DEADLINE, "clock")
        ended = as_json(shown.board.session(session_id))
        assert (5.0, False) == (ended["ran_s"], ended["too_short"])


def test_session_that_has_not_begun_is_not_too_short(shown):
    """A session has no length before its start."""
    ready = as_json(shown.board.session(shown.desk.new_session("ants", "Kim")))
    assert (None, False) == (ready["ran_s"], ready["too_short"])


def test_score_so_far_and_none_while_the_meter_is_lost(shown):
    """While the meter is lost, mAP goes on, the energy keeps its time, and no score is shown."""
    session_id = shown.run()
    shown.read()
    shown.store(session_id, 10.0, energy_wh=0.25, state=IntegrationState.START)
    shown.snapshot(session_id, 0.5)
    current = shown.lane()["current"]
    assert (0.5, 0.25, 2.0) == (current["mean_ap"], current["energy_wh"], current["score"])
    assert (False, None) == (current["final"], current["verdict"])
    read_at = shown.clock.now().utc.isoformat()
    shown.lose()
    shown.clock.advance(30)
    shown.snapshot(session_id, 0.6)
    current = shown.lane()["current"]
    assert (0.6, 0.25, None) == (current["mean_ap"], current["energy_wh"], current["score"])
    assert read_at == current["energy_utc"]


def test_session_that_ended_says_what_it_waits_for(shown):
    """The wait for a lost meter counts down in seconds and ends with the verdict."""
    session_id = shown.run()
    assert as_json(shown.board.session(session_id))["settling_left_s"] is None
    shown.judge(session_id, 0.5, "SUSPECT", "It was read once.")
    shown.desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
    ended = as_json(shown.board.session(session_id))
    assert ("ENDED", None) == (ended["state"], ended["settling_left_s"])
    assert (["It was read once."], False) == (ended["reasons"], ended["final"])


def test_waiting_for_the_meter_is_bounded(contest, meter):
    """An ended session without a verdict says how long it still waits for its energy."""
    with running_desk(contest, meter) as desk:
        shown = Shown(contest, desk)
        session_id = shown.run()
        meter.lost = True
        desk.steps_of(session_id).end(session_id, EndCause.STOP, "Kim")
        assert 120.0 == as_json(shown.board.session(session_id))["settling_left_s"]
        contest.clock.advance(50)
        assert 70.0 == as_json(shown.board.session(session_id))["settling_left_s"]
        meter.lost = False


def test_boxes_that_can_never_match_by_reason(shown):
    """Each flagged box counts once, under its reason; late answers and good boxes do not count."""
    session_id = shown.run()
    assert {} == as_json(shown.board.session(session_id))["flag_counts"]
    shown.answer(session_id, (9, 1, 0.5, 1, 2, 10, 11), GOOD, (1, 7, 0.5, 1, 2, 3, 4), flagged=2)
    assert {"unknown image": 1, "class out of range": 1} == (
        as_json(shown.board.session(session_id))["flag_counts"]
    )
    shown.answer(session_id, GOOD)
    shown.answer(session_id, (0, 1, 0.5, 1, 2, 10, 11), flagged=1, late=True)
    shown.answer(session_id, (-1, 1, 0.5, 1, 2, 10, 11), (1, 1, 0.5, 9, 2, 1, 4), flagged=2)
    current = shown.lane()["current"]
    assert {"unknown image": 2, "class out of range": 1, "inverted box": 1} == (
        current["flag_counts"]
    )
    assert ["unknown image"] == list(current["flag_counts"])[:1]
    assert current["flagged"] == sum(current["flag_counts"].values())


def test_power_of_a_session(shown):
    """Readings come in order with their second, an absent power as null, in parts."""
    session_id = shown.run()
    for second, power_w in enumerate([5.0, None, 4.0]):
        shown.store(session_id, float(second), power_w=power_w)
    samples = shown.board.power(session_id)
    assert [[0.0, 5.0], [1.0, None], [2.0, 4.0]] == [sample[1:] for sample in samples]
    assert samples[1:] == shown.board.power(session_id, samples[0][0])
    assert [] == shown.board.power(session_id, samples[-1][0])
    with pytest.raises(Refusal):
        shown.board.power(77)


def test_the_power_of_a_long_session_is_thinned(shown, monkeypatch):
    """Of more readings than a chart can show there is one of each time, the last one of it."""
    session_id = shown.run()
    monkeypatch.setattr(board, "_SAMPLES_SHOWN", 4)  # One reading of each 150 s.
    for n in range(8):
        shown.store(session_id, 75.0 * n, power_w=float(n))
    assert [1.0, 3.0, 5.0, 7.0] == [watts for _, _, watts in shown.board.power(session_id)]


# Which session is shown


def test_current_is_the_live_one_and_any_other_can_be_asked_for(shown):
    """A newer READY session leaves the running one on the card."""
    first = shown.run("ants")
    second = shown.desk.new_session("bees", "Kim")
    assert first == shown.lane()["current"]["id"]
    assert "READY" == as_json(shown.board.session(second))["state"]
    shown.desk.steps_of(first).void(first, "Kim", "wrong device")
    assert second == shown.lane()["current"]["id"]
    assert "wrong device" == as_json(shown.board.session(first))["void_reason"]
    with pytest.raises(Refusal, match="There is no session 77"):
        as_json(shown.board.session(77))


def test_a_result_stays_until_the_next_session_is_armed(shown):
    """The next READY session leaves an unread result on the card."""
    first = shown.run("ants")
    second = shown.desk.new_session("bees", "Kim")
    third = shown.desk.new_session("crabs", "Kim")
    shown.desk.steps_of(first).end(first, EndCause.STOP, "Kim")
    assert (first, "ENDED") == (shown.current("id"), shown.current("state"))
    shown.clock.advance(3600)
    assert first == shown.current("id")
    shown.desk.steps_of(second).arm(second, "Kim")
    assert second == shown.current("id")
    shown.desk.steps_of(second).void(second, "Kim", "wrong device")
    assert third == shown.current("id")


def test_of_two_ready_sessions_the_older_is_shown(shown):
    """The older of two READY sessions comes next."""
    first = shown.desk.new_session("ants", "Kim")
    shown.desk.new_session("bees", "Kim")
    assert first == shown.current("id")


def test_a_void_session_is_shown_where_there_is_no_other(shown):
    """Without a live, ended or READY session the card shows the newest one."""
    first = shown.desk.new_session("ants", "Kim")
    shown.desk.steps_of(first).void(first, "Kim", "withdrawn")
    assert (first, "VOID") == (shown.current("id"), shown.current("state"))


# The red bar


def test_without_trouble_there_is_no_alarm(shown):
    """There is no red bar while the meter answers and no notice is an alarm."""
    shown.read()
    shown.run()
    assert as_json(shown.board.show())["alarm"] is None


def test_what_the_disk_refuses_is_on_the_board_all_the_same(shown):
    """An alarm that the disk refuses stays in the list and in the bar until it is stored."""
    utc = shown.clock.now().utc.isoformat()
    shown.unstored = [Notice(0, None, utc, "alarm", "The disk refuses the desk's records.")]
    shown.clock.advance(3600)
    board = as_json(shown.board.show())
    assert "The disk refuses" in board["alarm"]["text"]
    assert "The disk refuses" in board["notices"][0]["text"]


# The emulated meter


@pytest.mark.parametrize(
    ("resource", "emulated"),
    [("emulated", True), ("TCPIP::localhost::inst0::INSTR", True), ("none", False)],
)
def test_an_emulated_meter_is_said(shown, resource, emulated):
    """The meter and each session say whether an emulator measured the energy."""
    config = shown.contest.config
    meter = replace(config.meter, resource=resource)
    contest = replace(shown.contest, config=replace(config, meter=meter))
    shown.desk.new_session("ants", "Kim")
    board = as_json(Board(contest, [ShownLane(lambda: shown.status)]).show())
    assert [emulated] * 3 == [
        board["lanes"][0]["meter"]["emulated"],
        board["lanes"][0]["current"]["emulated"],
        board["sessions"][0]["emulated"],
    ]


def test_next_in_line_is_the_one_that_was_made_first(shown):
    """The board names the READY session that waits longest, or none."""
    assert shown.lane()["next"] is None
    first = shown.desk.new_session("ants", "Kim")
    second = shown.desk.new_session("bees", "Kim")
    assert {"id": first, "team": "ants"} == shown.lane()["next"]
    shown.desk.steps_of(first).arm(first, "Kim")
    assert {"id": second, "team": "bees"} == shown.lane()["next"]
    shown.desk.steps_of(second).void(second, "Kim", "they went home")
    assert shown.lane()["next"] is None


def test_new_session_is_refused_while_one_is_ready(shown):
    """A second click makes no second session; another team or a click after arming makes one."""
    first = shown.desk.new_session("ants", "Kim")
    with pytest.raises(Refusal, match=f"Session {first} of 'ants' is READY") as refused:
        shown.desk.new_session("ants", "Kim")
    assert "session_ready" == refused.value.code
    assert first + 1 == shown.desk.new_session("bees", "Kim")
    shown.desk.steps_of(first).arm(first, "Kim")
    assert first + 2 == shown.desk.new_session("ants", "Kim")
    assert 3 == len(as_json(shown.board.show())["sessions"])


# Notices, teams, addresses


def test_notices_have_the_second_of_the_session(shown):
    """A session's notice says its second of the session; any other notice goes by its time."""
    shown.notice(None, "info", "before")
    shown.clock.advance(5)
    session_id = shown.run()
    shown.clock.advance(37)
    shown.notice(None, "alarm", "within")
    shown.notice(session_id, "info", "its own")
    notices = {n["text"]: (n["session"], n["at_s"]) for n in as_json(shown.board.show())["notices"]}
    assert (None, None) == notices["before"]
    assert (session_id, 37.0) == notices["within"] == notices["its own"]


@pytest.mark.slow
def test_team_that_is_added_later_appears(shown):
    """A team that is registered later is in the list."""
    assert [] == as_json(shown.board.show())["teams"]
    give_password(shown.contest.config.teams, "bees")
    give_password(shown.contest.config.teams, "ants")
    board = as_json(shown.board.show())
    assert (["ants", "bees"], None) == (board["teams"], board["teams_text"])


def test_damaged_list_of_teams_is_told(shown):
    """A damaged teams.csv leaves the rest of the board complete."""
    shown.contest.config.teams.write_text("nonsense\n")
    board = as_json(shown.board.show())
    assert [] == board["teams"]
    assert "teams.csv" in board["teams_text"]


def test_practice_tells_the_password(practice):
    """In a rehearsal the page shows how to log in."""
    status = MeterStatus(LinkState.NONE)
    board = as_json(Board(practice, [ShownLane(lambda: status)]).show())
    assert ("practice", []) == (board["contestants"]["password"], board["teams"])


def test_event_tells_no_password(shown):
    """In an event the page shows no password."""
    assert as_json(shown.board.show())["contestants"]["password"] is None


@pytest.mark.parametrize(
    ("address", "urls"),
    [
        ("192.168.1.3:8000", ["http://192.168.1.3:8000"]),
        ("127.0.0.1:8000", ["http://127.0.0.1:8000"]),
        ("[fd00::3]:8000", ["http://[fd00::3]:8000"]),
        ("0.0.0.0:0", []),
    ],
)
def test_address_that_contestants_use(address, urls):
    """The board tells the configured address, or that the system chose an unknown port."""
    assert urls == contestants_urls(address)


def test_address_on_all_networks(monkeypatch):
    """For a server on all networks the board lists the machine's addresses but no loopback."""
    networks = {"lo": "127.0.0.1", "eth0": "192.0.2.3", "down0": None, "wlan0": "198.51.100.7"}

    def ioctl(probe, request, interface):
        address = networks[interface.rstrip(b"\0").decode()]
        if address is None:
            raise OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")
        return bytes(20) + socket.inet_aton(address) + bytes(232)

    monkeypatch.setattr(addresses.sys, "platform", "linux")
    monkeypatch.setattr(addresses.socket, "if_nameindex", lambda: list(enumerate(networks, 1)))
    monkeypatch.setattr(addresses.fcntl, "ioctl", ioctl)
    expected = ["http://192.0.2.3:8000", "http://198.51.100.7:8000"]
    assert expected == contestants_urls("0.0.0.0:8000")


def test_address_on_all_networks_of_both_kinds(monkeypatch, tmp_path):
    """[::] has the lasting addresses of IPv6 behind those of IPv4, in brackets."""
    rows = [
        "00000000000000000000000000000001 01 80 10 80       lo",
        "fe8000000000000000fc00fffe000001 04 40 20 80     eth0",
        "fd000000000000000000000000000002 04 40 00 80     eth0",
        "20010db8000000000000000000000007 04 40 00 01     eth0",
        "20010db8000000000000000000000008 04 40 00 40     eth0",
    ]
    (tmp_path / "if_inet6").write_text("\n".join(rows))
    monkeypatch.setattr(addresses, "_IF_INET6", tmp_path / "if_inet6")
    monkeypatch.setattr(addresses, "_network_addresses", lambda: ["192.0.2.3"])
    monkeypatch.setattr(addresses.sys, "platform", "linux")
    both = ["http://192.0.2.3:8000", "http://[fd00::2]:8000"]
    assert both == contestants_urls("[::]:8000") == contestants_urls(":::8000")
    assert both[:1] == contestants_urls("0.0.0.0:8000")
    (tmp_path / "if_inet6").unlink()
    assert both[:1] == contestants_urls("[::]:8000")


def test_a_card_says_what_its_client_calls_itself(shown):
    """An operator sees what runs the model, in the order of the logins."""
    number = shown.run()
    with shown.contest.database.write() as connection:
        insert_session_clients(connection, [(number, name, "then") for name in ("a/1", "b/2")])
    assert ["a/1", "b/2"] == shown.current("clients")
