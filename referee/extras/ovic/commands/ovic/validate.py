# SPDX-License-Identifier: Apache-2.0
"""`referee ovic validate`: check a model before it is scored."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from referee.extras.ovic.commands.ovic.model_options import (
    add_limits,
    add_model,
    add_rules,
    limits_of,
    rules_of,
)
from referee.extras.ovic.commands.ovic.options import add_action

if TYPE_CHECKING:
    from referee.extras.ovic.rules.model_rules import Failure

_DESCRIPTION = """\
Check a model against each rule that could stop it later: the file, its operators, its input, the
number, shapes, types and values of its outputs, equal outputs for equal images, and its time. The
model runs in a process of its own with limits. The exit code is 0 for a valid model, else 1.

  referee ovic validate model.tflite --task detection
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = add_action(actions, "validate", "check a model before it is scored", _DESCRIPTION, act)
    add_model(parser)
    add_rules(parser)
    add_limits(parser)


def act(args: argparse.Namespace) -> int:
    """Validate and print; return 0, or 1 if the model breaks a rule."""
    from referee.extras.ovic.judging.validation import validate_model

    failures = validate_model(args.model, rules_of(args), limits_of(args), args.slower)
    if args.json:
        print(json.dumps(validity(failures)))
    else:
        for failure in failures:
            print(failure)
        print(f"{args.model.name} is {'not ' if failures else ''}valid for {args.task}")
    return 1 if failures else 0


def validity(failures: Sequence[Failure]) -> dict[str, Any]:
    """Return the JSON object of a validation."""
    return {"valid": not failures, "failures": [vars(failure) for failure in failures]}
