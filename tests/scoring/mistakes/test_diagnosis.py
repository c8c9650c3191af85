# SPDX-License-Identifier: Apache-2.0
"""Classic mistakes are recognised by the score that their repair gives.

It is long because each mistake, and each pair that may be taken for another, has generated answers
of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.formats.detections_file import read_detections
from referee.formats.ground_truth import read_ground_truth
from referee.formats.image_ids import renumber
from referee.scoring.ilsvrc import evaluate
from referee.scoring.mistakes import diagnosis
from referee.scoring.mistakes.diagnosis import find_mistakes
from referee.scoring.mistakes.posted import Posted

IMAGES = 12
# Like COCO's, the ids have gaps, and the names are in another order than the ids.
CLASSES = {1: "person", 2: "bicycle", 3: "car", 5: "zebra", 8: "apple", 9: "train", 12: "cat"}
LISTED = np.array(list(CLASSES))


@dataclass(frozen=True, eq=False)
class Case:
    """A contest, and honest detections for it, in image ids."""

    truth: GroundTruth
    sizes: Mapping[int, tuple[int, int]]
    source_ids: np.ndarray
    honest: Detections

    def as_sent(self, detections, *, as_coco=False, order=None):
        """Return detections in the ground truth's order, as a contestant sends them."""
        order = np.arange(1, len(self.source_ids) + 1) if order is None else order
        return Posted(
            detections, np.full(len(detections), as_coco, dtype=bool), order, self.source_ids
        )

    def scale(self, image_id):
        """Return width, height, width, height of each row's image."""
        return np.array([self.sizes[image] * 2 for image in image_id.tolist()], dtype=float)

    def codes(self, posted):
        """Return the codes of the mistakes that are found."""
        return [mistake.code for mistake in find_mistakes(self.truth, posted, self.sizes)]


def generated(class_ids=LISTED, names=CLASSES, seed=3) -> Case:
    """Return a few boxes per image, and detections that find most of them."""
    random = np.random.default_rng(seed)
    image = np.repeat(np.arange(1, IMAGES + 1), 6)
    klass = random.choice(class_ids, len(image))
    corner = random.integers(0, 200, (len(image), 2)).astype(float)
    size = random.integers(40, 170, (len(image), 2)).astype(float)
    box = np.concatenate([corner, corner + size - 1], axis=1)
    truth = GroundTruth(
        image_ids=np.arange(1, IMAGES + 1),
        class_ids=np.asarray(class_ids),
        box_image_id=image,
        box_class_id=klass,
        box=box,
        blacklist=np.empty((0, 2), dtype=np.int64),
        class_names=dict(names),
    )
    found = random.random(len(image)) < 0.8
    honest = Detections(image, klass, random.random(len(image)), box.copy()).select(found)
    sizes = {number: (500, 375) for number in range(1, IMAGES + 1)}
    return Case(truth, sizes, 1000 + 7 * np.arange(IMAGES), honest)


@pytest.fixture(scope="module")
def made():
    """Return a generated case."""
    return generated()


@pytest.fixture(scope="module")
def real(shared_data):
    """Return photographs of COCO and a real detector's answers to them."""
    return seen_by("ssd_mobilenet_v1", shared_data / "coco-tiny")


def seen_by(detector, folder) -> Case:
    """Return photographs of COCO and this detector's answers to them."""
    found = read_ground_truth(folder / "annotations.json")
    own = found.truth.image_ids
    raw = read_detections(folder / f"detections_{detector}.json")
    return Case(
        truth=renumber(found.truth, {int(image): k for k, image in enumerate(own, 1)}),
        sizes={k: found.sizes[int(image)] for k, image in enumerate(own, 1)},
        source_ids=own,
        honest=raw.with_image_ids(np.searchsorted(own, raw.image_id) + 1),
    )


def position(values, order):
    """Return the place of each value in an order, from 0."""
    place = {int(value): index for index, value in enumerate(order)}
    return np.array([place[int(value)] for value in values])


