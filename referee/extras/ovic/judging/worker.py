# SPDX-License-Identifier: Apache-2.0
"""The process that loads and runs a model: `python -m referee.extras.ovic.judging.worker`.

Its standard input is a JSON object that `jobs.py` writes. The process limits itself before it reads
the model. It writes a message for each step, so the last one says how far the model got.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.errors import InputError
from referee.extras.ovic.judging.confined import Limits, confine_myself
from referee.extras.ovic.judging.model import LiteRtModel
from referee.extras.ovic.judging.wire import message, pack_arrays, pack_facts
from referee.extras.ovic.rules.preprocessing import model_input
from referee.formats.image_file import open_image
from referee.service.setup.program import stop_with_parent

MOST_OUTPUT_VALUES = 200_000
"""A model with more output values is refused by its shapes; they are not sent."""

_STDOUT = 1


class _UnreadableImage(Exception):
    """An image that Pillow cannot read, which is not the model's fault."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, text)
        self.name, self.text = name, text


def main(job_text: str) -> None:
    """Do one job."""
    job = json.loads(job_text)
    if "parent" in job:
        # A model that its parent left behind would disturb the next measurement on its core.
        stop_with_parent(job["parent"], by=signal.SIGKILL)
    confine_myself(Limits(**job["limits"]))
    if job.get("core") is not None:
        os.sched_setaffinity(0, {job["core"]})
    model = _load(Path(job["model"]).read_bytes())
    if model is None:
        return
    try:
        if job["kind"] == "probe":
            _probe(model, job["seed"], job["images"], job["central_share"])
        elif job["kind"] == "answer":
            _answer(model, job["images"], job["central_share"])
        else:
            _measure(model, job["images"], job["central_share"], job["warm_up"], job["runs"])
    except _UnreadableImage as error:
        _send("unreadable", image=error.name, text=error.text)
        return
    _send("done")


def _send(event: str, **fields: Any) -> None:
    text = message(event, **fields)
    while text:
        text = text[os.write(_STDOUT, text) :]


def _load(content: bytes) -> LiteRtModel | None:
    """Return the model, ready to run; None after a message if LiteRT refuses it."""
    step = "load"
    try:
        _send("step", step=step)
        model = LiteRtModel(content)
        _send("signature", inputs=pack_facts(model.inputs), outputs=pack_facts(model.outputs))
        step = "allocate"
        _send("step", step=step)
        model.allocate()
        _send("signature", inputs=pack_facts(model.inputs), outputs=pack_facts(model.outputs))
    # LiteRT raises ValueError, RuntimeError, MemoryError and others.
    except Exception as error:
        _send("refused", step=step, text=f"{error}"[:1000] or type(error).__name__)
        return None
    return model


def _probe(model: LiteRtModel, seed: int, images: list[str], central_share: float) -> None:
    """Run the model on a black, a noisy and a white image, on the first two again, and on `images`.

    A photograph says more of a detector's boxes than a made image.
    """
    shape = model.inputs[0].shape
    if len(model.inputs) != 1 or model.inputs[0].dtype != "uint8" or len(shape) != 4:
        return
    if min(shape) < 1:
        return
    if sum(int(np.prod(output.shape)) for output in model.outputs) > MOST_OUTPUT_VALUES:
        return
    noise = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)
    black, white = np.zeros(shape, np.uint8), np.full(shape, 255, np.uint8)
    probes = {"black": black, "noisy": noise, "white": white}
    for name in ("black", "noisy", "white", "noisy", "black"):
        if not _run_probe(model, name, probes[name]):
            return
    for number, path in enumerate(images):
        _, image = _read_image(path, shape[1], shape[2], central_share)
        if not _run_probe(model, f"image {number}", image):
            return


def _run_probe(model: LiteRtModel, name: str, image: NDArray[np.uint8]) -> bool:
    _send("step", step="run")
    try:
        model.feed(image)
        start_ns, cpu_ns = time.perf_counter_ns(), time.thread_time_ns()
        model.invoke()
        cpu_ms = (time.thread_time_ns() - cpu_ns) / 1e6
        took_ms = (time.perf_counter_ns() - start_ns) / 1e6
        outputs = model.read()
    except Exception as error:  # As above.
        _send("refused", step="run", text=f"{error}"[:1000] or type(error).__name__)
        return False
    _send("probe", image=name, ms=[took_ms, cpu_ms], outputs=pack_arrays(outputs))
    return True


def _read_image(
    path: str, height: int, width: int, central_share: float
) -> tuple[tuple[int, int], NDArray[np.uint8]]:
    """Return an image's size and the model's input."""
    try:
        picture = open_image(Path(path))
        return picture.size, model_input(picture, height, width, central_share)
    except (InputError, MemoryError) as error:
        # The sentence has the file's path, which on a board is that of a temporary copy.
        name = Path(path).name
        raise _UnreadableImage(name, f"{error}".replace(str(path), name)[:1000]) from None


def _answer(model: LiteRtModel, images: list[str], central_share: float) -> None:
    """Send the model's outputs for each image."""
    height, width = model.inputs[0].shape[1:3]
    for path in images:
        size, image = _read_image(path, height, width, central_share)
        model.feed(image)
        model.invoke()
        _send("answer", size=size, outputs=pack_arrays(model.read()))


def _measure(
    model: LiteRtModel, images: list[str], central_share: float, warm_up: int, runs: int
) -> None:
    """Time each step of each run; the images take turns.

    The last message says when the counted runs began and ended, for the energy that they took.
    """
    height, width = model.inputs[0].shape[1:3]
    clock, began_s = time.perf_counter_ns, 0.0
    for number in range(-warm_up, runs):
        if number == 0:
            began_s = time.monotonic()
        start = clock()
        _, image = _read_image(images[number % len(images)], height, width, central_share)
        prepared = clock()
        model.feed(image)
        fed, cpu_before = clock(), time.thread_time_ns()
        model.invoke()
        cpu, invoked = time.thread_time_ns() - cpu_before, clock()
        model.read()
        done = clock()
        if number >= 0:
            parts = (prepared - start, fed - prepared, invoked - fed, done - invoked, cpu)
            _send("run", ms=[part / 1e6 for part in parts])
    _send("span", s=[began_s, time.monotonic()])


if __name__ == "__main__":
    main(sys.stdin.read())
