# SPDX-License-Identifier: Apache-2.0
"""Keys of one contest: made at set-up, kept in a file that only its owner may read."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from referee.errors import ConfigError

__all__ = ["Secrets", "load_secrets", "secrets_path"]


@dataclass(frozen=True)
class Secrets:
    """Hold the key that signs contestants' tokens and the one that signs operators' forms."""

    token_key: bytes
    console_key: bytes


def secrets_path(folder: Path) -> Path:
    """Return where a contest's folder keeps its keys."""
    return folder / "secrets.json"


def load_secrets(folder: Path) -> Secrets:
    """Return the keys of a contest's folder, which are made at the first call.

    Raises `ConfigError` when others may read the file, or when it is damaged: without its keys
    no token that was handed out would be good any more.
    """
    path = secrets_path(folder)
    try:
        # O_EXCL: of two processes that start together only one makes the keys.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(path)
    keys = {"token_key": secrets.token_hex(32), "console_key": secrets.token_hex(32)}
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        json.dump(keys, file)
    return _read(path)


def _read(path: Path) -> Secrets:
    if path.stat().st_mode & 0o077:
        raise ConfigError(f"{path} can be read by others: run 'chmod 600 {path}'.")
    try:
        keys = json.loads(path.read_text(encoding="ascii"))
        return Secrets(bytes.fromhex(keys["token_key"]), bytes.fromhex(keys["console_key"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path} is damaged: restore it, or delete it, which makes every token invalid."
        ) from error