def stored_as_coco(four):
    """Return the corners that the referee makes of four numbers sent as a COCO box."""
    return np.concatenate([four[:, :2], four[:, :2] + four[:, 2:] - 1], axis=1)


def size_of(box):
    """Return x, y, width, height of inclusive corners."""
    return np.concatenate([box[:, :2], box[:, 2:] - box[:, :2] + 1], axis=1)


def centre_of(box):
    """Return centre x, centre y, width, height of inclusive corners."""
    size = size_of(box)
    return np.concatenate([size[:, :2] + size[:, 2:] / 2, size[:, 2:]], axis=1)


SWAPPED = [1, 0, 3, 2]

CLASS_MISTAKES: dict[str, tuple[str, Callable[[GroundTruth, np.ndarray], np.ndarray]]] = {
    "one too low": ("classes_off_by_one", lambda truth, sent: sent - 1),
    "one too high": ("classes_off_by_one", lambda truth, sent: sent + 1),
    "positions from 0": (
        "class_positions_sent",
        lambda truth, sent: position(sent, truth.class_ids),
    ),
    "positions from 1": (
        "class_positions_sent",
        lambda truth, sent: position(sent, truth.class_ids) + 1,
    ),
    "names from 0": ("classes_by_name", lambda truth, sent: position(sent, by_name(truth))),
    "names from 1": ("classes_by_name", lambda truth, sent: position(sent, by_name(truth)) + 1),
}

BOX_MISTAKES: dict[str, tuple[list[str], bool, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    # For each mistake: its codes, whether boxes are COCO's, and how to make the sent four numbers.
    "y first": (["x_y_swapped"], False, lambda box, scale: box[:, SWAPPED]),
    "x, y, w, h": (["width_height_sent"], False, lambda box, scale: size_of(box)),
    "centre": (["centre_sent"], False, lambda box, scale: centre_of(box)),
    "fractions": (["boxes_normalised"], False, lambda box, scale: box / scale),
    "fractions, y first": (
        ["boxes_normalised", "x_y_swapped"],
        False,
        lambda box, scale: (box / scale)[:, SWAPPED],
    ),
    "fractions of the centre": (
        ["boxes_normalised", "centre_sent"],
        False,
        lambda box, scale: centre_of(box) / scale,
    ),
    "input of 300": (["boxes_in_network_input"], False, lambda box, scale: box / scale * 300),
    "corners in a COCO box": (["corners_sent"], True, lambda box, scale: box),
    "centre in a COCO box": (["centre_sent"], True, lambda box, scale: centre_of(box)),
    "fractions in a COCO box": (
        ["boxes_normalised"],
        True,
        lambda box, scale: size_of(box) / scale,
    ),
    "fractions of corners in a COCO box": (
        ["boxes_normalised", "corners_sent"],
        True,
        lambda box, scale: box / scale,
    ),
    "h, w in a COCO box": (["x_y_swapped"], True, lambda box, scale: size_of(box)[:, SWAPPED]),
    # A client that stored COCO boxes sends what it takes for their corners.
    "corners, converted": (["corners_sent"], False, lambda box, scale: stored_as_coco(box)),
    "centre, converted": (
        ["centre_sent"],
        False,
        lambda box, scale: stored_as_coco(centre_of(box)),
    ),
    "y first, converted": (
        ["x_y_swapped"],
        False,
        lambda box, scale: stored_as_coco(box[:, SWAPPED]),
    ),
    "fractions, converted": (
        ["boxes_normalised"],
        False,
        lambda box, scale: stored_as_coco(size_of(box) / scale),
    ),
    "fractions of corners, converted": (
        ["boxes_normalised", "corners_sent"],
        False,
        lambda box, scale: stored_as_coco(box / scale),
    ),
}


def by_name(truth):
    """Return the class ids in the order of their names."""
    return sorted(truth.class_ids.tolist(), key=lambda class_id: truth.class_names[class_id])


def with_classes(case, name):
    """Return the code of a mistake in the classes, and detections with that mistake."""
    code, wrong = CLASS_MISTAKES[name]
    return code, replace(case.honest, class_id=wrong(case.truth, case.honest.class_id))


def with_boxes(case, name):
    """Return the codes of mistakes in the boxes, and posts with those mistakes."""
    codes, as_coco, wrong = BOX_MISTAKES[name]
    sent = wrong(case.honest.box, case.scale(case.honest.image_id))
    box = stored_as_coco(sent) if as_coco else np.ascontiguousarray(sent)
    return codes, case.as_sent(replace(case.honest, box=box), as_coco=as_coco)


def check(case, posted, codes):
    """Check that exactly these mistakes are found, and that their repair gives the honest score."""
    found = find_mistakes(case.truth, posted, case.sizes)
    assert codes == [mistake.code for mistake in found]
    honest = evaluate(case.truth, case.honest).mean_ap
    for mistake in found:
        assert pytest.approx(honest, abs=1e-3) == mistake.repaired_mean_ap


@pytest.mark.parametrize("name", CLASS_MISTAKES)
def test_class_ids_in_another_numbering_are_recognised(made, name):
    """Shifted ids, positions in a list with gaps and positions by name are told apart."""
    code, sent = with_classes(made, name)
    check(made, made.as_sent(sent), [code])


@pytest.mark.parametrize("name", BOX_MISTAKES)
def test_boxes_in_another_form_are_recognised(made, name):
    """Each order and unit of the four numbers is named, and its repair gives the honest score."""
    codes, posted = with_boxes(made, name)
    check(made, posted, codes)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASS_MISTAKES)
