# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI description of the contest server: `/openapi.json`, for tools and generators."""

from __future__ import annotations

from typing import Any

from referee import __version__
from referee.formats.answers import FORM_FIELDS
from referee.service.setup.contest import Contest
from referee.tracks.track import Delivery
from referee.web.contest.legacy import ANSWERS

_FORM = "application/x-www-form-urlencoded"
_TEXT = {"text/html": {"schema": {"type": "string"}}}
_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_CLASSES = {
    "text/plain": {"schema": {"type": "string"}},
    "application/json": {
        "schema": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
                "required": ["id", "name"],
            },
        }
    },
}
_SECURED: list[dict[str, list[str]]] = [{"bearer": []}, {"query": []}, {}]
_POSTED_TOKEN = {"token": {"type": "string", "description": "Needed if it is not sent elsewhere."}}

# The refusals for any request with a body, and for any request with a token.
_BODY = ("body_truncated", "body_too_slow", "body_too_large")
_TOKEN = ("token_missing", "token_invalid")
_IMAGE = (
    *("image_name_missing", "image_index_empty", "image_index_invalid"),
    *("image_index_out_of_range", "image_missing", "images_shown"),
)
_LOGIN = (
    *(
        "media_type_unknown",
        "username_missing",
        "login_invalid",
        "login_busy",
        "login_failed",
        "not_armed",
    ),
    *("session_over", "other_session_live", "meter_unavailable", "display_failed"),
)
_ANSWER = (
    *("lists_unequal", "not_a_number", "too_many_rows", "json_invalid", "csv_invalid"),
    "media_type_unknown",
)


def openapi(contest: Contest) -> dict[str, Any]:
    """Return the OpenAPI document of a contest."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{contest.config.contest.name}: the contestants' server",
            "version": __version__,
            "description": "The server also takes the forms that clients of 2015-2019 send.",
        },
        "paths": _session_paths() | _image_paths(contest) | {"/result": {"post": _result()}},
        "components": {
            "schemas": {"Problem": _problem_schema()},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "query": {"type": "apiKey", "in": "query", "name": "token"},
            },
        },
    }


def _operation(
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
        status = str(ANSWERS[code][0])
        listed = responses.setdefault(status, [])
        listed.append(code)
    described = {
        status: {"description": f"Refused: {', '.join(listed)}.", "content": _TEXT | _PROBLEM}
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


def _form(properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {_FORM: {"schema": schema}, "multipart/form-data": {"schema": schema}}


def _query(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _object(**properties: str | list[str]) -> dict[str, Any]:
    """Describe an answer that is a JSON object with all these properties."""
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return {"application/json": {"schema": schema}}


def _session_paths() -> dict[str, Any]:
    pair = {"username": {"type": "string"}, "password": {"type": "string"}}
    token = _TEXT | _object(
        token="string",
        session="integer",
        images="integer",
        seconds="number",
        remaining_seconds="number",
        frame_tag=["integer", "null"],
    )
    queries = [_query(name, schema) for name, schema in pair.items()]
    login = {
        "get": _operation("Log in", token, _LOGIN, parameters=queries),
        "post": _operation("Log in", token, _LOGIN, body=_form(pair)),
    }
    plain = {"text/plain": {"schema": {"type": "string"}}}
    home = {"responses": {"302": {"description": "To the contest's site.", "content": _TEXT}}}
    home["responses"] |= _operation("", None, ())["responses"]
    status = _object(
        session="integer",
        state="string",
        remaining_seconds="number",
        images="integer",
        images_fetched="integer",
        answers="integer",
        detections="integer",
        late_answers="integer",
        frame_tag=["integer", "null"],
    )
    return {
        "/": {"get": home, "post": home},
        "/help": _both("Read how to take part", plain, ()),
        "/classes": {"get": _operation("Read class ids and names", _CLASSES, ())},
        "/openapi.json": {"get": _operation("Read this", _object(openapi="string"), ())},
        "/login": login,
        "/get_token": login,
        "/verify": _both("Check the token", _TEXT, (), secured=True),
        "/no_of_images": {
            "post": _operation(
                "Ask for the number of images",
                _TEXT,
                (),
                secured=True,
                body=_form(_POSTED_TOKEN),
            )
        },
        "/status": {"get": _operation("Ask what was counted", status, (), secured=True)},
        "/logout": _both("End the session", _TEXT, ("session_over",), secured=True),
    }


def _both(
    summary: str, good: dict[str, Any] | None, codes: tuple[str, ...], *, secured: bool = False
) -> dict[str, Any]:
    return {
        "get": _operation(summary, good, codes, secured=secured),
        "post": _operation(
            summary, good, codes, secured=secured, body=_form(_POSTED_TOKEN) if secured else None
        ),
    }


def _image_paths(contest: Contest) -> dict[str, Any]:
    number = {"type": "string", "description": f"1 to {contest.image_count}"}
    name = {"image_name": number}
    binary: dict[str, Any] = {"schema": {}}
    image = {entry.media_type: binary for entry in contest.images}
    archive = {"application/zip": binary}

    def fetch(what: str, good: dict[str, Any], codes: tuple[str, ...]) -> dict[str, Any]:
        asked = [_query("image_name", number)]
        form = _form(_POSTED_TOKEN | name)
        return {
            "get": _operation(what, good, codes, secured=True, parameters=asked),
            "post": _operation(what, good, codes, secured=True, body=form),
        }

    path = [{"name": "image", "in": "path", "required": True, "schema": number}]
    by_path = {
        method: _operation("Fetch an image", image, _IMAGE, secured=True, parameters=path)
        for method in ("get", "post")
    }
    # With an empty image name the path is a different one, which does not exist.
    for operation in by_path.values():
        operation["responses"]["404"] = {
            "description": "No such path.",
            "content": _TEXT | _PROBLEM,
        }
    shown = contest.track.delivery is Delivery.SHOWN
    camera = _operation("Ask for an image on the screen", None, ("display_off",))
    cameras = {"get": camera, "post": camera}
    if shown:
        codes = (*_IMAGE, "display_failed")
        cameras = fetch("Ask for an image on the screen; 200 when it is painted", _TEXT, codes)
    return {
        "/image": fetch("Fetch an image", image, _IMAGE),
        "/image/{image}": by_path,
        "/zipimages": fetch("Fetch a hundred images", archive, (*_IMAGE, "archive_index_invalid")),
        "/image_camera": cameras,
    }


def _result() -> dict[str, Any]:
    number = {"type": "number"}
    item = {
        "type": "object",
        "properties": {
            "image_id": {"type": "integer"},
            "category_id": {"type": "integer"},
            "bbox": {"type": "array", "items": number, "minItems": 4, "maxItems": 4},
            "score": number,
        },
        "required": ["image_id", "category_id", "bbox"],
    }
    lists = {name: {"type": "array", "items": {"type": "string"}} for name in FORM_FIELDS}
    body = _form(_POSTED_TOKEN | lists)
    body["application/json"] = {"schema": {"type": "array", "items": item}}
    body["text/csv"] = {"schema": {"type": "string"}}
    receipt = _object(
        answer="integer",
        stored="integer",
        flagged="array",
        flagged_count="integer",
        received_s="number",
        remaining_seconds="number",
        late="boolean",
    )
    return _operation("Send detections", _TEXT | receipt, _ANSWER, secured=True, body=body)


def _problem_schema() -> dict[str, Any]:
    texts = ("type", "title", "detail", "code")
    properties: dict[str, Any] = {name: {"type": "string"} for name in texts}
    properties["status"] = {"type": "integer"}
    properties["faults"] = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": [*texts, "status"]}
