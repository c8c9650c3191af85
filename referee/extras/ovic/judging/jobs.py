# SPDX-License-Identifier: Apache-2.0
"""Jobs for the worker's process, and what is found out about how it ended."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from referee.errors import InputError, Unavailable
from referee.extras.ovic.judging.confined import Limits, ProcessEnd, run_confined
from referee.extras.ovic.judging.model import require_litert
from referee.extras.ovic.judging.wire import WireError, parse_lines
from referee.extras.ovic.rules.model_rules import Failure
from referee.extras.ovic.rules.pace import Pace

WORKER = (sys.executable, "-m", "referee.extras.ovic.judging.worker")
"""The command of the worker, which finds its job on standard input."""

# A worker says at the start and at the end of two steps how it loads the model.
_MESSAGES_OF_LOADING = 4
_STEPS = {"load": "loaded", "allocate": "given its tensors' memory", "run": "run on an image"}
# LiteRT writes one of these where it has no code for an operator.
_UNRESOLVED = ("unresolved custom op", "Select TensorFlow op", "Didn't find op for builtin opcode")
_OUT_OF_MEMORY = ("bad_alloc", "MemoryError", "failed to allocate", "Failed to allocate")


class ModelFault(InputError):
    """A model that cannot be scored or measured, through no fault of the referee's."""

    def __init__(self, text: str, failure: Failure) -> None:
        super().__init__(text, failure)
        self.text = text
        self.failure = failure

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Done:
    """What a worker said, and the failures that its end proves; without failures it is complete."""

    messages: tuple[dict[str, object], ...]
    failures: tuple[Failure, ...]

    def of(self, event: str) -> list[dict[str, object]]:
        """Return the messages of one kind."""
        return [message for message in self.messages if message["event"] == event]


def run_job(
    model: Path,
    kind: str,
    limits: Limits,
    progress: Callable[[int], None] = lambda results: None,
    worker: Sequence[str] = WORKER,
    **fields: Any,
) -> Done:
    """Let a worker do a job with a model.

    `progress` gets the number of messages since the model is loaded. Raises InputError
    without LiteRT, and for an image that cannot be read. Raises `Unavailable` for a worker that was
    stopped while it waited for its core: nothing is known of the model then.
    """
    require_litert()
    job = {"model": str(model.resolve()), "kind": kind, "limits": asdict(limits), **fields}
    if tuple(worker) == WORKER:  # Any other command may run on another machine.
        job["parent"] = os.getpid()
    ended = run_confined(
        worker,
        json.dumps(job).encode(),
        limits,
        lambda lines: progress(max(0, lines - _MESSAGES_OF_LOADING)),
    )
    if ended.pace is Pace.BUSY:
        raise Unavailable(
            f"{model.name} waited for its core so long that nothing can be said of its time: it "
            f"was stopped after {limits.longest_s:g} s. Stop other programs, and try again."
        )
    try:
        messages = tuple(parse_lines(ended.output))
    except WireError as error:
        return Done((), (Failure("crash", "a worker that speaks its protocol", str(error)),))
    done = Done(messages, tuple(_failures(messages, ended, limits)))
    for message in done.of("unreadable"):
        raise InputError(
            f"{model.name} cannot be scored: the image {message.get('image')} cannot be read "
            f"({str(message.get('text'))[:200]})"
        )
    return done


def broken_protocol(model: Path, what: str, error: WireError) -> ModelFault:
    """Return the fault of a model whose worker says what no worker says."""
    failure = Failure("crash", "a worker that speaks its protocol", str(error))
    return ModelFault(f"{model.name} cannot be {what}: {error}", failure)


def _failures(
    messages: Sequence[dict[str, object]], ended: ProcessEnd, limits: Limits
) -> list[Failure]:
    """Return why the job has not been done, at most one reason."""
    refused = [message for message in messages if message["event"] == "refused"]
    if refused:
        return [_refusal(str(refused[0].get("step")), str(refused[0].get("text")), limits)]
    steps = [message.get("step") for message in messages if message["event"] == "step"]
    what = "a model that can be " + _STEPS.get(str(steps[-1]) if steps else "load", "run")
    if ended.overflowed:
        return [Failure("output", f"at most {limits.output_bytes} bytes of output", "more")]
    if ended.pace is Pace.TOO_SLOW or ended.signal_name in ("SIGALRM", "SIGXCPU"):
        within = f"{what} within {limits.seconds:g} s"
        return [Failure("time", within, "it had not ended and was stopped")]
    if ended.code == 0 and messages and messages[-1]["event"] == "done":
        return []
    if any(word in ended.errors for word in _OUT_OF_MEMORY):
        return [_memory(limits)]
    how = ended.signal_name or f"exit code {ended.code}"
    last = ended.errors.strip().rpartition("\n")[2][-200:]
    return [Failure("crash", what, f"its process died ({how})" + (f": {last}" if last else ""))]


def _refusal(step: str, text: str, limits: Limits) -> Failure:
    plain = " ".join(text.split())[:300].rstrip(".")
    if any(word in text for word in _UNRESOLVED):
        return Failure("operators", "operators that LiteRT itself has", plain)
    if any(word in text for word in _OUT_OF_MEMORY):
        return _memory(limits)
    return Failure(
        step if step in _STEPS else "load", f"a model that can be {_STEPS.get(step, 'run')}", plain
    )


def _memory(limits: Limits) -> Failure:
    return Failure("memory", f"at most {limits.memory_bytes >> 20} MB", "it asks for more")