def test_class_ids_of_real_detectors(real, name):
    """COCO's 80 classes sent as 0 to 79, as 1 to 80, by name and shifted are told apart."""
    code, sent = with_classes(real, name)
    check(real, real.as_sent(sent), [code])


@pytest.mark.slow
@pytest.mark.parametrize("name", BOX_MISTAKES)
def test_boxes_of_real_detectors(real, name):
    """Mistakes in a real detector's boxes are found like those in generated boxes."""
    codes, posted = with_boxes(real, name)
    check(real, posted, codes)


@pytest.mark.slow
def test_an_honest_detector_is_not_suspected(real):
    """A mediocre real detector has no mistake, in any form of answers."""
    for as_coco in (False, True):
        assert [] == real.codes(real.as_sent(real.honest, as_coco=as_coco))


@pytest.mark.slow
def test_another_real_detector(shared_data):
    """A better real detector's mistake is found, and nothing else is suspected."""
    case = seen_by("efficientdet_lite0", shared_data / "coco-tiny")
    assert [] == case.codes(case.as_sent(case.honest))
    code, sent = with_classes(case, "positions from 0")
    check(case, case.as_sent(sent), [code])


def dense(case, names):
    """Return a case whose list has COCO's classes as 1 to 80, with names or without."""
    place = {int(own): number for number, own in enumerate(case.truth.class_ids, 1)}
    truth = replace(
        case.truth,
        class_ids=np.arange(1, len(place) + 1),
        box_class_id=np.array([place[int(own)] for own in case.truth.box_class_id]),
        class_names={place[own]: name for own, name in case.truth.class_names.items() if names},
    )
    own = replace(case.honest, class_id=np.array([place[int(k)] for k in case.honest.class_id]))
    return replace(case, truth=truth, honest=own)


@pytest.mark.slow
@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize(("step", "words"), [(0, "1 to 90"), (-1, "0 to 89")])
def test_cocos_ids_in_a_list_of_1_to_80(real, names, step, words):
    """The ids of COCO's own file are named in a contest whose list has no gaps."""
    case = dense(real, names)
    sent = replace(case.honest, class_id=real.honest.class_id + step)
    check(case, case.as_sent(sent), ["coco_ids_sent"])
    (mistake,) = find_mistakes(case.truth, case.as_sent(sent), case.sizes)
    assert words in mistake.text and "COCO's 13, 'stop sign', is 12 here." in mistake.text
    assert [] == case.codes(case.as_sent(case.honest))


