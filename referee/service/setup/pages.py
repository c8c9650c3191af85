# SPDX-License-Identifier: Apache-2.0
"""Pages of HTML and of text: templates beside the modules that fill them, and static files."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = Path(__file__).resolve().parents[2]


def page(template: str, folder: Path = _PACKAGE, /, **fields: object) -> str:
    """Return a page; `template` is a path in a folder, which is that of the package `referee`.

    In a page of HTML each field is escaped, unless the template says that it is `safe`.
    """
    return _environment(folder).get_template(template).render(fields)


def static_folder() -> Path:
    """Return the folder of the pages' scripts and static files.

    The wheel holds the tree's top-level `static/` as `referee/static/`.
    """
    installed = _PACKAGE / "static"
    return installed if installed.is_dir() else _PACKAGE.parent / "static"


@cache
def _environment(folder: Path) -> Environment:
    # It takes 0.1 s to load, and most commands make no page.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["base64"] = lambda content: b64encode(content).decode()
    return environment
