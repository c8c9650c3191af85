# SPDX-License-Identifier: Apache-2.0
"""Teams are imported whole, renamed with their sessions, and withdrawn on record.

It tests `registration_changes.py` too: teams are imported and changed by one record.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from referee.errors import InputError
from referee.formats.team_table import TeamLine
from referee.service.entry.team_list import registered_teams
from referee.service.entry.teams import EventTeams
from referee.service.teams import registration_changes
from referee.service.teams.registration import add_team, import_teams
from referee.service.teams.registration_changes import (
    amend,
    bring_back,
    new_passwords,
    remove,
    rename,
    withdraw,
)
from referee.service.teams.roster import read_roster
from referee.service.teams.team_words import look_alike_warnings
from referee.store.sessions import all_sessions, create_session, latest_of_team, record_event
from referee.store.teams import Registration, ensure_team, insert_registration, names_of_team
from tests.support.teams import give_password

LINES = [TeamLine(2, "ants", "Uni"), TeamLine(3, "bees", "Uni", prizes=False)]


def session(contest, team, *kinds):
    """Give a team a session with these events, and return its number."""
    with contest.database.write() as connection:
        now = contest.clock.now()
        number = create_session(connection, team=team, length_s=600, order_seed=None, now=now)
        for kind in kinds:
            cause = {"ended": "stop", "voided": "meter lost"}.get(kind)
            record_event(connection, number, kind, now, actor="Kim", cause=cause)
    return number


def names(contest):
    """Return the names on the roster."""
    return [team.name for team in read_roster(contest).teams]


def admitted(contest, name, password):
    """Tell whether this pair may log in."""
    return EventTeams(contest.config.teams).admitted(name, password) is not None


def test_a_table_is_registered_whole(contest):
    """Imported teams are on the roster with what the table says, and have no password yet."""
    assert ["ants", "bees"] == import_teams(contest, LINES, "teams.csv", "Kim")
    ants, bees = read_roster(contest).teams
    assert (Registration("Uni", True), Registration("Uni", False)) == (
        ants.registration,
        bees.registration,
    )
    assert [False, False] == [ants.has_password, bees.has_password]


def test_a_table_with_a_known_team_registers_nobody(contest):
    """One team that is registered already refuses the table, with each such line."""
    give_password(contest.config.teams, "wasps")
    add_team(contest, "bees", Registration(), "Kim")
    lines = [TeamLine(2, "flies"), TeamLine(3, "BEES"), TeamLine(9, "Wasps")]
    with pytest.raises(InputError, match="nothing was imported") as refused:
        import_teams(contest, lines, "teams.csv", "Kim")
    assert "line 3: 'bees' is registered already" in str(refused.value)
    assert "line 9: 'wasps' is registered already" in str(refused.value)
    assert {"bees", "wasps"} == set(names(contest))


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\nb", "a\0b", "a\tb", "\u200b"])
def test_a_name_that_nobody_can_type_is_refused(contest, name):
    """A name of invisible characters, or a longer one than a table may have, registers nobody."""
    with pytest.raises(InputError, match="printable"):
        add_team(contest, name, Registration(), "Kim")
    assert [] == names(contest)


def test_a_second_import_of_the_same_table_changes_nothing(contest):
    """A table that was imported is refused when it comes again."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    with pytest.raises(InputError, match="line 2: 'ants' is registered already"):
        import_teams(contest, LINES, "teams.csv", "Kim")
    assert ["ants", "bees"] == names(contest)


def test_new_passwords_replace_the_old_ones(contest):
    """All active teams get a password, or only those that are named."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    first = new_passwords(contest, [], "Kim")
    assert all(admitted(contest, name, password) for name, password in first.items())
    second = new_passwords(contest, ["bees"], "Kim")
    assert ["bees"] == list(second)
    assert [True, False, True] == [
        admitted(contest, "ants", first["ants"]),
        admitted(contest, "bees", first["bees"]),
        admitted(contest, "bees", second["bees"]),
    ]


def test_a_team_in_its_session_keeps_its_password(contest):
    """No new password for any team while one of them could need its own to log in again."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    new_passwords(contest, [], "Kim")
    before = registered_teams(contest.config.teams)
    session(contest, "ants", "armed")
    with pytest.raises(InputError, match="Session 1 of 'ants' is ARMED"):
        new_passwords(contest, [], "Kim")
    assert before == registered_teams(contest.config.teams)