def test_cocos_ids_in_a_list_of_some_of_its_names():
    """A list of a few classes that COCO has too is matched by name, VOC's words included."""
    names = {1: "aeroplane", 2: "cat", 3: "Dog", 4: "sofa", 5: "zebra"}
    coco = np.array([5, 17, 18, 63, 24])
    case = generated(np.array(list(names)), names)
    sent = replace(case.honest, class_id=coco[case.honest.class_id - 1])
    check(case, case.as_sent(sent), ["coco_ids_sent"])
    place = np.array([4, 15, 16, 57, 22])
    sent = replace(case.honest, class_id=place[case.honest.class_id - 1])
    check(case, case.as_sent(sent), ["coco_positions_sent"])


@pytest.mark.parametrize(
    ("step", "word"), [(-1, "one too low. The contest counts"), (1, "one too high. The contest")]
)
def test_image_numbers_from_0_and_from_2(made, step, word):
    """Shifted image numbers are named with their direction."""
    sent = made.honest.with_image_ids(made.honest.image_id + step)
    check(made, made.as_sent(sent), ["images_off_by_one"])
    (mistake,) = find_mistakes(made.truth, made.as_sent(sent), made.sizes)
    assert word in mistake.text


def test_image_ids_of_the_ground_truths_file(made):
    """COCO's own image ids in the place of numbers are recognised."""
    sent = made.honest.with_image_ids(made.source_ids[made.honest.image_id - 1])
    check(made, made.as_sent(sent), ["image_ids_of_the_source"])


def test_stored_answers_in_a_shuffled_session(made):
    """Answers in the ground truth's order are recognised in a session with another order."""
    order = np.random.default_rng(5).permutation(np.arange(1, IMAGES + 1))
    check(made, made.as_sent(made.honest, order=order), ["image_order_ignored"])
    shown = np.argsort(order)[made.honest.image_id - 1] + 1
    assert [] == made.codes(made.as_sent(made.honest.with_image_ids(shown), order=order))


def test_two_mistakes_that_hide_each_other(made):
    """Fractions of centres with positions for classes are found, although each hides the other."""
    _, posted = with_boxes(made, "fractions of the centre")
    _, wrong = with_classes(made, "positions from 0")
    both = replace(posted, detections=replace(posted.detections, class_id=wrong.class_id))
    check(made, both, ["class_positions_sent", "boxes_normalised", "centre_sent"])


def test_a_json_answer_among_forms_is_doubted_apart(made):
    """Corners in COCO boxes are named, even if the same program's forms are right."""
    rows = np.arange(len(made.honest)) % 4 != 0
    box = np.where(rows[:, np.newaxis], stored_as_coco(made.honest.box), made.honest.box)
    posted = made.as_sent(replace(made.honest, box=box))
    check(made, replace(posted, as_coco=rows), ["corners_sent"])


def test_words_fit_a_list_with_gaps(made):
    """For ids with gaps the advice names the sent positions and the list's ids."""
    _, sent = with_classes(made, "positions from 0")
    (mistake,) = find_mistakes(made.truth, made.as_sent(sent), made.sizes)
    assert "0 to 6" in mistake.text
    assert "The list has gaps: its 7 ids go from 1 to 12." in mistake.text


def test_words_fit_a_list_from_0():
    """For a class list that begins with 0 no advice says that it counts from 1."""
    case = generated(np.arange(6), {})
    sent = replace(case.honest, class_id=case.honest.class_id + 1)
    (mistake,) = find_mistakes(case.truth, case.as_sent(sent), case.sizes)
    assert mistake.text == "The class ids are one too high. The first class of the list has id 0."


