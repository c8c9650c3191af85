# SPDX-License-Identifier: Apache-2.0
"""The library in threads, and in a copy of a process: nothing of the process changes."""

from __future__ import annotations

import gc
import locale
import logging
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import referee.scoring as scoring
from referee.scoring.coco_evaluators import EVALUATORS, installed_evaluators

CHANCE = np.random.default_rng(5)
BOXES = CHANCE.integers(0, 300, (40, 4)) + np.array([0, 0, 320, 320])
TRUTH = scoring.GroundTruth.from_arrays(
    CHANCE.integers(1, 9, 40),
    CHANCE.integers(1, 4, 40),
    BOXES,
    classes={1: "a<b", 2: "cow", 3: "dog"},
)
FOUND = scoring.Detections.from_arrays(
    np.tile(TRUTH.box_image_id, 3),
    np.tile(TRUTH.box_class_id, 3),
    CHANCE.random(120),
    np.tile(BOXES, (3, 1)) + CHANCE.integers(-9, 9, (120, 4)),
)
RESULT = scoring.evaluate(TRUTH, FOUND)
MEASURED = scoring.measure_uncertainty(RESULT, 20)
ENERGY = scoring.Energy(0.25, 0.001)
installed = [name for name in EVALUATORS if name in installed_evaluators()]


def live() -> object:
    """Score answer by answer."""
    score = scoring.LiveScore(TRUTH)
    score.add(FOUND)
    return score.result()


CALLS: dict[str, Callable[[Path], object]] = {
    "evaluate": lambda _: scoring.evaluate(TRUTH, FOUND, "voc"),
    "evaluate_at": lambda _: scoring.evaluate_at(TRUTH, FOUND, (0.5, 0.75)),
    "LiveScore": lambda _: live(),
    "confusion": lambda _: scoring.confusion(TRUTH, FOUND).most(),
    "explain": lambda _: RESULT.explain(),
    "curves_csv": lambda _: list(scoring.curves_csv(RESULT)),
    "classes_csv": lambda _: scoring.classes_csv(RESULT, {}),
    "ilsvrc_report": lambda _: scoring.ilsvrc_report(RESULT),
    "shown": lambda _: (repr(TRUTH), TRUTH._repr_html_(), RESULT._repr_html_()),
    "measure_uncertainty": lambda _: scoring.measure_uncertainty(RESULT, 20, 3),
    "compare": lambda _: scoring.compare(RESULT, RESULT, draws=20),
    "score_intervals": lambda _: scoring.score_intervals(MEASURED, ENERGY),
    "spread_of": lambda _: scoring.spread_of([scoring.compare(MEASURED, MEASURED)], 2),
    "score": lambda _: scoring.score(0.5, 0.25),
    "normalized_accuracy": lambda _: scoring.normalized_accuracy(0.5, 40, 200),
    "load_ground_truth": lambda at: scoring.load_ground_truth(at / "truth.csv"),
    "load_detections": lambda at: scoring.load_detections(at / "found.csv", TRUTH, image_ids="own"),
    "load_coco_truth": lambda at: scoring.load_coco_truth(at / "truth.csv"),
    "load_coco_results": lambda at: scoring.load_coco_results(at / "found.csv"),
    **{
        f"evaluate_coco, {name}": lambda _, name=name: scoring.evaluate_coco(  # type: ignore[misc]
            TRUTH, FOUND, ious=(0.3, 0.6), evaluator=name
        )
        for name in installed
    },
}