def test_others_write_while_passwords_are_hashed(contest):
    """The database is nobody's while the hashes, which take seconds, are made."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    with closing(sqlite3.connect(contest.database.path, timeout=0, isolation_level=None)) as other:

        def write(*counts):
            other.execute("begin immediate")
            other.execute("rollback")
            told.append(counts)

        told = []
        new_passwords(contest, [], "Kim", write)
    assert [(1, 2), (2, 2)] == told


@pytest.mark.parametrize("change", ["armed", "withdrawn", "renamed"])
def test_a_team_that_changes_while_passwords_are_hashed_keeps_its_own(contest, change):
    """The teams are looked at again before the new hashes are stored; then none changes."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    first = new_passwords(contest, [], "Kim")

    def meanwhile(done, total):
        if done == total and change == "armed":
            session(contest, "ants", "armed")
        elif done == total and change == "withdrawn":
            withdraw(contest, "ants", "broken", "Kim")
        elif done == total:
            rename(contest, "ants", "wasps", "Kim")

    with pytest.raises(InputError, match="ARMED|has withdrawn|was renamed while"):
        new_passwords(contest, [], "Kim", meanwhile)
    assert admitted(contest, "bees", first["bees"])
    assert admitted(contest, "wasps" if change == "renamed" else "ants", first["ants"])


def test_a_renamed_team_keeps_password_sessions_and_place(contest):
    """The sessions of a renamed team are those of the new name."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    passwords = new_passwords(contest, [], "Kim")
    number = session(contest, "ants", "armed", "started", "ended")
    assert "Red Ants" == rename(contest, "ants", " Red  Ants ", "Kim")
    assert ["Red Ants", "bees"] == names(contest)
    assert admitted(contest, "Red Ants", passwords["ants"])
    assert not admitted(contest, "ants", passwords["ants"])
    connection = contest.database.connection
    assert number == latest_of_team(connection, "Red Ants").session_id
    assert latest_of_team(connection, "ants") is None
    assert ["ants", "Red Ants"] == names_of_team(connection, "Red Ants")
    assert ["Red Ants"] == [one.team for one in all_sessions(connection)]
    assert number + 1 == session(contest, "Red Ants")
    assert 2 == len(read_roster(contest).find("Red Ants").attempts)


def test_a_renaming_can_be_repeated_and_taken_back(contest):
    """The same renaming again changes nothing; a team may take back its own old name."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    for _ in range(2):
        assert "wasps" == rename(contest, "ants", "wasps", "Kim")
    assert "WASPS" == rename(contest, "wasps", "WASPS", "Kim")
    assert "ants" == rename(contest, "WASPS", "ants", "Kim")
    assert ["ants", "bees"] == names(contest)


@pytest.mark.parametrize("name", ["bees", " BEES", "flies"])
def test_a_name_never_goes_from_one_team_to_another(contest, name):
    """No team takes a name that another has, or had: evidence holds it."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    rename(contest, "bees", "flies", "Kim")
    with pytest.raises(InputError, match="is registered already, or was"):
        rename(contest, "ants", name, "Kim")
    with pytest.raises(InputError, match="is registered already, or was"):
        add_team(contest, name, Registration(), "Kim")


def test_a_team_that_has_withdrawn_is_brought_back_and_not_added_again(contest):
    """The refusal is the command that brings the team back."""
    add_team(contest, "busy bees", Registration(), "Kim")
    withdraw(contest, "busy bees", "broken board", "Kim")
    with pytest.raises(InputError, match="referee team return 'busy bees' --reason"):
        add_team(contest, "Busy Bees", Registration(), "Kim")


def test_a_renaming_that_was_cut_off_is_completed(contest, monkeypatch):
    """If the referee dies between database and teams.csv, the next command completes it."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    passwords = new_passwords(contest, [], "Kim")
    whole = registration_changes.adopt_teams
    calls = []

    def cut_off(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*arguments)

    monkeypatch.setattr(registration_changes, "adopt_teams", cut_off)
    with pytest.raises(KeyboardInterrupt):
        rename(contest, "ants", "wasps", "Kim")
    assert not admitted(contest, "wasps", passwords["ants"])
    monkeypatch.setattr(registration_changes, "adopt_teams", whole)
    assert ["wasps", "bees"] == names(contest)
    assert "wasps" == rename(contest, "ants", "wasps", "Kim")
    assert admitted(contest, "wasps", passwords["ants"])


