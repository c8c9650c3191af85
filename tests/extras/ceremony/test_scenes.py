# SPDX-License-Identifier: Apache-2.0
"""The scenes of a ceremony reveal from the last to the first, each what its own key stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from referee.extras.ceremony.scenes import heads_of, scenes_of
from referee.service.event.guest_standings import GuestColumn, GuestStandings, GuestTable
from referee.service.event.result_entry import ResultEntry, WonPrize
from tests.support.rankings import results_of


def entry(team, place, session=1, **more):
    """Return an entry whose score falls with its place; None stands for no place."""
    figures = {} if place is None else {"score": 1 / place, "mean_ap": 0.5 / place}
    known = {"energy_wh": 0.5, "verdict": "VALID", "session": session}
    return ResultEntry(team=team, rank=place, **(known | figures | more))


def ranking(*teams):
    """Return results in which these teams have the places from 1, in sessions of their own."""
    return results_of(*(entry(team, n, session=20 - n) for n, team in enumerate(teams, start=1)))


def without(results, *teams):
    """Return what the public saw before these teams ran."""
    before = [ResultEntry(team=it.team) if it.team in teams else it for it in results.entries]
    return replace(results, entries=before)


def fresh(scenes):
    """Return who is revealed, in this order."""
    lines = [(scene, line) for scene in scenes if scene.kind == "ranking" for line in scene.lines]
    return [(scene.title, line.team) for scene, line in lines if line.state == "fresh"]


def seen(scenes):
    """Return everything that scenes tell of teams whose results they do not hide."""
    return {
        text
        for scene in scenes
        for text in (*scene.winners, *(line.team for line in scene.lines), *sum(scene.rows, []))
    }


def test_the_hidden_teams_come_from_the_last_place_to_the_first():
    """Those alone are called whose result is hidden, on the podium too."""
    results = ranking("a", "b", "c", "d", "e", "f")
    scenes = scenes_of(results, without(results, "e", "a", "f", "c"))
    assert fresh(scenes) == [
        ("Place 6", "f"),
        ("Place 5", "e"),
        ("Place 3", "c"),
        ("Place 1", "a"),
    ]


@pytest.mark.parametrize("late", ["a", "c", "e", "f"])
def test_a_late_freeze_reveals_the_one_result_that_it_hides(late):
    """The title says one, one key reveals it, and no place that the hall knows is called."""
    results = ranking("a", "b", "c", "d", "e", "f")
    scenes = scenes_of(results, without(results, late))
    assert "1 result is hidden." == scenes[0].text
    place = f"Place {1 + 'abcdef'.index(late)}"
    assert [(place, late)] == fresh(scenes)
    called = [scene.title for scene in scenes if scene.kind == "ranking"]
    assert {"The ranking so far", place} == set(called)


def test_what_everybody_knows_is_not_revealed():
    """The ranking stands as it is, and winner, podium and prizes are honoured."""
    results = replace(ranking("a", "b"), prizes=[WonPrize("highest score", "", None, ["a"])])
    scenes = scenes_of(results, results)
    kinds = ["title", "ranking", "card", "podium", "prize", "prize", "end"]
    assert (kinds, []) == ([scene.kind for scene in scenes], fresh(scenes))
    assert ("The audience knows every result.", "The ranking") == (scenes[0].text, scenes[1].title)
    assert {"settled"} == {line.state for line in scenes[1].lines}


def test_a_place_of_the_podium_is_called_before_its_team():
    """The scene before has the place as its title, and nobody fresh in it."""
    results = ranking("a", "b", "c", "d")
    scenes = scenes_of(results, without(results, "a"))
    (at,) = [n for n, scene in enumerate(scenes) if fresh([scene]) == [("Place 1", "a")]]
    assert ("Place 1", [], ["a"]) == (
        scenes[at - 1].title,
        fresh([scenes[at - 1]]),
        scenes[at - 1].hidden,
    )


def test_a_place_so_far_leaves_no_room_for_the_hidden():
    """Whoever is shown has its place among the shown, until it is settled."""
    results = ranking("a", "b", "c", "d", "e")
    scenes = scenes_of(results, without(results, "a", "d"))
    shown = [[(it.place, it.team, it.state) for it in scene.lines] for scene in scenes]
    assert [("1", "b", "open"), ("2", "c", "open"), ("3", "e", "open")] == shown[1]
    assert shown[2] == [
        *(("1", "b", "open"), ("2", "c", "open")),
        *(("4", "d", "fresh"), ("5", "e", "settled")),
    ]


def test_teams_of_one_place_are_revealed_one_by_one():
    """Both have the place, the winner's card is shown for each, and the next place is left out."""
    results = results_of(
        entry("a", 1, session=4), entry("b", 1, session=3), entry("c", 3, session=2)
    )
    scenes = scenes_of(results, None)
    assert [("Place 3", "c"), ("Place 1", "b"), ("Place 1", "a")] == fresh(scenes)
    assert [["b"], ["a"]] == [[it.team for it in one.lines] for one in scenes if one.kind == "card"]
    assert ["1", "1", "3"] == [line.place for line in scenes[-1].lines]


def test_the_hidden_stand_in_the_order_in_which_they_ran():
    """Any order of the results would tell who is last."""
    results = ranking("a", "b", "c")
    assert ["c", "b", "a"] == scenes_of(results, None)[1].hidden


