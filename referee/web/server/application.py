# SPDX-License-Identifier: Apache-2.0
"""Flask for applications that answer requests and never make the address of one."""

from __future__ import annotations

from typing import Any, NoReturn

from flask import Flask
from werkzeug.routing import Rule


def _build(rule: Rule, **values: object) -> NoReturn:
    raise NotImplementedError(f"nobody asks for the address of {rule.rule}")


class _MatchedRule(Rule):
    """A route's rule without the two functions that werkzeug compiles to build its address.

    They take a third of what a desk needs to make its application.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Any:
        return _build


class Application(Flask):
    """An application of the referee's."""

    url_rule_class = _MatchedRule
