# SPDX-License-Identifier: Apache-2.0
"""What a site tells programs: the results as JSON and CSV, and schemas of these and the feed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import msgspec

from referee.core.turns import SESSION_RULE
from referee.formats.tables import Table, csv_of
from referee.service.event.columns import COLUMNS, CSV_FIELDS, MARKS, csv_value
from referee.service.event.figures import Figures
from referee.service.event.marks import all_marks
from referee.service.event.result_entry import PublicEntry
from referee.service.event.results_table import RANKING
from referee.service.event.standings import TIE_RULE
from referee.service.scoreboard.feed_data import FEED_OBJECTS, JudgementObject
from referee.service.scoreboard.feed_objects import FeedObject
from referee.service.scoreboard.view import PublicView, ShownView

_TEAM_ID = "team_id"
# As Python's writer of CSV has them.
_DATATYPES: dict[str, object] = {
    "integer": "integer",
    "number": "number",
    "boolean": {"base": "boolean", "format": "True|False"},
}
_JSON_SCHEMA = "https://json-schema.org/draft/2020-12/schema"
_CSVW = "http://www.w3.org/ns/csvw"


class PublishedResults(ShownView, frozen=True, kw_only=True):
    """The results of a site: the scoreboard's view, and what stands beside it.

    `key` names the view's content. `station` is the key by which programs know the event. `bundles`
    has the path of each team's bundle that the site offers.
    """

    key: str
    station: str | None
    licence: str
    citation: str
    session_rule: str = SESSION_RULE
    tie_rule: str = TIE_RULE
    bundles: Mapping[str, str] = {}


def results_json(view: str, beside: Mapping[str, object]) -> bytes:
    """Return the results: the scoreboard's own text of the view, and the fields beside it."""
    rules = {"session_rule": SESSION_RULE, "tie_rule": TIE_RULE}
    told = json.loads(view) | dict(beside) | rules
    return (json.dumps(told, allow_nan=False) + "\n").encode()


def results_csv(view: PublicView, objects: Iterable[FeedObject]) -> bytes:
    """Return the ranking as `referee results --csv` prints it, of what the public sees."""
    numbers = {
        one.data["name"]: int(str(one.id)) for one in objects if one.type == "teams" and one.data
    }

    def value(entry: PublicEntry, field: str) -> object:
        if field == MARKS:
            return "; ".join(all_marks(entry, view))
        return numbers.get(entry.team) if field == _TEAM_ID else csv_value(entry, field)

    rows = [[value(entry, field) for field in CSV_FIELDS] for entry in view.entries]
    return csv_of(Table(RANKING, CSV_FIELDS, rows)).encode()


def schema_json() -> bytes:
    """Return a JSON schema of the results; its `$defs` has `FeedLine`, a line of the feed."""
    kinds = tuple(FEED_OBJECTS.values())
    (results, *_), definitions = msgspec.json.schema_components(
        [PublishedResults, *kinds], ref_template="#/$defs/{name}"
    )
    told = definitions[JudgementObject.__name__]
    # The feed tells the figures of a judgement among its fields, and no score where there is none.
    told["properties"] |= definitions[Figures.__name__]["properties"]
    del told["properties"]["figures"]
    told["required"] = [name for name in told["required"] if name != "figures"]
    lines = [_line_schema(kind, shape.__name__) for kind, shape in FEED_OBJECTS.items()]
    schema = {"$schema": _JSON_SCHEMA, "title": "results.json; a line of feed.ndjson is a FeedLine"}
    definitions |= {"FeedLine": {"oneOf": lines}}
    return (json.dumps({**schema, **results, "$defs": definitions}, indent=1) + "\n").encode()


def _line_schema(kind: str, shape: str) -> dict[str, object]:
    """Return the schema of the feed's lines of a kind; `data` is null for a removed object."""
    fields = {
        "type": {"const": kind},
        "id": {"type": ["string", "null"]},
        "data": {"anyOf": [{"$ref": f"#/$defs/{shape}"}, {"type": "null"}]},
        "token": {"type": "string"},
    }
    return {"type": "object", "properties": fields, "required": [*fields]}


def csv_schema(licence: str) -> bytes:
    """Return what the columns of the CSV hold, as CSV on the Web says it (W3C)."""
    schema: dict[str, object] = {
        "@context": _CSVW,
        "url": "results.csv",
        "dialect": {"header": True, "encoding": "utf-8"},
        "tableSchema": {"columns": [_column(field) for field in CSV_FIELDS]},
    }
    if licence:
        schema["dc:license"] = licence
    return (json.dumps(schema, indent=1) + "\n").encode()


def _column(field: str) -> dict[str, object]:
    words = next((column.words for column in COLUMNS if column.field == field), "")
    told: dict[str, object] = {"name": field, "titles": field, "datatype": _datatype(field)}
    return told | ({"dc:description": words} if words else {})


def _datatype(field: str) -> object:
    """Return what a column's cells are, by the field of an entry."""
    if field == _TEAM_ID:
        return "integer"
    schema = msgspec.json.schema(PublicEntry)["$defs"]["PublicEntry"]["properties"].get(field, {})
    kinds = [one.get("type") for one in schema.get("anyOf", [schema])]
    return next((_DATATYPES[kind] for kind in kinds if kind in _DATATYPES), "string")
