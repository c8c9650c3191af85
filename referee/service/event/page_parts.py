# SPDX-License-Identifier: Apache-2.0
"""The parts that pages of HTML share which stand alone: they load nothing and run no script."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape


def picture(svg: bytes, text: str) -> str:
    """Return an image inside the page; `text` is for those who do not see it."""
    content = base64.b64encode(svg).decode()
    return f'<img alt="{escape(text)}" src="data:image/svg+xml;base64,{content}">'


def titled_list(title: str, lines: Sequence[str], heading: str = "h2") -> str:
    """Return a list under a heading; nothing without a line."""
    if not lines:
        return ""
    items = "\n".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<{heading}>{escape(title)}</{heading}>\n<ul>\n{items}\n</ul>"
