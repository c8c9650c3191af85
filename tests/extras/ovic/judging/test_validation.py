# SPDX-License-Identifier: Apache-2.0
"""Real and made models are validated in a process of its own, which nothing in them can break."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from referee.errors import InputError, Unavailable
from referee.extras.ovic.judging import confined, validation
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.jobs import Done
from referee.extras.ovic.judging.validation import some_of, validated
from referee.extras.ovic.judging.wire import pack_arrays, pack_facts
from referee.extras.ovic.rules.detections import Overhang
from referee.extras.ovic.rules.model_rules import Failure, ModelRules, TensorFacts

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
# Each validation starts a process that imports LiteRT.
pytestmark = pytest.mark.slow

REAL = Path(__file__).parents[4] / "../shared/data/models"
# A slow machine must not fail a test of other rules.
PATIENT = 1e6


@pytest.fixture
def models():
    """Return the maker of models; its import needs LiteRT."""
    from tests.support import tflite_models

    return tflite_models


@pytest.fixture
def validate(tmp_path):
    """Return a function that validates a model's bytes."""

    def run(content: bytes, task: str = "classification", **options) -> list[Failure]:
        path = tmp_path / "model.tflite"
        path.write_bytes(content)
        return validated(path, ModelRules(task), **({"slower": PATIENT} | options)).failures

    return run


def rules_broken(failures: list[Failure]) -> list[str]:
    """Return the names of the rules."""
    return [failure.rule for failure in failures]


def test_models_that_keep_the_rules_are_valid(models, validate):
    """A detector and a classifier as the rules want them have no failure."""
    assert [] == validate(models.detector(), "detection")
    assert [] == validate(models.classifier())


def test_each_output_of_another_form_is_named(models, validate):
    """Ten boxes, a thousand classes and the other task's outputs are each one failure."""
    assert ["number_of_boxes"] == rules_broken(validate(models.detector(boxes=10), "detection"))
    assert ["background_class"] == rules_broken(validate(models.classifier(1000)))
    assert ["output_number"] == rules_broken(validate(models.detector()))


@pytest.mark.parametrize(
    ("form", "rule"),
    [
        ({"shape": (1, 8, 8, 1)}, "input_shape"),
        ({"shape": (1, 1001, 8, 3)}, "input_shape"),
        ({"dtype": np.float32}, "input_type"),
    ],
)
def test_an_input_of_another_form_is_one_failure(form, rule, models, validate):
    """A wrong input is told once, also where LiteRT cannot run the model for it."""
    assert [rule] == rules_broken(validate(models.classifier(**form)))


def test_two_inputs_are_refused(models, validate):
    """A model with two inputs breaks the rule of one."""
    assert ["input_number"] == rules_broken(validate(models.two_inputs()))


@pytest.mark.parametrize(
    ("output", "value", "rule"),
    [
        (0, [0.5, 0.5, 0.4, 0.6], "box_order"),
        (0, [150, 80, 240, 190], "box_range"),
        (0, [0.5, math.nan, 0.6, 0.7], "not_a_number"),
        (1, -1, "class_index"),
        (2, 1.5, "score_range"),
    ],
)
def test_a_wrong_value_is_found_by_running_the_model(output, value, rule, models, validate):
    """The model runs, and a value that a rule forbids is one failure."""
    outputs = models.known_detections()
    outputs[output][0, 1] = value
    assert [rule] == rules_broken(validate(models.detector(outputs), "detection"))


def test_photographs_are_tried_too(models, tmp_path):
    """Eight of the images at equal distances are run, beside the three made ones."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(20):
        Image.new("RGB", (40, 30), (number, 9, 9)).save(folder / f"{number:02}.png")
    images = sorted(folder.iterdir())
    assert [f"{n:02}.png" for n in (0, 2, 5, 7, 10, 12, 15, 17)] == [
        path.name for path in some_of(images)
    ]
    assert images[:3] == some_of(images[:3])
    outputs = models.known_detections()
    outputs[0][0, 1] = [-0.25, 0, 0.5, 1.125]
    model = tmp_path / "model.tflite"
    model.write_bytes(models.detector(outputs))
    found = validated(model, ModelRules("detection"), slower=PATIENT, images=images)
    assert ([], Overhang(11, 1100, 0.25)) == (found.failures, found.overhang)


def test_a_photograph_that_cannot_be_read_is_not_the_models_fault(models, tmp_path):
    """The caller learns which image it is."""
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    model = tmp_path / "model.tflite"
    model.write_bytes(models.detector())
    with pytest.raises(InputError, match="broken.jpg cannot be read"):
        validated(model, ModelRules("detection"), images=[tmp_path / "broken.jpg"])


def test_an_input_that_leaves_its_sides_open_is_refused(models, validate):
    """A model of any size has no latency; one that leaves the number of images open is fine."""
    (failure,) = validate(models.open_sides(models.classifier()))
    assert ("input_shape", "[1, -1, -1, 3]") == (failure.rule, failure.found)
    assert [] == validate(models.open_sides(models.classifier(), (-1, 8, 8, 3)))


def test_another_count_is_found(models, validate):
    """The fourth output must say 100."""
    outputs = models.known_detections()
    outputs[3][0] = 99
    (failure,) = validate(models.detector(outputs), "detection")
    assert ("count", "100 detections", "99") == (failure.rule, failure.expected, failure.found)


def test_an_operator_that_nobody_has_is_named(models, validate):
    """The failure has the operator's name."""
    (failure,) = validate(models.unresolved())
    assert "operators" == failure.rule
    assert "NoSuchOperator" in failure.found


