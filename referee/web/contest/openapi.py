# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI description of the contest server: `/openapi.json`, for tools and generators."""

from __future__ import annotations

from typing import Any

from referee import __version__
from referee.formats.answer_formats import FORMATS
from referee.formats.answers import FORM_FIELDS
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.tracks.track import Delivery
from referee.web.contest.openapi_parts import (
    POSTED_TOKEN,
    PROBLEM,
    TEXT,
    form_body,
    json_object,
    operation,
    query,
)

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
    *("lists_unequal", "not_a_number", "too_many_rows"),
    *(one.refusal for one in FORMATS),
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
        "paths": _session_paths()
        | _image_paths(contest)
        | {"/result": {"post": _result()}}
        | _paths_of_guests(contest),
        "components": {
            "schemas": {"Problem": _problem_schema()},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "query": {"type": "apiKey", "in": "query", "name": "token"},
            },
        },
    }


def _paths_of_guests(contest: Contest) -> dict[str, Any]:
    guests = present_extras(contest.config)
    return {path: one for extra in guests for path, one in extra.openapi().items()}


def _session_paths() -> dict[str, Any]:
    pair = {"username": {"type": "string"}, "password": {"type": "string"}}
    token = TEXT | json_object(
        token="string",
        session="integer",
        images="integer",
        seconds="number",
        remaining_seconds="number",
        frame_tag=["integer", "null"],
    )
    queries = [query(name, schema) for name, schema in pair.items()]
    login = {
        "get": operation("Log in", token, _LOGIN, parameters=queries),
        "post": operation("Log in", token, _LOGIN, body=form_body(pair)),
    }
    plain = {"text/plain": {"schema": {"type": "string"}}}
    home = {"responses": {"302": {"description": "To the contest's site.", "content": TEXT}}}
    home["responses"] |= operation("", None, ())["responses"]
    status = json_object(
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
        "/classes": {"get": operation("Read class ids and names", _CLASSES, ())},
        "/openapi.json": {"get": operation("Read this", json_object(openapi="string"), ())},
        "/login": login,
        "/get_token": login,
        "/verify": _both("Check the token", TEXT, (), secured=True),
        "/no_of_images": {
            "post": operation(
                "Ask for the number of images",
                TEXT,
                (),
                secured=True,
                body=form_body(POSTED_TOKEN),
            )
        },
        "/status": {"get": operation("Ask what was counted", status, (), secured=True)},
        "/logout": _both("End the session", TEXT, ("session_over",), secured=True),
    }


def _both(
    summary: str, good: dict[str, Any] | None, codes: tuple[str, ...], *, secured: bool = False
) -> dict[str, Any]:
    return {
        "get": operation(summary, good, codes, secured=secured),
        "post": operation(
            summary, good, codes, secured=secured, body=form_body(POSTED_TOKEN) if secured else None
        ),
    }


def _image_paths(contest: Contest) -> dict[str, Any]:
    number = {"type": "string", "description": f"1 to {contest.image_count}"}
    name = {"image_name": number}
    binary: dict[str, Any] = {"schema": {}}
    image = {entry.media_type: binary for entry in contest.images}
    archive = {"application/zip": binary}

    def fetch(what: str, good: dict[str, Any], codes: tuple[str, ...]) -> dict[str, Any]:
        asked = [query("image_name", number)]
        body = form_body(POSTED_TOKEN | name)
        return {
            "get": operation(what, good, codes, secured=True, parameters=asked),
            "post": operation(what, good, codes, secured=True, body=body),
        }

    path = [{"name": "image", "in": "path", "required": True, "schema": number}]
    by_path = {
        method: operation("Fetch an image", image, _IMAGE, secured=True, parameters=path)
        for method in ("get", "post")
    }
    # With an empty image name the path is a different one, which does not exist.
    for described in by_path.values():
        described["responses"]["404"] = {
            "description": "No such path.",
            "content": TEXT | PROBLEM,
        }
    shown = contest.track.delivery is Delivery.SHOWN
    camera = operation("Ask for an image on the screen", None, ("display_off",))
    cameras = {"get": camera, "post": camera}
    if shown:
        codes = (*_IMAGE, "display_failed")
        cameras = fetch("Ask for an image on the screen; 200 when it is painted", TEXT, codes)
    return {
        "/image": fetch("Fetch an image", image, _IMAGE),
        "/image/{image}": by_path,
        "/zipimages": fetch("Fetch a hundred images", archive, (*_IMAGE, "archive_index_invalid")),
        "/image_camera": cameras,
    }


def _result() -> dict[str, Any]:
    lists = {name: {"type": "array", "items": {"type": "string"}} for name in FORM_FIELDS}
    body = form_body(POSTED_TOKEN | lists)
    body |= {one.media_type: {"schema": one.schema} for one in FORMATS}
    receipt = json_object(
        answer="integer",
        stored="integer",
        flagged="array",
        flagged_count="integer",
        received_s="number",
        remaining_seconds="number",
        late="boolean",
        remarks="array",
    )
    return operation("Send detections", TEXT | receipt, _ANSWER, secured=True, body=body)


def _problem_schema() -> dict[str, Any]:
    texts = ("type", "title", "detail", "code")
    properties: dict[str, Any] = {name: {"type": "string"} for name in texts}
    properties["status"] = {"type": "integer"}
    properties["faults"] = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": [*texts, "status"]}
