# SPDX-License-Identifier: Apache-2.0
"""QR codes for printed pages, as pictures that stand in the page itself."""

from __future__ import annotations


def qr_svg(text: str) -> str:
    """Return the code of a text as SVG without a size of its own: the page's style gives one."""
    # It takes 50 ms to load, and most commands print no page.
    import segno

    code = segno.make(text, error="m", micro=False, encoding=_encoding(text))
    return code.svg_inline(scale=4, border=2, light="white", omitsize=True)


def wifi_svg(name: str, password: str) -> str:
    """Return the code with which a phone or a board joins a wireless network; '' is no password."""
    from segno.helpers import make_wifi_data

    security = "WPA" if password else "nopass"
    return qr_svg(make_wifi_data(name, password or None, security))


def _encoding(text: str) -> str | None:
    """Return what cameras expect beyond ASCII, where the code's own default is Latin-1."""
    return None if text.isascii() else "utf-8"
