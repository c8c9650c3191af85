# SPDX-License-Identifier: Apache-2.0
"""An empty answer may say for which images it is: the team saw nothing in them."""

from __future__ import annotations

import pytest

from referee.store.answers import images_answered_empty
from tests.web.conftest import IMAGES, Site

ITEM = {"image_id": 3, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}


def post(site: Site, query: str, **body: object):
    """Send an answer with this query; return what came back, after a login."""
    headers = {"Authorization": f"Bearer {site.login()}"}
    return site.client.post(f"/result{query}", headers=headers, **body)


def told(site: Site) -> list[int]:
    """Return the images that the only session answered with nothing."""
    return images_answered_empty(site.contest.database.connection, 1)


@pytest.mark.parametrize(
    ("content_type", "data"),
    [("application/json", "[]"), ("text/csv", "\n"), ("application/x-ndjson", "\n")],
)
def test_it_names_its_images_in_the_address(site: Site, content_type: str, data: str) -> None:
    """Each counts once, and the receipt says how many."""
    query = f"?image_name=7&image_name=007&image_name={IMAGES}"
    answer = post(site, query, data=data, content_type=content_type)
    assert (200, 0) == (answer.status_code, answer.get_json()["stored"])
    assert ["nothing in 2 images"] == answer.get_json()["remarks"]
    assert [7, IMAGES] == told(site)


@pytest.mark.parametrize("name", ["0", str(IMAGES + 1), "x", "", "1|2"])
def test_an_image_that_does_not_exist_is_refused(site: Site, name: str) -> None:
    """Nothing is stored then."""
    answer = post(site, f"?image_name={name}", json=[])
    assert 406 == answer.status_code
    assert [] == told(site)
    rows = site.contest.database.connection.execute("select count(*) from answers").fetchone()
    assert 0 == rows[0]


def test_rows_name_their_images_themselves(site: Site) -> None:
    """The address counts for nothing then, and the receipt says so."""
    answer = post(site, "?image_name=7", json=[ITEM])
    assert (200, 1) == (answer.status_code, answer.get_json()["stored"])
    assert "not used: 'image_name' of the address" in answer.get_json()["remarks"]
    assert [] == told(site)


def test_an_empty_answer_without_a_name_is_for_no_image(site: Site) -> None:
    """It is stored, as ever."""
    answer = post(site, "", json=[])
    assert ["no rows were stored: the list is empty"] == answer.get_json()["remarks"]
    assert [] == told(site)
