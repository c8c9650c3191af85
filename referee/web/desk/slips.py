# SPDX-License-Identifier: Apache-2.0
"""The teams' slips from the page: new passwords, and a page to print that soon is gone."""

from __future__ import annotations

import re
import threading
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256

from flask import Flask, Response

from referee.errors import Refusal
from referee.service.board.slip_venue import venue_of
from referee.service.setup.contest import Contest
from referee.service.teams.registration import require_list
from referee.service.teams.registration_changes import new_passwords
from referee.service.teams.roster import read_roster
from referee.service.teams.slips import slips_page
from referee.web.desk.acting import Answer, posted_fields
from referee.web.desk.arguments import PostedFields
from referee.web.desk.visitors import acting_operator

KEPT_S = 600.0
"""How long a page with passwords can be opened, in seconds."""

_KEPT_MOST = 20
# Each press of the button has a name of its own, made by chance on the page.
_ONCE = re.compile("[0-9a-f]{32}")
_STYLE = re.compile("<style>(.*?)</style>", re.S)


@dataclass(frozen=True)
class _SlipPage:
    """A page of slips, and the monotonic moment until which it can be opened."""

    content: str
    until_s: float


class SlipPages:
    """The pages of slips that were made lately; they are in memory alone."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        self._pages: dict[str, _SlipPage] = {}
        self._lock = threading.Lock()

    def make(self, once: str, posted: PostedFields) -> int:
        """Make new passwords and their page, and return how many; a repeat makes none.

        `once` names the press of the button. Raises `InputError` as `new_passwords` does.
        """
        names = posted.names("teams")
        name, password = (posted.text(name) for name in ("wifi_name", "wifi_password"))
        operator = acting_operator(posted, named=True)
        require_list(self._contest.config)
        with self._lock:
            self._drop_old()
            if once not in self._pages:
                passwords = new_passwords(self._contest, dict.fromkeys(names), operator)
                teams = read_roster(self._contest).teams
                bound = {team.name: team.registration.lane for team in teams}
                logins = {team.name: team.login for team in teams}
                venue = venue_of(self._contest.config, (name, password) if name else None)
                content = slips_page(venue, passwords, bound, logins)
                until_s = self._contest.clock.now().monotonic_s + KEPT_S
                self._pages[once] = _SlipPage(content, until_s)
        return len(set(names))

    def find(self, once: str) -> str:
        """Return a page; raise `Refusal` (code `slips_gone`) if it is no longer kept."""
        with self._lock:
            self._drop_old()
            kept = self._pages.get(once)
        if kept is None:
            raise Refusal(
                "slips_gone",
                "These slips are no longer here, because they hold passwords. Make new ones on "
                "the page Teams.",
            )
        return kept.content

    def _drop_old(self) -> None:
        now_s = self._contest.clock.now().monotonic_s
        left = [(once, page) for once, page in self._pages.items() if page.until_s > now_s]
        self._pages = dict(left[-_KEPT_MOST:])


def register_slips(app: Flask, contest: Contest) -> None:
    """Add the action that makes slips, and the page to print; both are the operators' alone."""
    pages = SlipPages(contest)

    @app.post("/teams/slips")
    def make_slips() -> Answer:
        posted = posted_fields()
        once = posted.text("once")
        if not _ONCE.fullmatch(once):
            raise Refusal("text_wrong", "The page must name this press of its button.")
        return {"made": pages.make(once, posted), "page": f"teams/slips/{once}"}

    @app.get("/teams/slips/<once>")
    def print_slips(once: str) -> Response:
        content = pages.find(once)
        answer = Response(content, mimetype="text/html")
        answer.headers["Cache-Control"] = "no-store"
        answer.headers["Content-Security-Policy"] = _policy(content)
        return answer


def _policy(content: str) -> str:
    """Return what the page may load: its own style, which stands in it, and nothing else."""
    styles = (sha256(style.encode()).digest() for style in _STYLE.findall(content))
    hashes = " ".join(f"'sha256-{b64encode(style).decode()}'" for style in styles)
    return f"default-src 'none'; style-src {hashes}; frame-ancestors 'none'; base-uri 'none'"
