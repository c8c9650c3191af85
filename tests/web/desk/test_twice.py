# SPDX-License-Identifier: Apache-2.0
"""Every change that the console offers, made twice: the second changes nothing."""

from __future__ import annotations

from tests.support.doors import post


def seen(client):
    """Return what the pages of teams and results show, without the numbers of rows."""
    return client.get("/teams/now").get_json(), client.get("/results/now").get_json()


# In this order each action changes something at its first press.
CHANGES = [
    ("/teams/lottery", {"seed": "noon", "reason": "drawn"}),
    ("/teams/order", {"teams": ["bees", "ants"], "reason": "has a train to catch"}),
    ("/teams/rename", {"team": "ants", "new_name": "Ants II"}),
    ("/teams/withdraw", {"team": "bees", "reason": "ill"}),
    ("/teams/return", {"team": "bees", "reason": "well again"}),
    ("/teams/withdraw", {"team": "bees", "reason": "ill again"}),
    ("/sessions/1/review", {"reason": "the gap lies before the load"}),
    ("/results/finalize", {"names": ["Ada", "Grace"]}),
    ("/results/reopen", {"reason": "forgot a team"}),
]


def test_every_change_of_teams_and_results_twice(door):
    """Each change made twice ends as if it was made once."""
    door.event.play("ants", verdict="SUSPECT")
    kim = door.visitor("Kim")
    before = seen(kim)
    for path, body in CHANGES:
        first = post(kim, path, **body)
        assert 200 == first.status_code, (path, first.get_json())
        once = seen(kim)
        assert once != before, path
        post(kim, path, **body)
        assert once == seen(kim), path
        before = once
