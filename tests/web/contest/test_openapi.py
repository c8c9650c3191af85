# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI description covers exactly what the contest server serves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def operations_of(site: Site) -> list[tuple[str, str, dict[str, Any]]]:
    """Return path, method and description of each operation."""
    document = site.client.get("/openapi.json").get_json()
    return [
        (path, method, described)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]


def test_a_client_can_be_generated(site: Site) -> None:
    """The document names its server, as it was asked, and each operation by a name of its own."""
    document = site.client.get("/openapi.json", base_url="https://lane2.hall:8443").get_json()
    assert [{"url": "https://lane2.hall:8443"}] == document["servers"]
    names = [described["operationId"] for _, _, described in operations_of(site)]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)
    assert {"post_login", "get_image_by_image", "post_result", "get_home"} <= set(names)


def test_a_token_is_required_where_the_server_requires_it(site: Site) -> None:
    """What is described with a token is refused without one, and nothing else is."""
    require_tokens(site)


def require_tokens(site: Site) -> None:
    """Fail where the description and the server disagree about a token."""
    for path, method, described in operations_of(site):
        if path not in ("/login", "/get_token", "/ovic/login"):
            answer = site.client.open(
                path.replace("{image}", "1").replace("{number}", "1"),
                method=method.upper(),
                **{"query_string" if method == "get" else "data": {"image_name": "1"}},
                headers={"Accept": "application/json"},
            )
            needed = [{"bearer": []}, {"query": []}] == described.get("security")
            told = answer.get_json(force=True, silent=True)
            code = told.get("code") if isinstance(told, dict) else None
            assert needed == (code in ("token_missing", "token_invalid")), (path, method, told)


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
