# SPDX-License-Identifier: Apache-2.0
"""The door of the console: who may ask what, how a login begins, and when it ends."""

from __future__ import annotations

import pytest

from referee.core.actors import Role
from referee.service.people.operators import remove_operator, replace_operator_password
from referee.web.desk.roles import all_routes
from tests.support.doors import AWAY, post


def test_every_change_has_a_name_in_the_audit(empty):
    """Every route that only people with a role may post to says what the audit calls it."""
    for route, access in all_routes().items():
        changes = route.startswith("POST ") and access.least is not Role.PUBLIC
        assert changes == bool(access.action) or access.at_desk, route


def test_a_route_without_a_line_is_refused(empty):
    """A route that somebody forgets in the table is closed to all."""
    empty.app.add_url_rule("/new", view_func=lambda: "secret")
    answer = empty.visitor().get("/new")
    assert (403, "route_unlisted") == (answer.status_code, answer.get_json()["code"])


def test_a_login_acts_under_its_name(door):
    """What an operator does is on record under the name of the login, whatever the body says."""
    kim = door.visitor("Kim")
    done = post(kim, "/teams/withdraw", team="bees", reason="ill", operator="Nobody")
    assert 200 == done.status_code
    rows = door.contest.database.connection.execute(
        "select operator, role, action from audit where action = 'team withdrawn'"
    )
    assert [("Kim", "operator", "team withdrawn")] == [tuple(row) for row in rows]


def test_the_cookie_is_for_this_console_alone(door):
    """Scripts cannot read the cookie, no other site's request carries it, and no URL holds it."""
    answer = door.log_in(door.visitor(), "Kim")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Expires" not in cookie
    assert {} == answer.get_json()


def test_a_contestant_at_the_consoles_login_is_told_the_right_port(door):
    """The protocol of the contestants has a /login too; here it leads to the other port."""
    client = door.visitor()
    for answer in (
        client.get("/login"),
        client.post("/login", data={"username": "ants", "password": "x"}),
    ):
        assert (404, "text/plain") == (answer.status_code, answer.mimetype)
        assert "Contestants connect to" in answer.get_data(as_text=True)
    with client.get("/login", headers={"Accept": "text/html,*/*"}) as page:
        assert (200, "text/html") == (page.status_code, page.mimetype)


def test_names_are_found_in_any_capitals_and_passwords_are_not(door):
    """A name may be typed in other capitals; a password may not."""
    client = door.visitor()
    assert 200 == door.log_in(client, " kIM ", door.secrets["Kim"]).status_code
    wrong = door.log_in(client, "Kim", door.secrets["Kim"].upper())
    assert (403, "login_invalid") == (wrong.status_code, wrong.get_json()["code"])


def test_each_login_has_an_identity_of_its_own(door):
    """Two logins have different cookies, and the end of one leaves the other."""
    first, second = door.visitor("Kim"), door.visitor("Kim")
    assert 200 == post(first, "/logout").status_code
    assert [401, 200] == [one.get("/board").status_code for one in (first, second)]


def test_a_copied_cookie_ends_with_its_login(door):
    """After a logout the cookie is worth nothing, also where somebody has kept it."""
    kim = door.visitor("Kim")
    cookie = door.log_in(kim, "Kim").headers["Set-Cookie"].partition(";")[0]
    post(kim, "/logout")
    thief = door.visitor()
    assert 401 == thief.get("/board", headers={"Cookie": cookie}).status_code


def test_a_login_does_not_take_over_a_cookie(door):
    """Who plants a cookie of his own login before another's does not get the other's login."""
    thief = door.visitor("Sam")
    victim = door.visitor()
    for planted in thief._cookies.values():
        victim.set_cookie(planted.key, planted.value)
    assert 200 == door.log_in(victim, "Kim").status_code
    assert ["Sam", "Kim"] == [one.get("/me").get_json()["name"] for one in (thief, victim)]


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "X-Real-IP", "Client-IP", "Forwarded", "REMOTE_ADDR", "Via"]
)
def test_a_header_makes_no_visitor_of_the_laptop(door, header):
    """Another machine cannot say that it is this one."""
    value = "for=127.0.0.1" if header == "Forwarded" else "127.0.0.1"
    assert 401 == door.visitor(**AWAY).get("/metrics", headers={header: value}).status_code


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "Via"])
def test_what_a_proxy_passes_on_does_not_come_from_the_laptop(empty, header):
    """A proxy on the laptop connects from there, and speaks for anybody."""
    path = {"path": "/board"}
    assert 200 == empty.visitor().get(**path).status_code
    assert 403 == empty.visitor().get(**path, headers={header: "127.0.0.1"}).status_code


