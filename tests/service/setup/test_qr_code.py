# SPDX-License-Identifier: Apache-2.0
"""The codes on printed pages: what a camera reads is what was meant."""

from __future__ import annotations

import pytest
import segno

from referee.service.setup.qr_code import qr_svg, wifi_svg


@pytest.fixture
def coded(monkeypatch):
    """Return the list of texts that become codes, each with its encoding."""
    texts = []
    make = segno.make

    def noted(text, **how):
        texts.append((text, how["encoding"]))
        return make(text, **how)

    monkeypatch.setattr(segno, "make", noted)
    return texts


@pytest.mark.parametrize(
    ("name", "password", "text", "encoding"),
    [
        ("lpirc", "quiet-fan", "WIFI:T:WPA;S:lpirc;P:quiet-fan;;", None),
        ("a;b", 'q"u:i\\', 'WIFI:T:WPA;S:a\\;b;P:q\\"u\\:i\\\\;;', None),
        ("会場", "pässword", "WIFI:T:WPA;S:会場;P:pässword;;", "utf-8"),
        ("open hall", "", "WIFI:T:nopass;S:open hall;;", None),
    ],
)
def test_a_network_is_written_as_phones_read_it(coded, name, password, text, encoding):
    """Signs that end a field are escaped, letters are UTF-8, and an open network says so."""
    assert "<svg" in wifi_svg(name, password)
    assert [(text, encoding)] == coded


def test_a_code_takes_the_size_of_its_place():
    """It grows and shrinks whole with its page's style."""
    head = qr_svg("a").split(">")[0]
    assert "viewBox=" in head and "width=" not in head
