# SPDX-License-Identifier: Apache-2.0
"""Where the page is served."""

from __future__ import annotations

import pytest

from power.live.address import listening_socket, page_url


def test_port_0_takes_a_free_one() -> None:
    """The address that is printed has the port that the system chose."""
    with listening_socket("127.0.0.1:0") as listening:
        port = listening.getsockname()[1]
        assert port > 0
        assert f"http://127.0.0.1:{port}/" == page_url(listening)


def test_an_address_in_use_says_what_to_do() -> None:
    """Two recordings at a time need two ports."""
    with listening_socket("localhost:0") as listening:
        taken = f"localhost:{listening.getsockname()[1]}"
        with pytest.raises(OSError, match=f"{taken} .*in use.*--live-address HOST:PORT"):
            listening_socket(taken)


@pytest.mark.parametrize(
    "text",
    ["", "8010", "127.0.0.1", ":8010", "localhost:x", "localhost:70000", "a b:1/", "u@h:1/x"],
)
def test_another_text_is_refused(text: str) -> None:
    """The sentence shows the form."""
    with pytest.raises(ValueError, match="write HOST:PORT, as in 127.0.0.1:8010"):
        listening_socket(text)