def test_chance_in_a_model_is_found(models, validate):
    """A model whose scores are drawn by chance is not deterministic."""
    assert ["deterministic"] == rules_broken(validate(models.random_classifier()))


def test_a_slow_model_is_too_slow_and_an_endless_one_is_stopped(models, validate, monkeypatch):
    """A bound on the fastest run makes a model too slow; the wall clock ends an endless one."""
    monkeypatch.setattr(confined, "waited_s", lambda pid: 0.0)  # However busy this machine is.
    (slow,) = validate(models.looping(1000), slower=1e-6)
    assert "latency" == slow.rule
    (endless,) = validate(models.looping(math.inf), limits=Limits(seconds=3))
    assert ("time", "it had not ended and was stopped") == (endless.rule, endless.found)


@pytest.fixture
def paced(tmp_path, monkeypatch):
    """Return a function that validates a good classifier whose runs take these times, in turn."""
    facts = [TensorFacts((1, 8, 8, 3), "uint8")], [TensorFacts((1, 1001), "float32")]
    signature = {"inputs": pack_facts(facts[0]), "outputs": pack_facts(facts[1])}
    outputs = pack_arrays([np.full((1, 1001), 1 / 1001, np.float32)])

    def run(*times_ms):
        left = iter(times_ms)

        def run_job(model, kind, limits, **fields):
            probe = {"event": "probe", "image": "black", "ms": next(left), "outputs": outputs}
            return Done(({"event": "signature", **signature}, probe), ())

        monkeypatch.setattr(validation, "run_job", run_job)
        path = tmp_path / "model.tflite"
        path.write_bytes(b"\0\0\0\0TFL3")
        found = validated(path, ModelRules("classification"), slower=1.0).failures
        assert [] == list(left)
        return rules_broken(found)

    return run


def test_a_busy_machine_refuses_no_model(paced):
    """Twelve milliseconds are the limit: whoever waited for the core runs again, three times."""
    assert [] == paced((11.0, 11.0))
    assert ["latency"] == paced((20.0, 20.0))
    assert [] == paced((20.0, 5.0), (11.0, 5.0))
    assert ["latency"] == paced((40.0, 5.0), (40.0, 38.0))
    with pytest.raises(Unavailable, match="waited for the core so long, 3 times"):
        paced((20.0, 5.0), (20.0, 5.0), (20.0, 5.0))


def test_a_model_that_wants_all_memory_is_refused(models, validate):
    """A small file that asks for 14 GB fails under the limit, and the referee goes on."""
    (failure,) = validate(models.huge())
    assert failure.rule in ("allocate", "memory", "crash")


def test_files_that_are_no_model_are_refused(models, validate):
    """Nothing, noise, a picture, half a model and a model of wrong numbers are each refused."""
    whole = models.classifier()
    noise = np.random.default_rng(1).integers(0, 256, 5000, dtype=np.uint8).tobytes()
    for content in (b"", b"TFL", noise, b"\x89PNG\r\n\x1a\n" + noise):
        assert ["file"] == rules_broken(validate(content))
    for content in (whole[:40], whole[: len(whole) // 2], whole[:40] + b"\xff" * 5000):
        (failure,) = validate(content)
        assert failure.rule in ("load", "crash")
    assert ["load"] == rules_broken(validate(noise[:4] + b"TFL3" + noise))


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_model_never_harms_the_referee(seed, models, validate):
    """With bytes changed anywhere in its structure a model is judged within the limits."""
    content = bytearray(models.detector())
    chance = np.random.default_rng(seed)
    for place in chance.integers(8, len(content), 12):
        content[place] = chance.integers(0, 256)
    for failure in validate(bytes(content), "detection", limits=Limits(seconds=20)):
        assert failure.expected and failure.found


def test_a_model_that_kills_its_process_is_refused(models, validate):
    """A loop with two damaged bytes makes LiteRT 2.3 die of SIGSEGV; the referee says so."""
    content = bytearray(models.looping(3))
    chance = np.random.default_rng(182)
    for _ in range(2):
        place = int(chance.integers(len(content) - 1600, len(content)))
        content[place] = int(chance.integers(0, 256))
    (failure,) = validate(bytes(content))
    assert failure.rule in ("crash", "load", "allocate")


def test_a_name_without_a_file_is_wrong_use(tmp_path):
    """A missing file and a folder are the caller's mistake, not a model's failure."""
    for path in (tmp_path / "none.tflite", tmp_path):
        with pytest.raises(InputError, match="is no file"):
            validated(path, ModelRules("detection"))


def test_without_litert_a_sentence_says_what_to_install(models, validate, monkeypatch):
    """Without LiteRT the error names the extra."""
    content = models.detector()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"the extra .litert"):
        validate(content, "detection")


@pytest.mark.skipif(not REAL.is_dir(), reason="the real models are not here")
@pytest.mark.parametrize(
    ("name", "rules", "rule", "relaxed"),
    [
        (
            "mobilenetv1",
            ModelRules("detection"),
            "number_of_boxes",
            ModelRules("detection", boxes=10),
        ),
        (
            "efficientdet-lite0",
            ModelRules("detection"),
            "number_of_boxes",
            ModelRules("detection", boxes=25),
        ),
        (
            "efficientnet_lite0",
            ModelRules("classification"),
            "background_class",
            ModelRules("classification", background=False),
        ),
    ],
)
def test_each_real_model_breaks_one_rule(name, rules, rule, relaxed):
    """Each real model breaks the one rule that an organiser may relax for it."""
    path = REAL / f"{name}.tflite"
    assert [rule] == rules_broken(validated(path, rules, slower=PATIENT).failures)
    assert [] == validated(path, relaxed, slower=PATIENT).failures