def test_a_team_in_its_session_is_not_renamed(contest):
    """The client of a running session logs in again under the name that it knows."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    session(contest, "ants", "armed", "started")
    with pytest.raises(InputError, match="Session 1 of 'ants' is RUNNING"):
        rename(contest, "ants", "wasps", "Kim")


def test_a_withdrawal_deletes_nothing_and_can_be_undone(contest):
    """A withdrawn team keeps its sessions and password on record; the reason stands beside it."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    new_passwords(contest, [], "Kim")
    session(contest, "ants", "armed", "started", "ended")
    for _ in range(2):
        withdraw(contest, "ants", "device broken", "Kim")
    ants = read_roster(contest).find("ants")
    assert (True, "device broken", True, 1) == (
        ants.withdrawn,
        ants.reason,
        ants.has_password,
        ants.attempt_count,
    )
    bring_back(contest, "ants", "repaired", "Kim")
    assert not read_roster(contest).find("ants").withdrawn
    done = contest.database.connection.execute(
        "select count(*) from audit where action like 'team %'"
    )
    assert 2 == done.fetchone()[0]


@pytest.mark.parametrize("kinds", [(), ("armed",), ("armed", "started")])
def test_a_team_with_a_session_ahead_cannot_withdraw(contest, kinds):
    """A READY or live session is voided first, so that nobody arms it by mistake."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    session(contest, "ants", *kinds)
    with pytest.raises(InputError, match="Session 1 of 'ants' is .* Void it, or let it end"):
        withdraw(contest, "ants", "device broken", "Kim")


def test_a_withdrawal_needs_a_reason(contest):
    """Blanks are no reason."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    with pytest.raises(InputError, match="needs a reason"):
        withdraw(contest, "ants", "  ", "Kim")


def test_a_registration_by_mistake_is_removed_and_its_name_is_free(contest):
    """A removed team leaves no line behind, and may be registered again."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    new_passwords(contest, [], "Kim")
    remove(contest, "ants", "Kim")
    assert ["bees"] == names(contest) == list(registered_teams(contest.config.teams))
    assert "ants" == add_team(contest, "ants", Registration("Other"), "Kim")
    assert "Other" == read_roster(contest).find("ants").registration.organisation


def test_a_team_with_a_session_is_not_removed(contest):
    """A team that the evidence names can only withdraw."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    session(contest, "ants")
    with pytest.raises(InputError, match="'ants' has session 1.*referee team withdraw"):
        remove(contest, "ants", "Kim")


def test_teams_of_an_earlier_referee_are_taken_over(contest):
    """A team that stands only in teams.csv is on the roster, and keeps its password."""
    password = give_password(contest.config.teams, "ants")
    assert ["ants"] == names(contest)
    rename(contest, "ants", "wasps", "Kim")
    assert admitted(contest, "wasps", password)


