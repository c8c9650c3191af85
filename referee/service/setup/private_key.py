# SPDX-License-Identifier: Apache-2.0
"""Private keys in files of mode 600, as PEM without a password."""

from __future__ import annotations

import shlex
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from power.bounded_file import SMALL_BYTES, file_bytes
from referee.errors import ConfigError


def key_text(key: PrivateKeyTypes) -> bytes:
    """Return a private key as PEM."""
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def read_key(path: Path) -> PrivateKeyTypes:
    """Return a private key; raise `ConfigError` if others may read it, or if it is none."""
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(
                f"{path} can be read by others. Run: chmod 600 {shlex.quote(str(path))}"
            )
        return serialization.load_pem_private_key(file_bytes(path, SMALL_BYTES), password=None)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror}).") from None
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ConfigError(f"{path} is no private key in PEM without a password: {error}.") from None