def test_a_small_gain_is_no_mistake(made):
    """A repair that helps few rows and harms others is not suggested."""
    sent = made.honest.class_id.copy()
    sent[::12] -= 1
    assert [] == made.codes(made.as_sent(replace(made.honest, class_id=sent)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3, 4])
def test_a_poor_detector_is_not_suspected(seed):
    """One lucky match among hundreds of readings of poor boxes proves nothing."""
    case = generated(seed=seed)
    random = np.random.default_rng(seed)
    count = len(case.honest)
    poor = replace(
        case.honest,
        class_id=np.where(random.random(count) < 0.6, random.choice(LISTED, count), 1),
        box=case.honest.box + random.normal(0, 40, (count, 4)),
    )
    assert [] == case.codes(case.as_sent(poor))


def test_an_honest_answer_has_no_mistake(made):
    """Right detections raise no suspicion."""
    assert [] == made.codes(made.as_sent(made.honest))


def test_no_detections_have_no_mistake(made):
    """An empty answer raises no suspicion."""
    assert [] == made.codes(made.as_sent(Detections.empty()))


def test_nothing_is_suspected_without_ground_truth(made):
    """Without a ground truth box there is no mAP, and so no proof of a mistake."""
    none = np.empty(0, dtype=np.int64)
    truth = replace(made.truth, box_image_id=none, box_class_id=none, box=np.empty((0, 4)))
    assert () == find_mistakes(truth, made.as_sent(made.honest), made.sizes)


def test_equal_confidences_are_told(made):
    """A detector with a constant confidence is warned at any score."""
    same = replace(made.honest, confidence=np.full(len(made.honest), 0.5))
    assert ["confidences_equal"] == made.codes(made.as_sent(same))


@pytest.mark.filterwarnings("error")
def test_wild_rows_are_no_obstacle(made):
    """Rows of unknown images and boxes that are not finite neither hide a mistake nor add one."""
    sent = made.honest.select(slice(0, 4))
    box = np.array([[np.nan, 1, np.inf, 4], [-np.inf] * 4, [1e308] * 4, [5, 5, 1, 1]])
    wild = replace(sent, image_id=np.array([999, 1, 2, 2**62]), box=box)
    _, posted = with_boxes(made, "y first")
    both = Detections.concatenate([wild, posted.detections])
    assert ["x_y_swapped"] == made.codes(made.as_sent(both))


def test_turned_confidences_are_found(made):
    """Confidences of 1 minus the right ones are found, and the repair gives the honest score."""
    right = np.linspace(0.99, 0.5, len(made.honest))
    false = replace(made.honest, box=made.honest.box + 400, confidence=right - 0.49)
    both = Detections.concatenate([replace(made.honest, confidence=right), false])
    honest = evaluate(made.truth, both).mean_ap
    assert [] == made.codes(made.as_sent(both))
    turned = replace(both, confidence=1 - both.confidence)
    (found,) = find_mistakes(made.truth, made.as_sent(turned), made.sizes)
    assert "confidences_turned" == found.code
    assert pytest.approx(honest, abs=1e-3) == found.repaired_mean_ap


@pytest.mark.parametrize(
    ("before", "after", "better"),
    [(0.0, 0.015, False), (0.0, 0.02, True), (0.3, 0.32, False), (0.7, 0.8, True)],
)
def test_a_repair_must_gain_two_hundredths_and_a_tenth(before, after, better):
    """A gain below .02 mAP proves nothing, nor does one below a tenth of the mAP before."""
    results = [SimpleNamespace(mean_ap=mean_ap) for mean_ap in (before, after)]
    assert better == diagnosis._clearly_better(results[1], results[0])