def state() -> dict[str, object]:
    """Return what belongs to the process and not to one of its threads."""
    return {
        "standard output": sys.stdout,
        "standard error": sys.stderr,
        "filters of warnings": (list(warnings.filters), warnings.showwarning),
        "random state": (random.getstate(), np.random.get_state()[1].tolist()),  # type: ignore[index]
        "numpy's settings": (np.geterr(), np.get_printoptions()),
        "threads' limits": (threading.stack_size(), sys.getswitchinterval(), sys.gettrace()),
        "collector": (gc.isenabled(), gc.get_threshold()),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "signals": [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)],
        "locale": locale.setlocale(locale.LC_ALL),
        "limits": [resource.getrlimit(one) for one in (resource.RLIMIT_AS, resource.RLIMIT_STACK)],
        "logging": (logging.root.level, list(logging.root.handlers)),
        "recursion": sys.getrecursionlimit(),
        "print": print,
        "matplotlib": dict(getattr(sys.modules.get("matplotlib"), "rcParams", {})),
    }


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write ground truth and detections."""
    rows = zip(TRUTH.box_image_id, TRUTH.box_class_id, TRUTH.box.astype(int), strict=True)
    truth = "".join(f"{i},{c},{','.join(map(str, box))}\n" for i, c, box in rows)
    (tmp_path / "truth.csv").write_text(truth)
    (tmp_path / "found.csv").write_text("1 1 0.5 1 1 50 50\n")
    return tmp_path


@pytest.mark.slow
def test_threads_leave_the_process_as_it_was(files, capfd) -> None:
    """Every public function, called in eight threads at once, changes nothing of the process."""
    import matplotlib  # noqa: F401 - its settings are compared

    before = state()
    with ThreadPoolExecutor(8) as threads:
        for call in CALLS.values():
            list(threads.map(lambda _, call=call: call(files), range(16)))  # type: ignore[misc]
        mixed = [call for _ in range(4) for call in CALLS.values()]
        list(threads.map(lambda call: call(files), mixed))
    after = state()
    assert {} == {name: after[name] for name in before if before[name] != after[name]}
    assert ("", "") == capfd.readouterr()


@pytest.mark.slow
def test_no_moment_of_a_call_changes_the_process(files, monkeypatch) -> None:
    """While the functions run, another thread sees the process as it was all the time."""
    before, seen, done = state(), [], threading.Event()

    def watch() -> None:
        while not done.is_set():
            now = state()
            seen.append({name for name in before if before[name] != now[name]})

    with ThreadPoolExecutor(2) as threads:
        watcher = threads.submit(watch)
        for call in CALLS.values():
            threads.submit(call, files).result()
        done.set()
        watcher.result()
    assert set() == set().union(*seen) and len(seen) > 1


def test_every_public_function_is_called() -> None:
    """A new function of the library joins this test."""
    functions = {
        name
        for name in scoring.__all__
        if callable(getattr(scoring, name)) and not isinstance(getattr(scoring, name), type)
    }
    called = {name.partition(",")[0] for name in CALLS}
    assert {"to_frame"} == functions - called  # pandas makes it of these results.


@pytest.mark.parametrize("evaluator", installed)
def test_pycocotools_of_others_still_speaks(evaluator: str, capsys) -> None:
    """Another user of pycocotools in the process still gets what it prints."""
    from pycocotools.coco import COCO

    scoring.evaluate_coco(TRUTH, FOUND, evaluator=evaluator)
    assert "" == capsys.readouterr().out
    COCO().createIndex()
    assert "index created!" in capsys.readouterr().out


@pytest.mark.skipif("hotcoco" not in installed, reason="hotcoco is not installed: extra 'fast'")
def test_other_ious_warn_of_nothing(recwarn) -> None:
    """hotcoco's warning of other IoUs is no news to who has asked for them."""
    scoring.evaluate_coco(TRUTH, FOUND, ious=(0.3,), evaluator="hotcoco")
    assert [] == list(recwarn)


FORKED = """
import multiprocessing, sys
import tests.scoring.test_process_state as here
from referee.scoring import evaluate_coco, InputError

def child(answers):
    told = evaluate_coco(here.TRUTH, here.FOUND)
    try:
        evaluate_coco(here.TRUTH, here.FOUND, evaluator="hotcoco")
    except InputError as error:
        answers.put((told.mean_ap, told.evaluator.split()[0], str(error)))

mine = evaluate_coco(here.TRUTH, here.FOUND, evaluator="hotcoco").mean_ap
fork = multiprocessing.get_context("fork")
answers = fork.Queue()
process = fork.Process(target=child, args=(answers,), daemon=True)
process.start()
its, evaluator, refusal = answers.get(timeout=100)
process.join()
assert (mine, "pycocotools") == (its, evaluator), (mine, its, evaluator)
assert "is a copy (fork)" in refusal
"""


@pytest.mark.slow
@pytest.mark.skipif("hotcoco" not in installed, reason="hotcoco is not installed: extra 'fast'")
def test_a_copy_of_the_process_does_not_wait_for_ever() -> None:
    """A forked child has none of hotcoco's threads: pycocotools gives it the same number."""
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", FORKED], check=True, cwd=root, timeout=180)
