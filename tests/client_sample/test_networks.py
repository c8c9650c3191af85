# SPDX-License-Identifier: Apache-2.0
"""A model's input, parameters and work are counted as on paper, in each framework."""

from __future__ import annotations

import pytest

from client_sample.classifiers import IMPLEMENTATIONS, ClassifierSettings
from client_sample.networks import Layer, Network, network_of, torch_network

# A picture of 33x33; 8 filters of 3x3 with a step of 2 and a bias make 16x16; then 8 to 10 classes.
FILTERS, CLASSES = 8 * 3 * 3 * 3, 8 * 10
PAPER = Network(33, 33, FILTERS + 8 + CLASSES, FILTERS * 16 * 16 + CLASSES)


def test_a_weight_works_once_at_each_place():
    """Work is weights times places; the biases are parameters and no work."""
    layers = [Layer(FILTERS, 16 * 16), Layer(CLASSES, 1)]
    assert PAPER == network_of(33, 33, layers, biases=8)


def test_an_onnx_model_is_counted(tmp_path):
    """A model that leaves its sides open is counted at the side that the runner gives it."""
    pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
    from tests.support.tiny_classifier import onnx_network_model

    model = tmp_path / "m.onnx"
    model.write_bytes(onnx_network_model())
    assert PAPER == IMPLEMENTATIONS["ort"].look(model, ClassifierSettings(side=33))


def test_a_torch_script_model_is_counted(tmp_path):
    """Traced, frozen and with a depthwise layer, whose filters see one channel each."""
    torch = pytest.importorskip("torch", reason="needs PyTorch, which no extra brings")

    class Net(torch.nn.Module):
        def __init__(self, depthwise: bool) -> None:
            super().__init__()
            self.first = torch.nn.Conv2d(3, 8, 3, stride=2)
            self.second = torch.nn.Conv2d(8, 8, 3, groups=8, bias=False) if depthwise else None
            self.last = torch.nn.Linear(8, 10, bias=False)

        def forward(self, x):
            x = self.first(x)
            x = x if self.second is None else self.second(x)
            return self.last(x.mean((2, 3)))

    picture = torch.zeros(1, 3, 33, 33)
    traced = torch.jit.trace(Net(depthwise=False).eval(), picture)
    traced.save(str(tmp_path / "m.pt"))
    assert PAPER == IMPLEMENTATIONS["py"].look(tmp_path / "m.pt", ClassifierSettings(side=33))
    assert PAPER == torch_network(torch.jit.freeze(traced), picture)
    deep = torch_network(torch.jit.trace(Net(depthwise=True).eval(), picture), picture)
    assert (72, 72 * 14 * 14) == (deep.parameters - PAPER.parameters, deep.flops - PAPER.flops)


def test_a_quantized_torch_model_hides_its_layers():
    """Its network is unknown, and not a small one."""
    torch = pytest.importorskip("torch", reason="needs PyTorch, which no extra brings")
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 8 * 8, 10))
    packed = torch.quantization.quantize_dynamic(network, {torch.nn.Linear})
    assert torch_network(packed, torch.zeros(1, 3, 8, 8)) is None