@pytest.mark.parametrize(
    ("gained", "lost", "more"), [(4, 0, False), (5, 0, True), (7, 2, False), (8, 2, True)]
)
def test_a_repair_makes_many_rows_match_and_hardly_any_miss(gained, lost, more):
    """Five rows must match that did not, and four for each that no longer matches."""
    before = np.arange(40) < 10 + lost
    after = (np.arange(40) < 10) | (np.arange(40) >= 40 - gained)
    assert more == diagnosis._matches_more(after, before)


def sure(case):
    """Return these detections with more of the truth, so that their score is high."""
    truth = case.truth
    confidence = np.linspace(0.5, 0.99, len(truth.box))
    right = Detections(truth.box_image_id, truth.box_class_id, confidence, truth.box.copy())
    return replace(case, honest=right)


def found_at(case, posted, rows=None):
    """Return the mAP as sent, and the codes of what is found by somebody who knows it."""
    mean_ap = evaluate(case.truth, posted.detections).mean_ap
    return mean_ap, [it.code for it in find_mistakes(case.truth, posted, case.sizes, mean_ap)]


def test_a_mistake_that_leaves_a_high_score_is_named(made):
    """Corners in every fourth COCO box are named at an mAP of .7, and honest boxes are not."""
    case = sure(made)
    rows = np.arange(len(case.honest)) % 4 == 0
    box = np.where(rows[:, np.newaxis], stored_as_coco(case.honest.box), case.honest.box)
    posted = replace(case.as_sent(replace(case.honest, box=box)), as_coco=rows)
    mean_ap, codes = found_at(case, posted)
    assert 0.6 < mean_ap < 0.8
    assert ["corners_sent"] == codes
    assert (1.0, []) == found_at(case, case.as_sent(case.honest))


def test_an_honest_high_score_is_not_searched(made, monkeypatch):
    """A few rows show that no mistake is likely, so the search does not take its time."""
    monkeypatch.setattr(diagnosis, "_proved", lambda readings: pytest.fail("a search"))
    assert (1.0, []) == found_at(sure(made), made.as_sent(sure(made).honest))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name, (_, as_coco, _) in BOX_MISTAKES.items() if as_coco]
)
def test_mistakes_of_one_answer_in_four_of_a_real_detector(real, name):
    """A mistake in the quarter of the answers that came as COCO boxes is named."""
    codes, _, wrong = BOX_MISTAKES[name]
    rows = real.honest.image_id % 4 == 0
    box = stored_as_coco(wrong(real.honest.box, real.scale(real.honest.image_id)))
    mixed = replace(real.honest, box=np.where(rows[:, np.newaxis], box, real.honest.box))
    mean_ap, found = found_at(real, replace(real.as_sent(mixed), as_coco=rows))
    assert codes == found
    assert mean_ap > 0.2


DEGRADED = {
    "only sure rows": lambda rows, random: rows.select(np.flatnonzero(rows.confidence > 0.6)),
    "few images": lambda rows, random: rows.select(np.flatnonzero(rows.image_id <= 12)),
    "shaken boxes": lambda rows, random: replace(
        rows, box=rows.box + random.normal(0, 25, rows.box.shape)
    ),
    "random confidences": lambda rows, random: replace(rows, confidence=random.random(len(rows))),
    "small boxes": lambda rows, random: replace(rows, box=np.round(rows.box * 0.95)),
    "half the classes wrong": lambda rows, random: replace(
        rows, class_id=np.where(random.random(len(rows)) < 0.5, 1, rows.class_id)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DEGRADED)
@pytest.mark.parametrize("detector", ["ssd_mobilenet_v1", "efficientdet_lite0"])
def test_poor_but_honest_real_detections_are_not_suspected(shared_data, detector, name):
    """Whatever makes a real detector worse is no classic mistake, whether its score is known."""
    case = seen_by(detector, shared_data / "coco-tiny")
    poor = DEGRADED[name](case.honest, np.random.default_rng(8))
    for as_coco in (False, True):
        posted = case.as_sent(poor, as_coco=as_coco)
        assert [] == case.codes(posted)
        assert [] == found_at(case, posted)[1]
