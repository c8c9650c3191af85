# SPDX-License-Identifier: Apache-2.0
"""The internals of the installed pyvisa-py: a failure names what is gone, and what then fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pyvisa

from power.transports import pyvisa_internals
from power.transports.pyvisa_internals import (
    INTERNALS,
    LEFT_SOCKET,
    REFUSAL,
    close_left_sockets,
    missing,
    refusal_code,
)

ROOT = Path(__file__).parents[3]


@pytest.fixture
def link(vxi11_meter: Any) -> Iterator[Any]:
    """Return an open VXI-11 link of PyVISA to the emulator's only connection."""
    resource = pyvisa.ResourceManager("@py").open_resource(vxi11_meter.resource)
    yield resource
    resource.close()


def gone(internals: list[Any]) -> str:
    """Return the message of a failure."""
    return f"pyvisa-py {version('pyvisa-py')} has no " + "\n".join(map(str, internals))


def test_an_open_link_has_every_name(link: Any) -> None:
    """The installed pyvisa-py has each name that an open link needs."""
    lacking = missing(link)
    assert not lacking, gone(lacking)


def test_a_refusal_shows_its_code_and_leaves_a_socket(link: Any, vxi11_meter: Any) -> None:
    """A second link is refused with the text that holds error 9, and its socket is found."""
    with pytest.raises(Exception) as refused:
        pyvisa.ResourceManager("@py").open_resource(vxi11_meter.resource)
    assert "9" == refusal_code(refused.value), gone([REFUSAL])
    assert 1 == close_left_sockets(refused.value.__traceback__), gone([LEFT_SOCKET])
    assert 0 == close_left_sockets(refused.value.__traceback__)


def parts(**changes: Any) -> Any:
    """Return a resource of a class from pyvisa-py whose parts are changed or, by None, left out."""
    given = {"sessions": {7: SimpleNamespace()}, **changes}
    library = type("Library", (), {"__module__": "pyvisa_py.highlevel"})()
    vars(library).update({name: value for name, value in given.items() if value is not None})
    return SimpleNamespace(visalib=library, session=7)


@pytest.mark.parametrize(
    ("resource", "lacking"),
    [
        (parts(sessions=None), 5),
        (parts(), 4),
        (parts(sessions={7: SimpleNamespace(interface=SimpleNamespace())}), 3),
        (parts(sessions={7: SimpleNamespace(interface=SimpleNamespace(close=print))}), 2),
    ],
)
def test_what_is_gone_is_named(resource: Any, lacking: int) -> None:
    """A version without a name is told with the name, and its link can be used and closed."""
    names = [internal.name for internal in missing(resource)]
    assert lacking == len(names)
    assert [it.name for it in INTERNALS if it.name in names] == names
    assert not pyvisa_internals.peer_has_closed(resource)
    pyvisa_internals.forget_link(resource)
    pyvisa_internals.connection_closer(resource)()


def test_another_backend_lacks_nothing() -> None:
    """A vendor's VISA has none of these names and needs none."""
    assert [] == missing(SimpleNamespace(visalib=SimpleNamespace(), session=7))


def test_no_other_module_touches_the_internals() -> None:
    """No other module of `power` uses these names."""
    words = re.compile(r"\bvisalib\b|\bdestroy_link\b|\.sessions\b|tb_frame|error creating link")
    using = {
        path.name
        for path in (ROOT / "power").rglob("*.py")
        if "emulator" not in path.parts and words.search(path.read_text())
    }
    assert {"pyvisa_internals.py"} == using
