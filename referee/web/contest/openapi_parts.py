# SPDX-License-Identifier: Apache-2.0
"""The parts of an OpenAPI description: operations, their refusals, forms and JSON objects."""

from __future__ import annotations

from typing import Any

from referee.web.contest.legacy import status_and_text

_FORM = "application/x-www-form-urlencoded"
TEXT = {"text/html": {"schema": {"type": "string"}}}
PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_SECURED: list[dict[str, list[str]]] = [{"bearer": []}, {"query": []}, {}]
POSTED_TOKEN = {"token": {"type": "string", "description": "Needed if it is not sent elsewhere."}}

# The refusals for any request with a body, and for any request with a token.
_BODY = ("body_truncated", "body_too_slow", "body_too_large", "form_invalid")
_TOKEN = ("token_missing", "token_invalid")


def operation(
    summary: str,
    good: dict[str, Any] | None,
    codes: tuple[str, ...],
    *,
    secured: bool = False,
    parameters: list[dict[str, Any]] | None = None,
    body: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Describe an operation by its good answer and its possible refusals."""
    codes = (*codes, *_BODY, "not_stored", *(_TOKEN if secured else ()))
    responses: dict[str, Any] = {}
    for code in codes:
        status = str(status_and_text(code)[0])
        listed = responses.setdefault(status, [])
        listed.append(code)
    described = {
        status: {"description": f"Refused: {', '.join(listed)}.", "content": TEXT | PROBLEM}
        for status, listed in sorted(responses.items())
    }
    if good is not None:
        described = {"200": {"description": "Success.", "content": good}} | described
    operation: dict[str, Any] = {"summary": summary, "responses": described}
    if secured:
        operation["security"] = _SECURED
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {"content": body}
    return operation


def form_body(properties: dict[str, Any]) -> dict[str, Any]:
    """Describe a body that is a form with these fields."""
    schema = {"type": "object", "properties": properties}
    return {_FORM: {"schema": schema}, "multipart/form-data": {"schema": schema}}


def query(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Describe a parameter of the query."""
    return {"name": name, "in": "query", "required": False, "schema": schema}


def json_object(**properties: str | list[str]) -> dict[str, Any]:
    """Describe an answer that is a JSON object with all these properties."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return {"application/json": {"schema": schema}}
