# SPDX-License-Identifier: Apache-2.0
"""The sample says what a machine is, in TOML that the referee reads."""

from __future__ import annotations

import hashlib
import tomllib

import pytest

from client_sample import board


def test_hardware_and_software_are_described(tmp_path):
    """The tables have the machine, the system, the libraries, the settings and the models."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    model = tmp_path / "m.tflite"
    model.write_bytes(b"a model")
    found = tomllib.loads(board.describe({"mo_tfc": model}, {"threads": 2}))
    assert {"hardware", "software"} == found.keys()
    assert {"device", "processor", "cores", "memory"} == found["hardware"].keys()
    assert all(found["hardware"].values())
    software = found["software"]
    assert "2" == software["threads"]
    assert {"system", "python", "numpy", "ai-edge-litert"} <= software.keys()
    assert software["model_mo_tfc"].endswith(hashlib.sha256(b"a model").hexdigest())


def test_a_board_names_itself(tmp_path, monkeypatch):
    """A device tree ends its texts with NUL, and a processor's list gives the first one's name."""
    texts = {board._DEVICE[0]: "Raspberry Pi 4\0", "/proc/cpuinfo": "Hardware\t: BCM2835\n"}
    for number, (path, text) in enumerate(texts.items()):
        (tmp_path / str(number)).write_text(text)
        texts[path] = str(tmp_path / str(number))
    read = board._text
    monkeypatch.setattr(board, "_text", lambda path: read(texts.get(path, "/none")))
    found = tomllib.loads(board.describe({}, {}))["hardware"]
    assert ("Raspberry Pi 4", "BCM2835") == (found["device"], found["processor"])


def test_odd_names_stay_toml(tmp_path):
    """Quotes, DEL, line ends and emoji in a name do not break the file."""
    name = 'a "model"\x7f\n\\ 🦉.tflite'
    (tmp_path / name).touch()
    found = tomllib.loads(board.describe({"mo_tfc": tmp_path / name}, {}))
    assert found["software"]["model_mo_tfc"].startswith(name)
