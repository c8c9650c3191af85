# SPDX-License-Identifier: Apache-2.0
"""Add a signature to an evidence bundle, for example that of the chief judge.

Verify the bundle first. A signature says that these members are the ones that you have seen.

  referee sign --new-key judge.key
  referee sign session3.zip --key judge.key
  referee verify session3.zip --ground-truth annotations.json --public-key judge.key.pub

The event's own key signs each bundle at the export. A second signature by the same key changes
nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from power.commands.written_file import file_to_write
from referee.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("bundle", type=Path, nargs="?", metavar="FILE.zip", help="bundle to sign")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--key", type=Path, metavar="FILE", help="private Ed25519 key in PEM")
    what.add_argument(
        "--new-key",
        type=file_to_write,
        metavar="FILE",
        help="make a key in FILE, and FILE.pub beside it",
    )


def run(args: argparse.Namespace) -> int:
    """Make a key, or sign."""
    from referee.service.evidence.bundle import MEMBERS
    from referee.service.evidence.signing import add_signature
    from referee.service.setup.signing_key import read_private_key

    if args.new_key is not None:
        return _make(args.new_key)
    if args.bundle is None:
        raise InputError("Name the bundle's zip file.")
    added = add_signature(args.bundle, read_private_key(args.key), MEMBERS)
    print(f"{args.bundle} is signed{'' if added else ' by this key already'}.")
    return 0


def _make(path: Path) -> int:
    from referee.service.setup.signing_key import make_key, public_text, read_private_key

    if path.exists():
        raise InputError(f"{path} already exists. Give another name.")
    make_key(path)
    public = path.with_name(f"{path.name}.pub")
    public.write_bytes(public_text(read_private_key(path).public_key()))
    print(f"Wrote {path}, which stays yours alone, and {public}, which everybody may have.")
    return 0
