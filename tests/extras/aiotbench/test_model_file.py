# SPDX-License-Identifier: Apache-2.0
"""A model's file is compared with table 1 without running it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from referee import cli
from referee.errors import InputError
from referee.extras.aiotbench.networks import ModelFacts, differences
from referee.extras.aiotbench.rules import DRAFT_1_1

REAL = Path(__file__).parents[4] / "shared/data/models/efficientnet_lite0.tflite"
MOBILENET = next(it for it in DRAFT_1_1.models if it.code == "mo")
PAPER = ModelFacts(224, 224, 3_500_000, 301_000_000)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, []),
        ({"flops": 370_000_000}, []),
        ({"height": 32, "width": 32}, ["its input is 32x32, and MobileNetV2 takes 224x224"]),
        ({"parameters": 2_500_000}, ["it has 2.5 million parameters, and table 1 has 3.4 million"]),
        ({"flops": 400_000_000}, ["it has 400 million multiply-accumulates"]),
    ],
)
def test_another_network_is_named(changed, told):
    """Input, parameters and work each have a sentence; rounding has none."""
    found = differences(MOBILENET, replace(PAPER, **changed))
    assert len(told) == len(found)
    assert all(one.startswith(start) for one, start in zip(found, told, strict=True))


def test_a_made_file_is_counted(tmp_path):
    """A fully connected layer of 3 inputs and 1001 outputs has 3003 weights, each used once."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    from referee.extras.aiotbench.model_file import read_model
    from tests.support import tflite_models

    path = tmp_path / "m.tflite"
    path.write_bytes(tflite_models.classifier())
    found = read_model(path).network
    assert (8, 8) == (found.height, found.width)
    # Beside it, reading the picture's colour may take a layer of its own.
    assert found.flops >= 3003 and found.parameters >= 3003


@pytest.mark.skipif(not REAL.exists(), reason="needs the shared models")
def test_a_real_file_has_its_published_size():
    """EfficientNet-Lite0 is published with 4.7 million parameters and 407 million operations."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    from referee.extras.aiotbench.model_file import read_model

    found = read_model(REAL).network
    assert (224, 224) == (found.height, found.width)
    assert pytest.approx(4.7e6, rel=0.03) == found.parameters
    assert pytest.approx(407e6, rel=0.07) == found.flops


@pytest.mark.parametrize("content", [b"", b"\0\0\0\0TFL3", b"\xff" * 4 + b"TFL3" + b"\xff" * 99])
def test_a_damaged_file_is_named(tmp_path, content):
    """A file that is none, or leads nowhere, gives a sentence."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    from referee.extras.aiotbench.model_file import read_model

    path = tmp_path / "m.tflite"
    path.write_bytes(content)
    with pytest.raises(InputError, match="m.tflite"):
        read_model(path)


def test_a_small_model_is_not_credited_as_inception(tmp_path, capsys):
    """The result says that the file is another network, and has no figure of it."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    from tests.support import tflite_models

    model, log = tmp_path / "m.tflite", tmp_path / "board.csv"
    model.write_bytes(tflite_models.classifier())
    log.write_text("1, in_tfc, 1, 1, 0.001\n")
    assert 1 == cli.main(["aiotbench", "score", str(log), "--model", f"in_tfc={model}"])
    printed = " ".join(capsys.readouterr().out.split())
    assert "The model of in_tfc is another network: its input is 8x8" in printed
    assert "table 1 has 23.2 million for InceptionV3" in printed
    with pytest.raises(SystemExit):
        cli.main(["aiotbench", "score", str(log), "--model", f"xx={model}"])
