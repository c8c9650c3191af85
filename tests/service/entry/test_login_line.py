# SPDX-License-Identifier: Apache-2.0
"""The line for the check of a password: whoever guesses stands behind those who do not."""

from __future__ import annotations

from referee.service.entry.login_line import GUESSED_S, LoginLine, WaitingLogin


def line_of(*addresses: str, guessing: tuple[str, ...] = (), most: int = 100) -> LoginLine:
    """Return a line into which these addresses have come, one after the other, at time 0."""
    line = LoginLine(most)
    for address in guessing:
        line.note_wrong(address, 0.0)
    for address in addresses:
        assert line.join(WaitingLogin(address, "ants"), 0.0) is None
    return line


def served(line: LoginLine, now_s: float = 0.0) -> list[str]:
    """Serve everybody, and return the addresses in their order."""
    order = []
    while (one := line.next(now_s)) is not None:
        line.leave(one, served=True)
        order.append(one.address)
    return order


def test_who_comes_first_is_first() -> None:
    """Among addresses that have not guessed, the order is that of their coming."""
    assert ["a", "b", "c"] == served(line_of("a", "b", "c"))


def test_a_guessing_address_stands_behind_all_others() -> None:
    """A wrong password puts an address behind every clean one, however early it came."""
    assert ["team", "other", "x", "x"] == served(
        line_of("x", "x", "team", "other", guessing=("x",))
    )


def test_a_wrong_password_counts_for_those_who_wait_already() -> None:
    """The order is that of now: the further tries of an address fall back with its first guess."""
    line = line_of("x", "x", "x", "team")
    first = line.next(0.0)
    assert first is not None
    line.leave(first, served=True)
    line.note_wrong("x", 0.0)
    assert ["team", "x", "x"] == served(line)


def test_each_address_has_a_fair_share() -> None:
    """An address that tries ten names has no more turns than one that tries one."""
    line = line_of(*["x"] * 4, "y", "z", "y", guessing=("x", "y", "z"))
    assert ["x", "y", "z", "x", "y", "x", "x"] == served(line)


def test_a_clean_address_with_many_tries_shares_too() -> None:
    """The share counts among clean addresses as well."""
    assert ["x", "team", "x", "x"] == served(line_of("x", "x", "x", "team"))


def test_thirty_nine_guessers_cost_the_team_no_turn() -> None:
    """Guesses from 39 addresses stand behind the team whose name they guess."""
    guessers = tuple(f"10.0.0.{number}" for number in range(39))
    line = line_of(*guessers, *guessers, "team", guessing=guessers)
    assert "team" == served(line)[0]


def test_a_guess_is_forgotten_after_ten_minutes() -> None:
    """Whoever mistyped stands among the others again after ten minutes, and not before."""
    line = line_of("x", "team", guessing=("x",))
    assert line.has_guessed("x", GUESSED_S - 1e-6)
    assert not line.has_guessed("x", GUESSED_S)
    assert ["x", "team"] == served(line, GUESSED_S)


def test_a_full_line_loses_the_newest_of_those_who_crowd_it() -> None:
    """A newcomer finds room in a full line: the address with the most guesses in it loses one."""
    line = line_of("x", "y", "x", guessing=("x", "y"), most=3)
    lost = line.join(WaitingLogin("team", "ants"), 0.0)
    assert lost is not None
    assert "x" == lost.address
    assert ["team", "x", "y"] == served(line)


def test_a_guesser_finds_no_room_in_a_line_of_others() -> None:
    """A full line without guesses turns the guesser himself away."""
    line = line_of("a", "b", guessing=("x",), most=2)
    guesser = WaitingLogin("x", "ants")
    assert guesser is line.join(guesser, 0.0)
    assert ["a", "b"] == served(line)


def test_who_leaves_without_a_turn_costs_his_address_none() -> None:
    """Only a turn that was held moves an address back."""
    line = line_of("a", "b")
    first = line.next(0.0)
    assert first is not None
    line.leave(first, served=False)
    line.join(WaitingLogin("a", "ants"), 0.0)
    assert ["b", "a"] == served(line)


def test_a_name_that_nobody_guesses_passes_the_first_guesses_of_many_addresses() -> None:
    """Before their first guess is judged, many addresses delay the name that they guess alone."""
    line = line_of("10.0.0.1", "10.0.0.2", "10.0.0.3")
    first = line.next(0.0)
    assert first is not None
    line.leave(first, served=True)
    line.join(WaitingLogin("team", "bees"), 0.0)
    assert ["team", "10.0.0.2", "10.0.0.3"] == served(line)


def test_a_memory_of_an_earlier_start_of_the_machine_counts_for_nothing() -> None:
    """A moment that lies further ahead than any guess can reach was another clock's."""
    line = line_of("x", "team", guessing=("x",))
    assert not line.has_guessed("x", -1e-6)


def test_old_guesses_are_forgotten(monkeypatch) -> None:
    """A flood of addresses does not fill the memory."""
    monkeypatch.setattr("referee.service.entry.login_line._SERVED", 3)
    line = line_of(*"abcd", guessing=tuple("abcd"))
    assert sorted("abcd") == sorted(served(line))
    line.note_wrong("e", GUESSED_S)
    assert {"e"} == set(line._guesses._until_s)
    assert 1 == len(line._served)
