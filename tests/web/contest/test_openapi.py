# SPDX-License-Identifier: Apache-2.0
"""The description of the contest server is exactly what it serves."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.web.conftest import Site

schemathesis = pytest.importorskip("schemathesis")

pytestmark = pytest.mark.slow


def test_every_route_is_described_and_nothing_else(site: Site) -> None:
    """Paths and methods of the description are those of the application."""
    described = {
        (path.replace("{image}", "<text>"), method.upper())
        for path, operations in site.client.get("/openapi.json").get_json()["paths"].items()
        for method in operations
    }
    served = {
        (rule.rule, method)
        for rule in site.client.application.url_map.iter_rules()
        for method in (rule.methods or ()) - {"HEAD", "OPTIONS"}
    }
    assert described == served


@pytest.mark.parametrize("accept", ["*/*", "application/json"])
@pytest.mark.parametrize("known", [True, False], ids=["team", "stranger"])
def test_answers_are_as_described(site: Site, accept: str, known: bool) -> None:
    """Whatever is sent, status, type and content of the answer stand in the description."""
    schema = schemathesis.openapi.from_wsgi("/openapi.json", site.client.application)
    from schemathesis.checks import (  # Not installed everywhere.
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [content_type_conformance, response_schema_conformance, status_code_conformance]
    headers = {"Accept": accept}
    if known:
        headers["Authorization"] = f"Bearer {site.login()}"
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path == "/logout":
            continue  # The others would see nothing but 401 after it.

        @settings(
            max_examples=25,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy())
        def holds(case) -> None:  # type: ignore[no-untyped-def]
            case.call_and_validate(headers=headers, checks=checks)

        holds()