@pytest.mark.parametrize("cut", ["", "1.1.", "x", "1.9999999999." + "0" * 64, "é"])
def test_a_forged_cookie_is_nobody(door, cut):
    """A cookie that this desk did not seal opens nothing."""
    kim = door.visitor("Kim")
    name = next(iter(kim._cookies.values())).key
    thief = door.visitor()
    thief.set_cookie(name, cut)
    assert 401 == thief.get("/board").status_code


def test_a_login_survives_a_restart_of_the_desk(door):
    """Another desk on the same folder knows the login."""
    kim = door.visitor("Kim")
    cookie = next(iter(kim._cookies.values()))
    again = door.make_app().test_client()
    again.set_cookie(cookie.key, cookie.value)
    assert "Kim" == again.get("/me").get_json()["name"]


@pytest.mark.parametrize(
    "end",
    [
        lambda contest: remove_operator(contest, "Kim", "boss"),
        lambda contest: replace_operator_password(contest, "Kim", "boss"),
    ],
)
def test_removal_and_a_new_password_end_all_logins(door, end):
    """Every login of a name ends when the name is removed or its password changes."""
    logins = [door.visitor("Kim"), door.visitor("Kim")]
    end(door.contest)
    assert [401, 401] == [one.get("/board").status_code for one in logins]
    assert 403 == door.log_in(logins[0], "Kim").status_code


def test_a_name_that_is_added_again_has_no_old_logins(door):
    """Removal ends the logins for good."""
    kim = door.visitor("Kim")
    remove_operator(door.contest, "Kim", "boss")
    door.register("Kim", "assistant")
    assert 401 == kim.get("/board").status_code
    assert "assistant" == door.visitor("Kim").get("/me").get_json()["role"]


def test_a_login_that_nobody_uses_ends(door):
    """An operator's login ends after an hour of rest, an assistant's after twelve."""
    kim, sam = door.visitor("Kim"), door.visitor("Sam")
    door.event.clock.advance(3599)
    assert [200, 200] == [one.get("/board").status_code for one in (kim, sam)]
    door.event.clock.advance(1)
    assert [401, 200] == [one.get("/board").status_code for one in (kim, sam)]
    door.event.clock.advance(43_200)
    assert 401 == sam.get("/board").status_code


def test_use_keeps_a_login_and_a_timer_does_not(door):
    """What a person asks for keeps the login; what an open page fetches by itself does not."""
    kim, resting = door.visitor("Kim"), door.visitor("Kim")
    for _ in range(3):
        door.event.clock.advance(1800)
        kim.get("/me")
        resting.get("/board")
    assert [200, 401] == [one.get("/board").status_code for one in (kim, resting)]


def test_guessing_is_slowed_down(door):
    """After five wrong passwords an address waits; another address does not."""
    thief = door.visitor()
    tries = [door.log_in(thief, "Kim", f"wrong {n}").status_code for n in range(6)]
    assert [403] * 5 + [429] == tries
    other = door.visitor(**AWAY)
    assert 200 == door.log_in(other, "Kim").status_code


def test_nobody_is_registered(empty):
    """Without operators the laptop's own browser may do all, and no other machine anything."""
    assert {"logins": False, "name": "", "role": "operator"}.items() <= (
        empty.visitor().get("/me").get_json().items()
    )
    assert 200 == post(empty.visitor(), "/sessions", team="ants").status_code
    for path in ("/board", "/display"):
        answer = empty.visitor(**AWAY).get(path)
        assert (403, "no_operators") == (answer.status_code, answer.get_json()["code"])
    page = empty.visitor(**AWAY).get("/")
    assert (403, "text/plain") == (page.status_code, page.mimetype)
    assert "referee operator add" in page.get_data(as_text=True)


def test_the_first_operator_closes_the_door(empty):
    """From the first registration on, everybody logs in."""
    client = empty.visitor()
    assert 200 == client.get("/board").status_code
    empty.register("Kim", "operator")
    assert 401 == client.get("/board").status_code


def test_a_stream_ends_with_its_login(door):
    """A page that is open shows nothing more after the logout of its login."""
    kim = door.visitor("Kim")
    door.broadcast.start()
    stream = kim.get("/events", buffered=False)
    assert b"event: board" in next(stream.response)
    post(kim, "/logout")
    assert [] == list(stream.response)
    stream.close()
    places = [door.broadcast.stream() for _ in range(2)]
    assert all(b"event: board" in next(place).plain for place in places)
    door.broadcast.close()
