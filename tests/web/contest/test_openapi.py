# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI description covers exactly what the contest server serves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from referee.web.contest.openapi import paths_of
from tests.web.conftest import Site

pytestmark = pytest.mark.slow


def test_every_route_is_described_and_nothing_else(site: Site) -> None:
    """The description has the application's paths and methods, and no others."""
    require_described(site)


def require_described(site: Site) -> None:
    """Fail unless the description has exactly the paths and methods of the application."""
    described = {
        (path.replace("{image}", "<text>").replace("{number}", "<number>"), method.upper())
        for path, operations in site.client.get("/openapi.json").get_json()["paths"].items()
        for method in operations
    }
    served = {
        (rule.rule, method)
        for rule in site.client.application.url_map.iter_rules()
        for method in (rule.methods or ()) - {"HEAD", "OPTIONS"}
    }
    assert described == served


def test_a_word_that_no_route_has_is_refused(tmp_path: Path) -> None:
    """A slip in the file of routes is an error, and no gap in the description."""
    file = tmp_path / "routes.toml"
    file.write_text('[[operations]]\npaths = ["/"]\nmethods = ["get"]\nanswer = ["text"]\n')
    with pytest.raises(msgspec.ValidationError, match="answer"):
        paths_of(file)


@pytest.mark.parametrize("accept", ["*/*", "application/json"])
@pytest.mark.parametrize("known", [True, False], ids=["team", "stranger"])
def test_answers_are_as_described(site: Site, accept: str, known: bool) -> None:
    """The document is sound, and covers status, type and content of the answer to any request."""
    headers = {"Accept": accept}
    if known:
        headers["Authorization"] = f"Bearer {site.login()}"
    hold_for(site, headers, lambda path: True)


def hold_for(site: Site, headers: dict[str, str], chosen: Callable[[str], bool]) -> None:
    """Send all kinds of requests to the chosen paths, and compare the answers."""
    import schemathesis  # It takes a second to load, which other workers need not spend.
    from schemathesis.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    schema = schemathesis.openapi.from_wsgi("/openapi.json", site.client.application)
    schema.validate()
    checks = [content_type_conformance, response_schema_conformance, status_code_conformance]
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path == "/logout" or not chosen(operation.path):
            continue  # Logout comes last: after it every other request gets 401.

        @settings(
            max_examples=12,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy())
        def holds(case) -> None:  # type: ignore[no-untyped-def]
            case.call_and_validate(headers=headers, checks=checks)

        holds()
