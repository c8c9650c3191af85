# SPDX-License-Identifier: Apache-2.0
"""The option that names an event's configuration, and the variable that may stand in its place."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

VARIABLE = "REFEREE_CONFIG"
"""The environment variable that names a `contest.toml` where no option does."""

MISSING = f"give --config FILE, or set {VARIABLE} to the event's contest.toml"


def environment_config() -> Path | None:
    """Return the path that the environment names; an empty variable names none."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def declare_config(
    place: argparse._ActionsContainer, what: str = "the event's contest.toml"
) -> None:
    """Declare `--config` in a parser or in one of its groups; `what` begins its help."""
    place.add_argument(
        "--config",
        type=Path,
        default=environment_config(),
        metavar="FILE",
        help=f"{what} (default: {VARIABLE})",
    )


def add_config(parser: argparse.ArgumentParser) -> None:
    """Declare `--config`, without which and without the variable the command cannot run."""
    declare_config(parser)
    parser.set_defaults(needs_config=True)


def source_of(error: Exception) -> str:
    """Return the end of an error's text that says where the path of the configuration is from."""
    path, wrong = environment_config(), getattr(error, "path", None)
    named = path is not None and wrong is not None and path.resolve() == wrong.resolve()
    return f" {VARIABLE} names this file." if named else ""