def test_an_unknown_team_is_told_with_the_nearest(contest):
    """A mistyped name changes nothing, and the refusal offers the one that looks like it."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    with pytest.raises(InputError, match="Did you mean 'ants'.*U.0430 CYRILLIC SMALL LETTER A"):
        withdraw(contest, "\u0430nts", "gone", "Kim")
    with pytest.raises(InputError, match="No team is called 'x'. 'referee team list'"):
        new_passwords(contest, ["bees", "x"], "Kim")
    assert {} == registered_teams(contest.config.teams)


def test_a_name_written_otherwise_is_the_same_team(contest):
    """A team in another writing is refused as double, and found by every action, once."""
    add_team(contest, "Cafe\u0301", Registration(), "Kim")
    for written in ("Caf\u00e9", "CAFE\u0301", " caf\u00e9 "):
        with pytest.raises(InputError, match="is registered already"):
            add_team(contest, written, Registration(), "Kim")
        with pytest.raises(InputError, match="line 2: 'Cafe\u0301' is registered already"):
            import_teams(contest, [TeamLine(2, written)], "teams.csv", "Kim")
    amend(contest, "CAF\u00c9", lambda old: replace(old, prizes=False), "their wish", "Kim")
    assert ["Cafe\u0301"] == list(new_passwords(contest, ["caf\u00e9"], "Kim"))
    withdraw(contest, "caf\u00e9", "broken", "Kim")
    (team,) = read_roster(contest).teams
    assert ("Cafe\u0301", True, False) == (team.name, team.withdrawn, team.registration.prizes)


def test_a_team_takes_its_own_name_in_another_writing_once(contest):
    """A renaming to the same name in another writing is one renaming, however often it is sent."""
    add_team(contest, "Cafe\u0301", Registration(), "Kim")
    for _ in range(2):
        assert "CAF\u00c9" == rename(contest, "caf\u00e9", "CAF\u00c9", "Kim")
    assert ["Cafe\u0301", "CAF\u00c9"] == names_of_team(contest.database.connection, "CAF\u00c9")


def test_two_teams_of_an_earlier_event_are_each_found_exactly(contest):
    """Two names that are the same today were two teams; another writing of them finds neither."""
    one, other = "Caf\u00e9", "Cafe\u0301"
    with contest.database.write() as connection:
        for name in (one, other):
            team_id = ensure_team(connection, name, "2026-01-01T00:00:00+00:00")
            insert_registration(
                connection, team_id, "registered", Registration(), operator="Kim", utc="2026-01-01"
            )
    passwords = new_passwords(contest, [], "Kim")
    assert all(admitted(contest, name, passwords[name]) for name in (one, other))
    assert not admitted(contest, "CAF\u00c9", passwords[one])
    withdraw(contest, other, "gone", "Kim")
    assert [(one, False), (other, True)] == [
        (team.name, team.withdrawn) for team in read_roster(contest).teams
    ]
    with pytest.raises(InputError, match="Write one of these exactly"):
        withdraw(contest, "CAF\u00c9", "gone", "Kim")


def test_a_name_that_looks_like_another_is_registered_with_a_warning(contest):
    """The warning names both names and the characters, of old teams and of one table."""
    add_team(contest, "ants", Registration(), "Kim")
    new = import_teams(contest, [TeamLine(2, "\u0430nts"), TeamLine(3, "bees")], "teams.csv", "Kim")
    (warning,) = look_alike_warnings(contest, new)
    assert "'\u0430nts' looks like 'ants'" in warning
    assert "U+0430 CYRILLIC SMALL LETTER A where the other has U+0061" in warning


def test_a_long_table_costs_as_much_for_each_line_as_a_short_one(contest):
    """The number of steps of the database grows as the lines do."""
    steps = []

    def steps_of(names):
        count = 0

        def step():
            nonlocal count
            count += 1

        contest.database.connection.set_progress_handler(step, 100)
        import_teams(contest, [TeamLine(2, name) for name in names], "teams.csv", "Kim")
        contest.database.connection.set_progress_handler(None, 0)
        return count

    steps = [steps_of([f"{part}{n}" for n in range(200)]) for part in "abcd"]
    assert steps[3] < 1.5 * steps[0]


def test_a_registration_is_amended_on_record(contest):
    """The newest row says what the team is; a repeat adds none; the team keeps all else."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    for _ in range(2):
        new = amend(contest, "ants", lambda old: replace(old, prizes=False), "their wish", "Kim")
        assert (
            Registration("Uni", prizes=False) == new == read_roster(contest).teams[0].registration
        )
    count = "select count(*) from registrations"
    assert 3 == contest.database.connection.execute(count).fetchone()[0]


