# SPDX-License-Identifier: Apache-2.0
"""The two sides of the submission service: a contest server over HTTP, or an operator's folder."""

from __future__ import annotations

import argparse
import getpass
import json
import ssl
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

from msgspec import ValidationError, convert

from power.bounded_file import require_file
from power.http_request import NO_ANSWER, answered
from referee.commands.options import declare_config, environment_config
from referee.errors import InputError, Refusal, Unavailable
from referee.extras.ovic.rules.documents import (
    EntriesView,
    EntryDetail,
    ReceiptView,
)
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.store.database import Database

if TYPE_CHECKING:
    from referee.extras.ovic.submission.tasks import Task

# The longest silence of a server: it may wait 45 s for its disk.
_SILENT_S = 60.0
# The longest that a model may take on a slow link.
_WHOLE_S = 3600.0
# The same model is the same entry, so a lost answer is no reason to give up.
_TRIES = 3


def add_site(parser: argparse.ArgumentParser, *, team: bool = False) -> None:
    """Declare how to reach the contest: `--url` for a team, `--config` for an operator."""
    group = parser.add_argument_group("the contest")
    site = group.add_mutually_exclusive_group(required=environment_config() is None)
    site.add_argument("--url", metavar="URL", help="a team: the contest server's address")
    declare_config(site, "an operator: contest.toml")
    group.add_argument(
        "--ca-file",
        type=Path,
        metavar="FILE",
        help="with --url https://…: the organiser's CA (default: those that this system knows)",
    )
    group.add_argument("--team", required=team, metavar="NAME", help="the team")
    group.add_argument(
        "--password", metavar="P", help="with --url: the team's password (default: ask for it)"
    )


_View = TypeVar("_View")


class TeamSite:
    """A team at a contest server; it logs in when it is made.

    Raises `Refusal` with the server's sentence, and `Unavailable` if the server does not answer.
    """

    def __init__(
        self, url: str, team: str | None, password: str | None, ca_file: Path | None = None
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InputError(
                f"--url {url} is not an address: give one like http://192.168.1.2:8000."
            )
        if ca_file is not None and not url.startswith("https://"):
            raise InputError(
                f"--ca-file goes with an address that begins with https://, not {url}."
            )
        if team is None:
            raise InputError("--url needs --team, whose entries these are.")
        if password is None:
            if not sys.stdin.isatty():
                raise InputError("give --password: there is no terminal to ask for it.")
            password = getpass.getpass(f"Password of {team}: ")
        self._url = url.rstrip("/")
        self._tls = _trusting(ca_file) if ca_file else None
        self._token = ""
        form = urlencode({"username": team, "password": password}).encode()
        form_type = {"Content-Type": "application/x-www-form-urlencoded"}
        self._token = str(self._ask("/ovic/login", "POST", form, form_type)["token"])

    def entry(self, number: int) -> EntryDetail:
        """Return one entry of the team."""
        return self._read(self._ask(f"/ovic/entries/{number}", "GET"), EntryDetail)

    def entries(self) -> EntriesView:
        """Return all entries of the team."""
        return self._read(self._ask("/ovic/entries", "GET"), EntriesView)

    def submit(self, model: Path, task: str) -> ReceiptView:
        """Send a model and return its entry; a lost connection is tried again."""
        query = urlencode({"task": task, "name": model.name})
        for left in reversed(range(_TRIES)):
            try:
                with _opened(model) as file:
                    about = {
                        "Content-Length": str(model.stat().st_size),
                        "Content-Type": "application/octet-stream",
                    }
                    answer = self._ask(f"/ovic/entries?{query}", "POST", file, about)
                return self._read(answer, ReceiptView)
            except Unavailable:
                if not left:
                    raise
        raise Unavailable("the server did not answer")

    def _read(self, answer: dict[str, object], shape: type[_View]) -> _View:
        """Return an answer that has what it should have; raise `Unavailable` for another one."""
        try:
            return convert(answer, shape)
        except ValidationError as error:
            raise Unavailable(
                f"{self._url} is of another version than this program: {error}."
            ) from None

    def _ask(
        self,
        path: str,
        method: str,
        body: bytes | IO[bytes] | None = None,
        about_body: Mapping[str, str] = {},
    ) -> dict[str, object]:
        headers = {"Accept": "application/json", **about_body}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            with answered(
                self._url + path,
                timeout_s=_SILENT_S,
                within_s=_WHOLE_S,
                tls=self._tls,
                method=method,
                body=body,
                headers=headers,
            ) as answer:
                status, content = answer.status, answer.read()
        except ssl.SSLCertVerificationError as error:
            raise InputError(
                f"The certificate of {self._url} is not trusted: {error.verify_message}. Give the "
                "organiser's CA file with --ca-file."
            ) from None
        except NO_ANSWER as error:
            raise Unavailable(f"{self._url} does not answer: {error}.") from None
        if not 200 <= status < 300:
            raise _refusal(status, self._url, content)
        return _object(self._url, content)


def _trusting(ca_file: Path) -> ssl.SSLContext:
    try:
        require_file(ca_file)
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError.
        raise InputError(f"--ca-file {ca_file} cannot be used: {error}.") from None


@contextmanager
def _opened(model: Path) -> Iterator[IO[bytes]]:
    try:
        require_file(model)
        file = model.open("rb")
    except OSError as error:
        raise InputError(f"{model} cannot be read: {error.strerror}.") from None
    with file:
        yield file


def _object(url: str, content: bytes) -> dict[str, object]:
    try:
        answer = json.loads(content)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise Unavailable(
            f"{url} is not a contest server, or takes no models: its answer is not JSON."
        )
    return answer


def _refusal(status: int, url: str, content: bytes) -> Exception:
    try:
        details = json.loads(content)
        return Refusal(str(details["code"]), str(details["detail"]))
    except (ValueError, TypeError, KeyError):
        return Unavailable(f"{url} answers with status {status} and no reason.")


@contextmanager
def operators_site(path: Path) -> Iterator[tuple[Config, Database, dict[str, Task]]]:
    """Open a contest for its operator; the servers may run meanwhile.

    Raises `InputError` if no task is open, or before the contest's first start.
    """
    from referee.extras.ovic.submission.tasks import open_tasks

    config = load_config(path)
    tasks = open_tasks(config)
    if not tasks:
        raise InputError(f"{path}: no task of OVIC is open; see the section [ovic].")
    if not config.database.exists():
        raise InputError(f"{config.storage.folder} has no contest yet: run 'referee serve' first.")
    database = Database(config.database)
    try:
        database.migrate()
        yield config, database, tasks
    finally:
        database.close()
