# SPDX-License-Identifier: Apache-2.0
"""Flask's JSON for the documents that the referee declares as Structs."""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask.json.provider import DefaultJSONProvider
from msgspec import Struct, to_builtins


class _StructJson(DefaultJSONProvider):
    """Flask's JSON, which takes Structs also within other values."""

    @staticmethod
    def default(value: Any) -> Any:
        """Return the plain values of what JSON does not know."""
        if isinstance(value, Struct):
            return to_builtins(value, str_keys=True)
        return DefaultJSONProvider.default(value)


def answer_structs(app: Flask) -> None:
    """Let an application's routes give Structs to `jsonify`."""
    app.json = _StructJson(app)