def test_an_amendment_that_cannot_be_changes_nothing(contest):
    """It needs a reason, a team that takes part, and for models only a team without a session."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    session(contest, "ants", "armed", "started", "ended")
    withdraw(contest, "bees", "ill", "Kim")
    before = read_roster(contest)
    for team, reason, told in (
        ("ants", " ", "needs a reason"),
        ("ants", "OVIC", "'ants' has session 1"),
        ("bees", "OVIC", "has withdrawn .ill.. Bring it back first"),
        ("wasps", "OVIC", "No team is called 'wasps'"),
    ):
        with pytest.raises(InputError, match=told):
            amend(contest, team, lambda old: replace(old, sessions=False), reason, "Kim")
    assert before == read_roster(contest)


def logins(contest):
    """Return the login of each team on the roster."""
    return {team.name: team.login for team in read_roster(contest).teams}


def test_imported_teams_get_logins_of_their_own(contest):
    """A chosen login is taken; a made one is no login or name of another line or team."""
    add_team(contest, "Flies", Registration(), "Kim")
    names_ = ("Ünts", "unts", "東京大学", "فريق", "FLÍES", "Wasps")
    lines = [TeamLine(n, name) for n, name in enumerate(names_, 2)]
    lines[-1] = replace(lines[-1], login="team1")
    import_teams(contest, lines, "teams.csv", "Kim")
    assert {
        "Flies": "flies",
        "Ünts": "unts-2",
        "unts": "unts",
        "東京大学": "team2",
        "فريق": "team3",
        "FLÍES": "flies-2",
        "Wasps": "team1",
    } == logins(contest)


def test_a_renaming_changes_no_login(contest):
    """The login stays as it was made, also where the new name would make another."""
    import_teams(contest, LINES, "teams.csv", "Kim")
    rename(contest, "ants", "Termites", "Kim")
    assert {"Termites": "ants", "bees": "bees"} == logins(contest)
    assert "Termites" == rename(contest, "ANTS", "Termites", "Kim")


@pytest.mark.parametrize(
    ("name", "login", "told"),
    [
        ("Rocket", "", "'rocket' is the login of 'Röcket': choose another name"),
        ("ROCKET", "x", "'rocket' is the login of 'Röcket'"),
        ("x", "rocket", "'rocket' is the login of 'Röcket'. Choose another login"),
        ("x", "Bees", "'bees' is registered already, or was. Choose another login"),
        ("x", "wasps", "'wasps' is registered already, or was. Choose another login"),
        ("x", "a b", "'a b' is no login. A login is 1 to 20 characters"),
        ("x", "gone", "The login 'gone' was another team's. Choose another."),
    ],
)
def test_no_team_takes_a_word_of_another(contest, name, login, told):
    """Neither a name nor a login is a name of today or before, or a login, of another team."""
    for registered in ("Röcket", "bees", "gone"):
        add_team(contest, registered, Registration(), "Kim")
    remove(contest, "gone", "Kim")
    give_password(contest.config.teams, "wasps")
    before = logins(contest)
    with pytest.raises(InputError) as refused:
        add_team(contest, name, Registration(), "Kim", login)
    assert told in str(refused.value)
    assert before == logins(contest)


def test_an_imported_login_is_no_word_of_another_team(contest):
    """Each line whose login another team has is named, and nobody is registered."""
    for registered in ("Röcket", "gone"):
        add_team(contest, registered, Registration(), "Kim")
    remove(contest, "gone", "Kim")
    lines = [TeamLine(2, "x", login="rocket"), TeamLine(3, "y", login="gone"), TeamLine(4, "z")]
    with pytest.raises(InputError, match="nothing was imported") as refused:
        import_teams(contest, lines, "teams.csv", "Kim")
    assert "line 2: 'rocket' is the login of 'Röcket'. Choose another login" in str(refused.value)
    assert "line 3: the login 'gone' was another team's" in str(refused.value)
    assert ["Röcket"] == names(contest)


def test_no_team_is_renamed_to_the_login_of_another(contest):
    """A login is as good as taken by its team; one's own login is a name like others."""
    for name in ("Röcket", "bees"):
        add_team(contest, name, Registration(), "Kim")
    with pytest.raises(InputError, match="'rocket' is the login of 'Röcket'"):
        rename(contest, "bees", "Rocket", "Kim")
    assert "Rocket" == rename(contest, "Röcket", "Rocket", "Kim")


def test_a_team_that_comes_again_keeps_its_login_or_gets_the_chosen_one(contest):
    """A removed registration that was a mistake may be made again with another login."""
    add_team(contest, "Röcket", Registration(), "Kim")
    remove(contest, "Röcket", "Kim")
    add_team(contest, "Röcket", Registration(), "Kim")
    assert {"Röcket": "rocket"} == logins(contest)
    remove(contest, "Röcket", "Kim")
    import_teams(contest, [TeamLine(2, "Röcket", login="r2")], "t.csv", "Kim")
    assert {"Röcket": "r2"} == logins(contest)
    remove(contest, "Röcket", "Kim")
    add_team(contest, "Röcket", Registration(), "Kim", "rocket")
    assert {"Röcket": "rocket"} == logins(contest)


def test_operators_find_a_team_by_its_login(contest):
    """Commands take the login, however written; an earlier name could mean another team by now."""
    add_team(contest, "Команда", Registration(), "Kim")
    withdraw(contest, "TEAM1", "ill", "Kim")
    bring_back(contest, "team1", "well", "Kim")
    assert "Муравьи" == rename(contest, "team1", "Муравьи", "Kim")
    with pytest.raises(InputError, match="No team is called 'Команда'"):
        withdraw(contest, "Команда", "ill", "Kim")


def test_teams_of_the_password_file_get_logins_that_hide_no_name(contest):
    """Teams that only stand in teams.csv are adopted together, so each keeps its name as a word."""
    for name in ("Änts", "ants"):
        give_password(contest.config.teams, name)
    new_passwords(contest, [], "Kim")
    assert {"Änts": "ants-2", "ants": "ants"} == logins(contest)
