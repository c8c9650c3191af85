# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI description of the routes of OVIC's submission service."""

from __future__ import annotations

from typing import Any

from referee.web.contest.openapi_parts import TEXT, form_body, json_object, operation, query

_LOGIN = ("username_missing", "login_invalid", "login_busy")
_SUBMIT = (
    *("task_unknown", "media_type_unknown", "model_empty", "model_too_large"),
    *("entries_spent", "team_withdrawn", "entries_closed"),
)
_NUMBER = ["number", "null"]
_ENTRY: dict[str, str | list[str]] = {
    "entry": "integer",
    "team": "string",
    "task": "string",
    "file": "string",
    "bytes": "integer",
    "model_sha256": "string",
    "received_utc": "string",
    "state": "string",
    "since_utc": "string",
    "place": ["integer", "null"],
    "tries": "integer",
    "text": "string",
    **dict.fromkeys(("accuracy", "latency_ms", "clamped_ms", "frontier", "metric"), _NUMBER),
    "valid": ["boolean", "null"],
    "reasons": "array",
}


def ovic_paths() -> dict[str, Any]:
    """Return the paths of the service."""
    rules = json_object(
        tasks="array", most_bytes="integer", entries_a_day="integer", day_ends_utc="string"
    )
    own = json_object(team="string", entries="array", left_today="object", day_ends_utc="string")
    one = json_object(**_ENTRY, events="array")
    board = json_object(tasks="array", line="object")
    pair = form_body({"username": {"type": "string"}, "password": {"type": "string"}})
    token = TEXT | json_object(token="string", team="string")
    path = [{"name": "number", "in": "path", "required": True, "schema": {"type": "string"}}]
    unknown = ("entry_unknown",)
    return {
        "/ovic": {"get": operation("Ask for tasks and limits", rules, ())},
        "/ovic/login": {"post": operation("Get a team's token", token, _LOGIN, body=pair)},
        "/ovic/entries": {
            "get": operation("List the team's entries", own, (), secured=True),
            "post": _submit(),
            "put": _submit(),
        },
        "/ovic/entries/{number}": {
            "get": operation("Follow an entry", one, unknown, secured=True, parameters=path)
        },
        "/ovic/leaderboard": {
            "get": operation(
                "See the best entry of each team", board, ("leaderboard_closed",), secured=True
            )
        },
    }


def _submit() -> dict[str, Any]:
    receipt = json_object(**_ENTRY, new="boolean", left_today="integer")
    text = {"type": "string"}
    described = operation(
        "Hand in a model: its file is the body",
        receipt,
        _SUBMIT,
        secured=True,
        parameters=[query("task", text), query("name", text)],
        body={"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    )
    described["responses"]["200"]["description"] = "The same model is an entry already."
    described["responses"]["201"] = {"description": "A new entry.", "content": receipt}
    return described
