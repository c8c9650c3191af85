# SPDX-License-Identifier: Apache-2.0
"""The page of slips says everything that a team needs, and nothing of it breaks the page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from referee.service.setup.config import ContestSection
from referee.service.teams.slips import Venue, rules_line, slips_page

LPIRC = ContestSection(name="LPIRC")


class Slips(HTMLParser):
    """Collect the fields of each slip."""

    def __init__(self):
        super().__init__()
        self.slips: list[list[str]] = []
        self.inside = ""

    def handle_starttag(self, tag, attrs):
        """Begin a slip or a field."""
        self.inside = tag
        if tag == "section":
            self.slips.append([])

    def handle_data(self, data):
        """Keep the text of a field."""
        if self.inside in ("dt", "dd") and data.strip():
            self.slips[-1].append(data)


def read(page):
    """Return the fields of each slip."""
    parser = Slips()
    parser.feed(page)
    return [dict(zip(slip[::2], slip[1::2], strict=True)) for slip in parser.slips]


def test_a_slip_has_name_password_address_and_network():
    """Each team has its own slip; the common lines stand on all of them."""
    venue = Venue(LPIRC, {"": ["http://192.168.1.2:8000"]}, ("lpirc", "quiet-fan"), "Be fair.")
    page = slips_page(venue, {"ants": "q68r-k3me", "bees": "w2xy-abcd"})
    assert [
        {
            "User name": team,
            "Password": password,
            "Referee": "http://192.168.1.2:8000",
            "Wi-Fi": "lpirc",
            "Wi-Fi password": "quiet-fan",
        }
        for team, password in (("ants", "q68r-k3me"), ("bees", "w2xy-abcd"))
    ] == read(page)
    assert 2 == page.count("Be fair.")


def test_a_slip_has_the_login_under_the_teams_name():
    """What a contestant types is short; the name stays the heading."""
    page = slips_page(
        Venue(LPIRC, {"": []}, None, "r"), {"東京大学": "x"}, {}, {"東京大学": "team1"}
    )
    (slip,) = read(page)
    assert ("team1", True) == (slip["User name"], '<h1 dir="auto">東京大学</h1>' in page)


def test_a_slip_names_the_lanes_where_its_team_may_run():
    """A team without a lane of its own gets every address, with its lane; the other one its own."""
    urls = {"left": ["http://10.0.0.1:8000"], "right": ["http://10.0.0.1:8010"]}
    page = slips_page(Venue(LPIRC, urls, None, "r"), {"ants": "x", "bees": "y"}, {"bees": "right"})
    ants, bees = read(page)
    assert urls["left"] + urls["right"] == [
        ants[f"Referee, lane {name}"] for name in ("left", "right")
    ]
    assert ("right, and no other", "http://10.0.0.1:8010") == (bees["Lane"], bees["Referee"])
    given = Venue(LPIRC, {"": ["http://referee:8000"]}, None, "r")
    (bees,) = read(slips_page(given, {"bees": "y"}, {"bees": "right"}))
    assert ("right, and no other", "http://referee:8000") == (bees["Lane"], bees["Referee"])


def test_a_slip_tells_the_file_that_clients_trust():
    """With TLS each slip has name and digest of the CA's file, and without TLS nothing of it."""
    venue = Venue(LPIRC, {"": ["https://10.0.0.1:8000"]}, None, "r", "<ca>.pem, SHA-256 3C:E5")
    page = slips_page(venue, {"ants": "x", "bees": "y"})
    assert 2 == page.count("CA file: &lt;ca&gt;.pem, SHA-256 3C:E5")
    assert "CA file" not in slips_page(Venue(LPIRC, {"": []}, None, "r"), {"ants": "x"})


def test_names_cannot_break_the_page():
    """Names and networks with markup appear as they are."""
    venue = Venue(ContestSection(name="<b>"), {"": []}, ("<i>", "&amp;"), "</p>")
    found = read(slips_page(venue, {"<script>alert(1)</script>": "x"}))
    assert ["<script>alert(1)</script>", "<i>", "&amp;"] == [
        found[0][field] for field in ("User name", "Wi-Fi", "Wi-Fi password")
    ]


def test_a_slip_without_network_has_a_line_to_fill_in():
    """Without an address there is a blank line, and without Wi-Fi the cable."""
    (slip,) = read(slips_page(Venue(LPIRC, {"": []}, None, "r"), {"ants": "x"}))
    assert ("the cable at the table", True) == (slip["Network"], slip["Referee"].startswith("__"))


def test_the_page_asks_no_network():
    """The page loads nothing."""
    page = slips_page(Venue(LPIRC, {"": []}, None, "r"), {"ants": "x"})
    assert not [word for word in ("src=", "href=", "@import", "url(") if word in page]


@pytest.mark.parametrize(("seconds", "said"), [(600, "10 minutes"), (90, "90 seconds")])
def test_the_rules_name_the_length(seconds, said):
    """The rules fit a line or two and name the length of the session."""
    assert said in rules_line(seconds)


def test_a_slip_gives_the_address_and_the_name_in_the_certificate():
    """A board whose TLS knows no addresses connects to the one and checks the other."""
    urls = {"": ["https://10.0.0.1:8000"]}
    venue = Venue(LPIRC, urls, None, "r", "ca.pem, SHA-256 3C", "referee.internal")
    page = slips_page(venue, {"ants": "x", "bees": "y"})
    assert ["https://10.0.0.1:8000"] * 2 == [slip["Referee"] for slip in read(page)]
    words = "Name in the certificate, for TLS that knows no addresses: referee.internal"
    assert 2 == page.count(words)
    plain = slips_page(Venue(LPIRC, {"": []}, None, "r"), {"ants": "x"})
    assert "Name in the certificate" not in plain
