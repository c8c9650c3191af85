# SPDX-License-Identifier: Apache-2.0
"""The OpenAPI description of the contest server: `/openapi.json`, for tools and generators.

The routes stand in `openapi.toml`, and say there what their words mean.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from referee import __version__
from referee.formats import answers
from referee.formats.answer_formats import all_formats
from referee.service.setup.contest import Contest
from referee.service.setup.extra import present_extras
from referee.tracks.track import Delivery
from referee.web.contest.legacy import status_and_text

Schema = dict[str, Any]
Contents = Mapping[str, Schema]
"""Schemas by media type."""

_ROUTES = Path(__file__).with_suffix(".toml")
_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
# The old referee's texts have the type that its clients know.
_LINES = dict.fromkeys(("text/plain", "text/html"), {"schema": {"type": "string"}})
_REFUSED = _LINES | _PROBLEM
_STRING: Schema = {"type": "string"}
_TOKEN: Schema = _STRING | {"description": "Needed if it is not sent elsewhere."}
# A form's field `token` serves, too, but OpenAPI has no word for that.
_SECURED: list[dict[str, list[str]]] = [{"bearer": []}, {"query": []}]
# The refusals for any request with a body, and for any request with a token.
_OF_BODY = ("body_truncated", "body_too_slow", "body_too_large", "form_invalid", "not_stored")
_OF_TOKEN = ("token_missing", "token_invalid", "other_device")


class _Operation(msgspec.Struct, forbid_unknown_fields=True):
    """Operations that are described alike."""

    paths: list[str]
    methods: list[str]
    summary: str = ""
    answers: list[str] = []
    refusals: list[str] = []
    fields: list[str] = []
    query: list[str] = []
    path: str = ""
    body: str = ""
    secured: bool = False
    shown: bool | None = None
    redirect: str = ""
    success: str = "Success."
    created: str = ""
    unknown_path: bool = False


class _Routes(msgspec.Struct, forbid_unknown_fields=True):
    """The content of a file of routes."""

    operations: list[_Operation]
    contents: dict[str, Contents] = {}
    objects: dict[str, dict[str, str | list[str]]] = {}
    fields: dict[str, Schema] = {}
    refusals: dict[str, list[str]] = {}


def openapi(contest: Contest, base: str) -> Schema:
    """Return the OpenAPI document of a contest; `base` is the address at which it was asked."""
    paths = paths_of(
        _ROUTES,
        shown=contest.track.delivery is Delivery.SHOWN,
        contents={
            "image": {entry.media_type: {} for entry in contest.images},
            "answer": _answer_contents(),
        },
        fields=dict.fromkeys(
            ("image_name", "image"), _STRING | {"description": f"1 to {contest.image_count}"}
        ),
        refusals={"answer": _answer_refusals()},
    )
    for extra in present_extras(contest.config):
        paths |= extra.openapi()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{contest.config.contest.name}: the contestants' server",
            "version": __version__,
            "description": "The server also takes the forms that clients of 2015-2019 send, where "
            "the field 'token' of a form stands for the token of a header.",
        },
        "servers": [{"url": base}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": _problem_schema()},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "query": {"type": "apiKey", "in": "query", "name": "token"},
            },
        },
    }


def paths_of(
    file: Path,
    *,
    shown: bool = False,
    contents: Mapping[str, Contents] | None = None,
    fields: Mapping[str, Schema] | None = None,
    refusals: Mapping[str, list[str]] | None = None,
) -> Schema:
    """Return the paths that a file describes; the arguments add what it cannot know."""
    routes = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _Routes)
    objects = {name: _object(kinds) for name, kinds in routes.objects.items()}
    routes.contents = {**routes.contents, **objects, **(contents or {})}
    routes.fields |= fields or {}
    routes.refusals |= refusals or {}
    paths: Schema = {}
    for operation in routes.operations:
        if operation.shown in (None, shown):
            for path in operation.paths:
                for method in operation.methods:
                    described = {"operationId": _name_of(method, path)}
                    described |= _operation(routes, operation, method)
                    paths.setdefault(path, {})[method] = described
    return paths


def _name_of(method: str, path: str) -> str:
    """Return what a generated client calls an operation, such as `get_image_by_image`."""
    words = re.sub(r"\{(\w+)\}", r"by_\1", path.strip("/") or "home")
    return f"{method}_{re.sub('[^a-z0-9]+', '_', words.lower())}"


def _operation(routes: _Routes, operation: _Operation, method: str) -> Schema:
    described: Schema = {"summary": operation.summary} if operation.summary else {}
    described["responses"] = _responses(routes, operation)
    if operation.secured:
        described["security"] = _SECURED
    queried = [*operation.query, *(operation.fields if method == "get" else ())]
    parameters = [_parameter(routes, name, "query") for name in queried]
    if operation.path:
        parameters.append(_parameter(routes, operation.path, "path"))
    if parameters:
        described["parameters"] = parameters
    body = _body(routes, operation) if method != "get" else {}
    if body:
        described["requestBody"] = {"content": body}
    return described


def _responses(routes: _Routes, operation: _Operation) -> Schema:
    good = _content([routes.contents[name] for name in operation.answers])
    responses: Schema = {}
    if good:
        responses["200"] = {"description": operation.success, "content": good}
    if operation.created:
        responses["201"] = {"description": operation.created, "content": good}
    if operation.redirect:
        text = _content([routes.contents["text"]])
        responses["302"] = {"description": operation.redirect, "content": text}
    codes = [code for name in operation.refusals for code in routes.refusals.get(name, [name])]
    by_status: dict[str, list[str]] = {}
    for code in (*codes, *_OF_BODY, *(_OF_TOKEN if operation.secured else ())):
        by_status.setdefault(str(status_and_text(code)[0]), []).append(code)
    for status, listed in sorted(by_status.items()):
        responses[status] = {"description": f"Refused: {', '.join(listed)}.", "content": _REFUSED}
    if operation.unknown_path:
        responses["404"] = {"description": "No such path.", "content": _REFUSED}
    return responses


def _parameter(routes: _Routes, name: str, place: str) -> Schema:
    schema = routes.fields.get(name, _STRING)
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


def _body(routes: _Routes, operation: _Operation) -> Schema:
    """Return the content of a body; an operation that has its field in the path has no form."""
    if operation.body:
        return _content([routes.contents[operation.body]])
    fields = {name: routes.fields.get(name, _STRING) for name in operation.fields}
    if operation.secured and not operation.path:
        fields = {"token": _TOKEN} | fields
    return _content([_form(fields)]) if fields else {}


def _content(contents: Iterable[Contents]) -> Schema:
    """Return schemas by media type; two objects of one type are one with the fields of both."""
    found: Schema = {}
    for content in contents:
        for kind, schema in content.items():
            if kind in found:
                first = found[kind]["schema"]
                schema = schema | {
                    "properties": first["properties"] | schema["properties"],
                    "required": [*first["required"], *schema["required"]],
                }
            found[kind] = {"schema": schema}
    return found


def _form(fields: Mapping[str, Schema]) -> Contents:
    schema = {"type": "object", "properties": fields}
    return dict.fromkeys(("application/x-www-form-urlencoded", "multipart/form-data"), schema)


def _object(kinds: Mapping[str, str | list[str]]) -> Contents:
    properties = {name: {"type": kind} for name, kind in kinds.items()}
    return {
        "application/json": {
            "type": "object",
            "properties": properties,
            "required": list(properties),
        }
    }


def _answer_contents() -> Contents:
    """Return the bodies of an answer: the lists of a form, and the other formats."""
    lists = {name: {"type": "array", "items": _STRING} for name in answers.FORM_FIELDS}
    return {
        **_form({"token": _TOKEN} | lists),
        **{
            kind: dict(answer_format.schema)
            for answer_format in all_formats()
            for kind in (answer_format.media_type, *answer_format.other_types)
        },
    }


def _answer_refusals() -> list[str]:
    of_formats = [one.refusal for one in all_formats()]
    return [*answers.REFUSALS, *of_formats, "media_type_unknown"]


def _problem_schema() -> Schema:
    texts = ("type", "title", "detail", "code")
    properties: dict[str, Schema] = {name: _STRING for name in texts}
    properties["status"] = {"type": "integer"}
    properties["faults"] = {"type": "array", "items": _STRING}
    return {"type": "object", "properties": properties, "required": [*texts, "status"]}