def test_a_team_without_a_place_is_revealed_first():
    """It says why, and what the public knew before is no news."""
    results = ranking("a")
    known = entry("gone", None, withdrawn=True)
    invalid = entry("loose", None, verdict="INVALID")
    results = replace(results, entries=[*results.entries, invalid, known])
    scenes = scenes_of(results, without(results, "loose", "a"))
    assert [("Without a place", "loose"), ("Place 1", "a")] == fresh(scenes)
    told = {line.team: (line.place, line.figures) for line in scenes[-1].lines}
    assert (("–", ["no valid energy"]), ("–", ["withdrawn"])) == (told["loose"], told["gone"])


@pytest.mark.parametrize(
    "change",
    [{"session": 99}, {"mean_ap": 0.9}, {"energy_wh": 9.0}, {"score": 7.0}, {"withdrawn": True}],
)
def test_what_has_changed_since_the_freeze_is_hidden(change):
    """A team that ran again, or was scored again, is told by its own key."""
    results = ranking("a", "b", "c", "d", "e")
    before = [replace(it, **change) if it.team == "e" else it for it in results.entries]
    assert ["e"] == scenes_of(results, replace(results, entries=before))[1].hidden


def test_a_place_that_moved_is_nothing_new():
    """A team whose own result stands keeps it before the audience, wherever it stands now."""
    results = ranking("a", "b")
    before = replace(results, entries=[replace(results.entries[1], rank=1)])
    assert ["a"] == scenes_of(results, before)[1].hidden


def test_prizes_and_guests_are_titled_before_they_are_given():
    """A prize that nobody wins says so; a guest shows its best three rows and its notes."""
    rows = [[place, f"guest {place}"] for place in (1, 2, 3, 4)]
    table = GuestTable("Models", [GuestColumn("rank", "d"), GuestColumn("team")], rows, ["Won: me"])
    results = replace(
        ranking("a"),
        prizes=[WonPrize("least energy", "mAP at least x", 0.25, [])],
        guests={"models": GuestStandings([table])},
    )
    called, given_, titled, told, _ = scenes_of(results, None)[-5:]
    assert ("Least energy", "mAP at least x (0.25)", []) == (
        *(called.title, called.text),
        [*called.winners],
    )
    assert ["nobody"] == given_.winners
    assert ("Models", []) == (titled.title, [*titled.rows])
    assert (3, "Won: me", ["rank", "team"]) == (len(told.rows), told.text, told.head)


def test_a_card_has_a_picture_where_the_team_allows_it():
    """Without a leave there is none."""
    results = ranking("a", "b")
    for allowed, picture in (({"a"}, 19), ({"b"}, None), (set(), None)):
        (card,) = [it for it in scenes_of(results, None, allowed) if it.kind == "card"]
        assert picture == card.picture


def test_figures_have_as_many_decimals_as_tell_them_apart():
    """Three at least for mAP and Wh; a score has the digits that it has everywhere."""
    results = results_of(
        entry("a", 1, mean_ap=0.50001, score=0.50001), entry("b", 2, mean_ap=0.5, score=0.5)
    )
    line = scenes_of(results, None)[-1].lines[0]
    assert ["mAP", "Wh", "score"] == heads_of(results)
    assert ["0.50001", "0.500", "0.500"] == line.figures


def test_results_without_a_place_have_a_ceremony_too():
    """Nobody stands on a podium, and the end is there."""
    scenes = scenes_of(results_of(entry("a", None, verdict="INVALID")), None)
    assert ["title", "ranking", "ranking", "end"] == [scene.kind for scene in scenes]


@pytest.mark.parametrize(("teams", "rows"), [(1, [1]), (8, [8]), (9, [5, 4]), (40, [8] * 5)])
def test_the_end_shows_every_row(teams, rows):
    """As many rows at once as a hall can read, in parts of equal length, up to the first place."""
    names = [f"team {n}" for n in range(teams)]
    pages = [it for it in scenes_of(ranking(*names), None) if it.kind == "end"]
    assert rows == [len(page.lines) for page in pages]
    assert names == [line.team for page in reversed(pages) for line in page.lines]
    assert "The final ranking" == pages[-1].title
    assert len(pages) == len({page.title for page in pages})


@given(st.data())
def test_nothing_is_told_before_its_key(data):
    """No scene has a figure or a place of a team that it lists as hidden, and the end has all."""
    places = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=9).map(sorted))
    places = [1 + sum(other < place for other in places) for place in places]
    entries = [entry(f"team {n}", place, session=n) for n, place in enumerate(places)]
    results = replace(
        results_of(*entries), prizes=[WonPrize("highest score", "", None, ["team 0"])]
    )
    hidden = data.draw(st.sets(st.sampled_from([it.team for it in entries])))
    scenes = scenes_of(results, without(results, *hidden))
    still = hidden
    for scene in scenes:
        if scene.kind == "ranking":
            assert set(scene.hidden) <= still
            # One key reveals one team.
            assert len(still) - len(scene.hidden) <= 1
            still = set(scene.hidden)
            shown = [it for it in results.entries if it.team not in still]
            assert [it.team for it in shown] == [line.team for line in scene.lines]
        assert seen([scene]).isdisjoint(still)
    assert set() == still
    end = [line for scene in reversed(scenes) if scene.kind == "end" for line in scene.lines]
    assert [str(place) for place in places] == [line.place for line in end]
    order = [int(title.split()[1]) for title, _ in fresh(scenes)]
    assert sorted(order, reverse=True) == order
    assert hidden == {team for _, team in fresh(scenes)}
