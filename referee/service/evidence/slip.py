# SPDX-License-Identifier: Apache-2.0
"""The slip of a session: one line with session, score and chain, and the page to print it from.

The team keeps it, and it binds the operator too. Whoever changes a fact of the session afterwards
gets another chain, even if every hash is computed anew and the bundle is signed again.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from hmac import compare_digest
from pathlib import Path

from referee.core.dates import day_text
from referee.errors import InputError, Refusal
from referee.service.evidence.bundle_file import Mismatch
from referee.service.evidence.facts_read import FACTS, FactsRead
from referee.service.setup.config import ImagesSection
from referee.service.setup.contest import Contest
from referee.service.setup.pages import page
from referee.service.setup.qr_code import qr_svg
from referee.store.chain import strand_at_newest, strands_of
from referee.store.database import Connection
from referee.store.images import blacklist_of
from referee.store.inputs_in_force import file_with
from referee.store.scores import inputs_of, newest_scoring_run
from referee.store.sessions import load_session

# 80 bits: nobody finds another session with the same ones.
_DIGITS, _GROUP = 20, 4
_FORM = re.compile(r"\s*session\s+(\d+)\s+score\s+(\S+)\s+chain\s+([0-9A-Fa-f\s-]+?)\s*", re.I)

SLIP_TEXT = re.compile(r"\bsession (\d{1,16}) score (\S+) chain ((?:[0-9A-F]{4}-){4}[0-9A-F]{4})\b")
"""A slip somewhere in a text, as it is printed."""


def slip_of(connection: Connection, session_id: int) -> str | None:
    """Return the text of a session's slip, or None before its score."""
    run = newest_scoring_run(connection, session_id)
    strand = strand_at_newest(connection, session_id, "scoring_runs")
    if run is None or strand is None:
        return None
    return slip_text(session_id, run.score, strand.hex())


def slip_text(session_id: int, score: float | None, strand: str) -> str:
    """Return the line, for example `session 3 score 0.255170 chain 9F3A-77C1-02DE-4B5A-8C11`."""
    short = strand[:_DIGITS].upper()
    groups = [short[start : start + _GROUP] for start in range(0, _DIGITS, _GROUP)]
    return f"session {session_id} score {_score(score)} chain {'-'.join(groups)}"


def slip_link(chain: str) -> str:
    """Return the beginning of the link, as hex, that a slip writes in groups."""
    return re.sub(r"[\s-]", "", chain).lower()


def is_chain_of(connection: Connection, session_id: int, chain: str) -> bool:
    """Tell whether a chain is that of a session's slip, or of an earlier one before a new score."""
    told = slip_link(chain).encode("utf-8", "replace")
    links = strands_of(connection, session_id, "scoring_runs")
    return any([compare_digest(told, link.hex()[:_DIGITS].encode("ascii")) for link in links])


def slip_findings(slip: str, facts: FactsRead) -> Iterator[Mismatch]:
    """Compare a slip with the facts of a bundle; raise `InputError` for a text of another form."""
    form = _FORM.fullmatch(slip)
    short = "" if form is None else slip_link(form[3])
    if form is None or len(short) != _DIGITS:
        raise InputError(
            f"--slip '{slip}' is no slip: it reads 'session 3 score 0.255170 chain "
            "9F3A-77C1-02DE-4B5A-8C11'."
        )
    number = facts.session_id
    if int(form[1]) != number:
        yield Mismatch(FACTS, f"session: found {number}, the slip says {form[1]}.")
    of_slip = [score for strand, score in facts.scores if strand.startswith(short)]
    if not of_slip:
        yield Mismatch(FACTS, f"No score in it has the chain {form[3]} of the slip.")
        return
    score, newest = of_slip[0], facts.scores[-1][1]
    if form[2] != _score(score):
        yield Mismatch(FACTS, f"score: found {_score(score)}, the slip says {form[2]}.")
    if newest != score:
        yield Mismatch(
            "score.json", f"The score is {_score(newest)} since a later scoring run, not {form[2]}."
        )


def _score(score: float | None) -> str:
    return "none" if score is None else f"{score:.6f}"


def slip_page_of(contest: Contest, session_id: int) -> str:
    """Return the page of a session's slip.

    Raises `Refusal` (code `session_unknown`), and (code `no_score`) before the session's score.
    """
    with contest.database.read() as connection:
        session = load_session(connection, session_id)
        slip = slip_of(connection, session_id)
        run = newest_scoring_run(connection, session_id)
        inputs = inputs_of(connection, run)
        used = file_with(connection, "ground_truth", inputs.get("ground_truth", ""))
        listed = inputs.get("blacklist")
        in_bundle = listed is None or blacklist_of(connection, listed) is not None
    if slip is None:
        raise Refusal("no_score", f"Session {session_id} has no score, and so it has no slip yet.")
    images = contest.config.images
    truth = images.ground_truth if used is None else Path(used.path)
    blacklist = None if in_bundle else images.blacklist or Path("blacklist.csv")
    images = replace(images, ground_truth=truth, blacklist=blacklist)
    command = verify_command(session_id, images, slip)
    started = session.facts.started
    day = "" if started is None else day_text(started.utc.isoformat())
    return slip_page(contest.config.contest.name, day, session.team, slip, command)


def verify_command(session_id: int, images: ImagesSection, slip: str) -> str:
    """Return the command that proves a slip, with every file that it needs by name."""
    words = ["referee", "verify", f"session{session_id}.zip"]
    words += ["--ground-truth", images.ground_truth.name]
    if images.blacklist is not None:
        words += ["--blacklist", images.blacklist.name]
    return shlex.join([*words, "--slip", slip])


def slip_page(contest: str, day: str, team: str, slip: str, command: str) -> str:
    """Return the console's page, with the slip as text and as a QR code; `day` may be ''."""
    return page(
        "service/evidence/slip.html",
        contest=", ".join(filter(None, (contest, day))),
        team=team,
        slip=slip,
        command=command,
        code=qr_svg(slip),
    )
