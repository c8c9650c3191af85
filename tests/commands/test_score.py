# SPDX-License-Identifier: Apache-2.0
"""`referee score` from files to exit code."""

from __future__ import annotations

import argparse
import gzip
import io
import json

import pytest

from referee.commands import score
from referee.formats.loading import load_coco_truth, load_ground_truth
from referee.scoring.rules import RULE_SETS
from tests.support.yolo_data import write_labels, write_text

TRUTH = "1,1,10,10,59,59\n2,1,10,10,59,59\n2,2,0,0,9,9\n"
LINES = "1 1 0.9 10 10 59 59\n1 1 0.8 10 10 59 59\n2,2,0.7,0,0,9,9\n"


def run(*options):
    """Run the command with options and return its exit code."""
    parser = argparse.ArgumentParser(prog="referee score")
    score.add_arguments(parser)
    return score.run(parser.parse_args([str(option) for option in options]))


@pytest.fixture
def files(tmp_path):
    """Write ground truth and detections, and return the options for them."""
    (tmp_path / "truth.csv").write_text(TRUTH)
    (tmp_path / "answers.txt").write_text(LINES)
    return [
        *("--ground-truth", tmp_path / "truth.csv"),
        *("--detections", tmp_path / "answers.txt"),
    ]


def test_json_holds_the_contract(files, capsys):
    """With --json stdout has one object with every field that other programs rely on."""
    assert 0 == run(*files, "--json")
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert "" == err
    assert ("ilsvrc", 0.75, 2) == tuple(
        report[field] for field in ("metric", "mean_ap", "classes_with_ground_truth")
    )
    assert {"1": 0.5, "2": 1.0} == report["ap"]
    assert (2, 3) == (report["images"], report["detections"])
    assert {"unknown_image", "class_out_of_range"} < report["ignored"].keys()
    assert "energy_wh" not in report


def test_energy_adds_the_score(files, capsys):
    """An energy adds mAP per watt-hour and normalised accuracy."""
    assert 0 == run(*files, "--energy-wh", "0.5", "--json", "--images-processed", "2")
    report = json.loads(capsys.readouterr().out)
    assert (0.5, 1.5, 0.75) == tuple(
        report[field] for field in ("energy_wh", "score", "normalized_accuracy")
    )


def test_an_energy_that_gives_no_number_is_refused(files, capsys):
    """1e-310 Wh would give a score that is no number of JSON: one sentence says what to give."""
    with pytest.raises(SystemExit, match="2"):
        run(*files, "--energy-wh", "1e-310", "--json")
    out, err = capsys.readouterr()
    assert ("", True) == (out, "1e-310 is not an energy: give watt-hours above 0" in err)


def test_an_energy_within_five_sigma_gives_no_score_but_the_map(files, capsys):
    """An energy that divides nothing leaves mAP and its interval, and the rule is told; exit 1."""
    options = ["--resamples", "100", "--energy-wh", "1", "--energy-uncertainty-wh", "0.5"]
    assert 1 == run(*files, *options, "--json")
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (0.75, None) == (report["mean_ap"], report["score"])
    assert "mean_ap" in report["uncertainty"] and "score" not in report["uncertainty"]
    assert "1.0 ± 0.5 Wh divides nothing" in err and "five sigma" in err
    assert 1 == run(*files, *options)
    assert "0.750000000000" in capsys.readouterr().out


def test_classes_without_ground_truth_are_null(files, capsys):
    """A listed class without a truth box is null, not 0."""
    assert 0 == run(*files, "--classes", "3", "--json")
    assert None is json.loads(capsys.readouterr().out)["ap"]["3"]


@pytest.mark.parametrize("name", RULE_SETS)
def test_rules_are_chosen_by_name(files, capsys, name):
    """Each rule set can be chosen, and the report names it."""
    assert 0 == run(*files, "--rules", name, "--json")
    assert RULE_SETS[name].name == json.loads(capsys.readouterr().out)["rules"]


def test_tables_are_written_beside_the_score(files, tmp_path, capsys):
    """--per-class and --curves write CSV; a folder that is not there is said so."""
    tables = tmp_path / "classes.csv", tmp_path / "curves.csv"
    assert 0 == run(*files, "--per-class", str(tables[0]), "--curves", str(tables[1]))
    assert ["class_id,name", "class_id,confidence"] == [
        ",".join(table.read_text().split(",")[:2]) for table in tables
    ]
    capsys.readouterr()
    assert 2 == run(*files, "--curves", str(tmp_path / "no" / "curves.csv"))
    assert "curves.csv cannot be written: No such file" in capsys.readouterr().err


def test_table_for_people(files, capsys):
    """Without --json a table names rules, counts and scores."""
    assert 0 == run(*files, "--energy-wh", "0.5", "--classes", "3")
    out = capsys.readouterr().out
    for text in (
        "ilsvrc-devkit 2014",
        "2 of 3",
        "no ground truth",
        "0.750000000000",
        "1.500000000000",
        "duplicates",
        "(2 of 2 images processed)",
    ):
        assert text in out


@pytest.mark.parametrize("energy", ["0", "-1", "nan", "inf", "x"])
def test_energy_that_is_none_is_wrong_use(files, capsys, energy):
    """An energy that is not finite and above 0 is wrong use."""
    with pytest.raises(SystemExit) as stop:
        run(*files, f"--energy-wh={energy}")
    assert 2 == stop.value.code
    assert "--energy-wh" in capsys.readouterr().err


def test_input_error_is_one_sentence_on_stderr(files, tmp_path, capsys):
    """A malformed file gives exit code 2 and one sentence with file, line and field."""
    (tmp_path / "answers.txt").write_text("1 1 0.9 10 10 59 x59\n")
    assert 2 == run(*files, "--json")
    out, err = capsys.readouterr()
    assert "" == out
    assert f"referee score: {tmp_path}/answers.txt, line 1, ymax: 'x59' is not a number\n" == err


def test_no_class_with_ground_truth_is_no_score(files, tmp_path, capsys):
    """A blacklist that takes all truth leaves no mAP: exit code 1, and null in JSON."""
    (tmp_path / "black.csv").write_text("1,1\n2,1\n2,2\n")
    assert 1 == run(*files, "--blacklist", tmp_path / "black.csv", "--json", "--energy-wh", "1")
    out, err = capsys.readouterr()
    assert (None, None) == (json.loads(out)["mean_ap"], json.loads(out)["score"])
    assert "no class has ground truth" in err


@pytest.mark.parametrize(
    ("options", "mean_ap", "numbering"),
    [([], 1.0, "contest"), (["--image-ids", "own"], 0.0, "own")],
)
def test_image_ids_of_lines_are_recognised(tmp_path, capsys, options, mean_ap, numbering):
    """Lines in the contest's ids 1…N are recognised, and the output says so."""
    (tmp_path / "truth.csv").write_text("100,1,0,0,9,9\n300,1,0,0,9,9\n")
    (tmp_path / "answers.txt").write_text("1 1 0.9 0 0 9 9\n2 1 0.9 0 0 9 9\n")
    files = ["--ground-truth", tmp_path / "truth.csv", "--detections", tmp_path / "answers.txt"]
    assert 0 == run(*files, *options, "--json")
    report = json.loads(capsys.readouterr().out)
    assert (mean_ap, numbering) == (report["mean_ap"], report["image_ids"])


@pytest.mark.parametrize(
    ("detector", "expected"),
    [
        ("detections_ssd_mobilenet_v1.json", 0.335107299485),
        ("detections_efficientdet_lite0.json", 0.448089373355),
    ],
)
def test_real_detectors_on_real_photographs(shared_data, capsys, detector, expected):
    """Two real detectors get the scores of an independent computation."""
    folder = shared_data / "coco-tiny"
    files = ["--ground-truth", folder / "annotations.json", "--detections", folder / detector]
    assert 0 == run(*files, "--json")
    report = json.loads(capsys.readouterr().out)
    assert pytest.approx(expected, abs=1e-11) == report["mean_ap"]
    assert 80 == report["classes_with_ground_truth"]


def test_coco_metric_has_the_twelve_numbers(files, capsys):
    """COCO's metric works on any input, and names the program that computed it."""
    assert 0 == run(*files, "--metric", "coco", "--json", "--energy-wh", "2")
    report = json.loads(capsys.readouterr().out)
    assert ("coco", 12) == (report["metric"], len(report["coco"]))
    assert report["mean_ap"] == report["coco"]["AP"] == 2 * report["score"]
    assert {"1", "2"} == report["ap"].keys()
    assert report["evaluator"].split()[0] in ("hotcoco", "pycocotools")


def test_coco_metric_has_a_table(files, capsys):
    """The table shows the twelve numbers."""
    assert 0 == run(*files, "--metric", "coco")
    out = capsys.readouterr().out
    for text in ("COCO, computed by", "AP75", "AR_large                    none"):
        assert text in out


def test_coco_metric_knows_no_blacklist(files, tmp_path, capsys):
    """A blacklist with COCO's metric is refused, because it would be ignored."""
    (tmp_path / "black.csv").write_text("1,1\n")
    assert 2 == run(*files, "--metric", "coco", "--blacklist", tmp_path / "black.csv")
    assert "--blacklist does not go with --metric coco" in capsys.readouterr().err


def test_resamples_add_intervals(files, capsys):
    """Draws of the images add 95 % intervals, the same for the same seed."""
    options = ["--resamples", "100", "--seed", "3", "--energy-wh", "2", "--json"]
    reports = []
    for _ in range(2):
        assert 0 == run(*files, *options, "--energy-uncertainty-wh", "0.01")
        out, err = capsys.readouterr()
        assert "" == err
        reports.append(json.loads(out)["uncertainty"])
    assert reports[0] == reports[1]
    assert (100, 3, 0.95) == tuple(reports[0][name] for name in ("resamples", "seed", "level"))
    for field, value in (("score", 0.375), ("score_from_energy", 0.375), ("mean_ap", 0.75)):
        low, high = reports[0][field]
        assert low < value < high
    assert reports[0]["score"][1] > reports[0]["score_from_images"][1]


def test_energy_has_its_own_line(files, capsys):
    """The score's interval has lines for what images and energy add, or says what is missing."""
    options = [*files, "--resamples", "100", "--energy-wh", "2"]
    assert 0 == run(*options, "--energy-uncertainty-wh", "0.01")
    out = capsys.readouterr().out
    assert "from the energy alone     0.371361 to 0.378711 (± 0.01 Wh, 1 sigma)" in out
    assert 0 == run(*options)
    assert "counted as exact; give --energy-uncertainty-wh" in capsys.readouterr().out


def test_what_cannot_be_told_is_null(files, tmp_path, capsys):
    """One image with truth has no halves to compare: null, and no NaN, which is not JSON."""
    (tmp_path / "truth.csv").write_text("1,1,10,10,59,59\n1,1,100,100,159,159\n")
    assert 0 == run(*files, "--resamples", "100", "--json")
    out = capsys.readouterr().out
    assert "NaN" not in out
    told = json.loads(out)["uncertainty"]
    assert (None, [0.0, 1.0]) == (told["mean_ap_standard_error"], told["mean_ap"])


def test_clusters_stay_whole(files, tmp_path, capsys):
    """With clusters the report counts them, and its interval is for as many clusters."""
    boxes = "".join(f"{image},1,10,10,59,59\n" for image in range(1, 13))
    (tmp_path / "truth.csv").write_text(boxes)
    clusters = tmp_path / "clusters.csv"
    clusters.write_text(
        "image_id,cluster\n" + "".join(f"{image},film-{image % 4}\n" for image in range(12, 0, -1))
    )
    told = []
    for options in ([], ["--clusters", clusters]):
        assert 0 == run(*files, "--resamples", "100", "--json", *options)
        told.append(json.loads(capsys.readouterr().out)["uncertainty"])
    assert (False, 4) == ("clusters" in told[0], told[1]["clusters"])
    assert "as many clusters of images" in told[1]["interval_of"]
    assert told[0]["mean_ap"] != told[1]["mean_ap"]
    (tmp_path / "rival.txt").write_text("3 1 0.9 10 10 59 59\n")
    rival = ["--rival-detections", tmp_path / "rival.txt"]
    assert 0 == run(*files, "--resamples", "100", "--clusters", clusters, *rival)
    out = capsys.readouterr().out
    assert "100 times, seed 0; 4 whole clusters" in out
    assert "mAP minus rival's" in out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,a\n", "has no line for image 2: name the cluster of each image"),
        ("", "has no line for image 1 and 1 other"),
        ("1,a\n2,a\n1,b\n", "line 3, image_id: image 1 is listed twice"),
        ("1,a\n2,a\n3,b\n", "line 3, image_id: the ground truth has no image 3"),
        ("1,a\n2,\n", "line 2, cluster: image 2 has none: name one"),
        ("1,a\n2\n", "line 2 has 1 field, not 2: give image_id,cluster"),
        ("image_id,scene\n1,a\n2,a\n", "line 1 names the columns image_id,scene"),
        ("one,a\n2,a\n", "line 1, image_id: 'one' is not a whole number"),
    ],
)
def test_clusters_name_each_image_once(files, tmp_path, capsys, text, message):
    """A file of clusters that does not name each image once is refused in one sentence."""
    (tmp_path / "clusters.csv").write_text(text)
    assert 2 == run(*files, "--resamples", "100", "--clusters", tmp_path / "clusters.csv")
    out, err = capsys.readouterr()
    assert ("", 1) == (out, err.count("\n"))
    assert f"{tmp_path / 'clusters.csv'}" in err and message in err


def test_rival_may_overtake(files, tmp_path, capsys):
    """Beside another session's detections the report says which is ahead, and how surely."""
    (tmp_path / "rival.txt").write_text("1 1 0.9 10 10 59 59\n")
    options = [*files, "--resamples", "100", "--rival-detections", tmp_path / "rival.txt"]
    assert 0 == run(*options, "--energy-wh", "1", "--rival-energy-wh", "1", "--json")
    rival = json.loads(capsys.readouterr().out)["rival"]
    assert (0.25, 0.25, True) == tuple(rival[name] for name in ("mean_ap", "score", "ahead"))
    assert 0 <= rival["turn_probability"] <= 0.5
    assert 2 == rival["turn_from_sessions"]
    assert ("score", 0.5) == (rival["compared"], rival["difference"])
    low, high = rival["difference_interval"]
    assert -1 <= low < 0.5 < high <= 1
    assert 0 == run(*options)
    out = capsys.readouterr().out
    for text in (
        "mAP, 95 % interval",
        "the mean of all contests with as many images",
        "100 times, seed 0",
        "mAP minus rival's",
        "second contest turns it",
        "% of cases, by the spread of these two sessions alone",
    ):
        assert text in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--metric", "coco", "--resamples", "100"], "--resamples does not go with --metric coco"),
        (["--metric", "coco", "--explain", "x"], "--explain does not go with --metric coco"),
        (
            ["--rival-detections", "x"],
            "--rival-detections has no effect alone: add --resamples 100",
        ),
        (["--clusters", "x"], "--clusters has no effect alone: add --resamples 100"),
        (["--metric", "coco", "--clusters", "x"], "--clusters does not go with --metric coco"),
        (["--seed", "3"], "--seed has no effect alone: add --resamples 100"),
        (["--images-processed", "1"], "--images-processed has no effect alone: add --energy-wh"),
        (["--energy-uncertainty-wh", "1"], "no effect alone: add --energy-wh"),
        (["--energy-uncertainty-wh", "1", "--energy-wh", "2"], "no effect alone: add --resamples"),
        (["--rival-energy-wh", "1"], "no effect alone: add --rival-detections"),
        (["--rival-energy-uncertainty-wh", "1"], "no effect alone: add --rival-energy-wh"),
        (["--pictures", "x"], "--pictures has no effect alone: add --explain"),
        (["--images-processed", "99", "--energy-wh", "1"], "more than the 2 images of the ground"),
        (["--images-processed", "1", "--energy-wh", "1"], "less than the 2 images with an answer"),
        (["--images", "-", "--blacklist", "-"], "- can stand for one file only"),
        (
            ["--rival-detections", "x", "--resamples", "100", "--energy-wh", "1"],
            "give both --energy-wh and --rival-energy-wh",
        ),
    ],
)
def test_options_that_make_no_sense_together(files, capsys, options, message):
    """Options that would be ignored or meaningless together are wrong use."""
    assert 2 == run(*files, *options)
    out, err = capsys.readouterr()
    assert ("", True) == (out, message in err)


@pytest.mark.parametrize(
    "options",
    [
        ["--resamples", "10"],
        ["--seed", "-1"],
        ["--images-processed", "-1"],
        ["--energy-uncertainty-wh", "-1"],
        ["--energy-uncertainty-wh", "nan"],
    ],
)
def test_options_out_of_range_are_wrong_use(files, capsys, options):
    """Too few draws, a negative seed and an invalid uncertainty are refused by name."""
    with pytest.raises(SystemExit) as stop:
        run(*files, *options)
    assert 2 == stop.value.code
    assert options[0] in capsys.readouterr().err


def test_a_rival_without_energy_has_none(files, tmp_path, capsys):
    """Without energies the rival has a mAP, and neither an energy nor a score."""
    (tmp_path / "rival.txt").write_text("1 1 0.9 10 10 59 59\n")
    options = [*files, "--resamples", "100", "--rival-detections", tmp_path / "rival.txt"]
    assert 0 == run(*options, "--json")
    rival = json.loads(capsys.readouterr().out)["rival"]
    assert (0.25, None, None) == (rival["mean_ap"], rival["energy_wh"], rival["score"])
    assert 0 == run(*options)
    assert "rival's score" not in capsys.readouterr().out


@pytest.mark.parametrize("metric", ["ilsvrc", "coco"])
def test_ids_that_fit_both_numberings_get_a_warning(tmp_path, capsys, metric):
    """Where both numberings explain as many rows, a warning names the option that decides."""
    (tmp_path / "truth.csv").write_text("0,1,0,0,9,9\n1,1,20,20,59,59\n2,1,0,0,9,9\n")
    (tmp_path / "answers.txt").write_text("1 1 0.9 0 0 9 9\n2 1 0.9 20 20 59 59\n")
    files = ["--ground-truth", tmp_path / "truth.csv", "--detections", tmp_path / "answers.txt"]
    assert 0 == run(*files, "--metric", metric, "--json")
    out, err = capsys.readouterr()
    assert "fit two numberings" in err and "--image-ids contest" in err
    assert 1 == len(json.loads(out)["warnings"])
    assert 0 == run(*files, "--metric", metric, "--json", "--image-ids", "contest")
    out, err = capsys.readouterr()
    assert ("", []) == (err, json.loads(out)["warnings"])
    assert json.loads(out)["mean_ap"] > 0.6


def test_boxes_in_fractions_get_a_warning(files, tmp_path, capsys):
    """Boxes between 0 and 1 are fractions of the image: the warning says what to do."""
    (tmp_path / "answers.txt").write_text("1 1 0.9 0.1 0.1 0.6 0.6\n2 1 0.9 0 0 1 1\n")
    assert 0 == run(*files, "--json")
    out, err = capsys.readouterr()
    assert "all boxes of the detections lie between 0 and 1" in err
    assert [err.removeprefix("referee score: warning: ").rstrip()] == json.loads(out)["warnings"]


def test_one_pixel_is_no_fraction(tmp_path, capsys):
    """Boxes of whole pixels in the corner of an image get no warning."""
    (tmp_path / "truth.csv").write_text("1,1,0,0,1,1\n")
    (tmp_path / "answers.txt").write_text("1 1 0.9 0 0 1 1\n")
    assert 0 == run(
        *("--ground-truth", tmp_path / "truth.csv", "--detections", tmp_path / "answers.txt")
    )
    assert "" == capsys.readouterr().err


@pytest.mark.parametrize("option", ["--ground-truth", "--detections"])
def test_a_file_from_the_standard_input(files, monkeypatch, capsys, option):
    """`-` is the standard input, packed or not, and errors call it so."""
    place = files.index(option) + 1
    content = files[place].read_bytes()
    for given in (content, gzip.compress(content)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        assert 0 == run(*files[:place], "-", *files[place + 1 :], "--json")
        assert 0.75 == json.loads(capsys.readouterr().out)["mean_ap"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x,y\n")))
    assert 2 == run(*files[:place], "-", *files[place + 1 :])
    assert "referee score: standard input, line 1 has 2 fields" in capsys.readouterr().err


@pytest.mark.parametrize("metric", ["ilsvrc", "coco"])
@pytest.mark.parametrize("name", ["answers.jsonl", "-"])
def test_json_lines_are_scored_as_lines(files, tmp_path, monkeypatch, capsys, metric, name):
    """One result a line gives the score of the same lines of numbers, from a file or a pipe."""
    assert 0 == run(*files, "--metric", metric, "--json")
    expected = json.loads(capsys.readouterr().out)
    content = "".join(
        json.dumps({"image_id": image, "category_id": klass, "bbox": box, "score": score}) + "\n"
        for image, klass, score, box in (
            *((1, 1, 0.9, [10, 10, 50, 50]), (1, 1, 0.8, [10, 10, 50, 50])),
            (2, 2, 0.7, [0, 0, 10, 10]),
        )
    )
    (tmp_path / "answers.jsonl").write_text(content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
    path = name if name == "-" else tmp_path / name
    assert 0 == run(*files[:3], path, "--metric", metric, "--json")
    assert expected == json.loads(capsys.readouterr().out)


def test_a_closed_standard_input_is_named(files, monkeypatch, capsys):
    """A process may have no standard input at all."""
    monkeypatch.setattr("sys.stdin", None)
    assert 2 == run(*files[:3], "-")
    assert "the standard input is closed" in capsys.readouterr().err


def test_explain_writes_a_folder(files, tmp_path, capsys):
    """--explain writes the folder, and standard error names the file to open."""
    assert 0 == run(*files, "--explain", tmp_path / "why", "--json")
    out, err = capsys.readouterr()
    assert 0.75 == json.loads(out)["mean_ap"]
    assert f"Open {tmp_path}/why/index.html" in err
    assert (tmp_path / "why/fates.csv").is_file()


def test_a_classic_mistake_is_told_at_a_high_score_too(tmp_path, capsys):
    """Positions in a class list with a gap at its end are named at an mAP of .75."""
    listed = [1, 2, 3, 7]
    truth = {
        "images": [{"id": n, "file_name": "", "width": 200, "height": 200} for n in range(1, 61)],
        "categories": [{"id": n, "name": f"c{n}"} for n in listed],
        "annotations": [
            {
                "id": n,
                "image_id": n,
                "category_id": listed[n % 4],
                "bbox": [n, 30, 40, 40],
            }
            | {"area": 1600, "iscrowd": 0}
            for n in range(1, 61)
        ],
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    files = ["--ground-truth", str(tmp_path / "truth.json")]
    for sent, mean_ap, told in (
        (listed, 1.0, []),
        ([1, 2, 3, 4], 0.75, ["positions", "Repaired"]),
    ):
        lines = [f"{n} {sent[n % 4]} {1 - n / 100} {n} 30 {n + 39} 69" for n in range(1, 61)]
        (tmp_path / "answers.csv").write_text("\n".join(lines))
        assert 0 == run(*files, "--detections", str(tmp_path / "answers.csv"), "--json")
        report = json.loads(capsys.readouterr().out)
        assert mean_ap == report["mean_ap"]
        assert len(told) == len(report["warnings"])
        assert all(word in text for word, text in zip(told, report["warnings"], strict=True))


def test_classic_mistakes_are_told_as_in_a_rehearsal(tmp_path, capsys):
    """Class ids that are one too low, in COCO results, are named with the repaired mAP."""
    images = [{"id": 10 * n, "file_name": "", "width": 99, "height": 99} for n in range(1, 21)]
    boxes = [(10 * n, 1 + n % 3, [n, 5, 20, 20]) for n in range(1, 21)]
    truth = {
        "images": images,
        "categories": [{"id": n, "name": f"c{n}"} for n in (1, 2, 3)],
        "annotations": [
            {"id": k, "image_id": i, "category_id": c, "bbox": b, "area": 400, "iscrowd": 0}
            for k, (i, c, b) in enumerate(boxes, 1)
        ],
    }
    answers = [
        {"image_id": i, "category_id": c - 1, "bbox": b, "score": 0.9 - k / 100}
        for k, (i, c, b) in enumerate(boxes)
    ]
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    files = ["--ground-truth", str(tmp_path / "truth.json")]
    assert 0 == run(*files, "--detections", str(tmp_path / "answers.json"), "--json")
    first, second = json.loads(capsys.readouterr().out)["warnings"]
    assert first.startswith("The class ids are one too low.")
    assert "Repaired, the mAP is 1.0000, not 0.0000." == second


@pytest.mark.parametrize("metric", ["ilsvrc", "coco"])
def test_truth_boxes_that_nobody_finds_are_counted_in_a_warning(tmp_path, capsys, metric):
    """Both metrics say how many have no extent or lie outside, and the library's call does too."""
    annotation = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "area": 81}
    boxes = [[5, 5, 0, 9], [5, 5, 9, 0], [100, 5, 9, 9]]
    crowd = annotation | {"id": 9, "iscrowd": 1, "bbox": [5, 5, 0, 0]}
    truth = {
        "images": [{"id": 1, "width": 100, "height": 50}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            annotation,
            *(annotation | {"id": k, "bbox": box} for k, box in enumerate(boxes, 2)),
            crowd,
        ],
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "answers.txt").write_text("1 1 0.9 1 1 9 9\n")
    files = ["--ground-truth", tmp_path / "truth.json", "--detections", tmp_path / "answers.txt"]
    assert 0 == run(*files, "--metric", metric, "--json")
    out, err = capsys.readouterr()
    words = "3 truth boxes can be found by nobody, and count as missed: 2 without width or height,"
    assert 1 == len(json.loads(out)["warnings"])
    assert words in err
    for load in (load_ground_truth, load_coco_truth):
        with pytest.warns(UserWarning, match=words):
            load(tmp_path / "truth.json")


LABEL = "0 0.5 0.5 0.2 0.4"


@pytest.fixture
def labels(tmp_path):
    """Write YOLO labels of two images, and a detector's folder for one of them."""
    folder, _ = write_labels(tmp_path / "set", {"a": LABEL, "b": f"{LABEL}\n{LABEL}"})
    write_text(tmp_path / "found/a.txt", f"{LABEL} 0.9\n")
    write_text(tmp_path / "found/z.txt", f"{LABEL} 0.8\n")
    return folder, tmp_path / "found"


@pytest.mark.parametrize("metric", ["ilsvrc", "coco"])
def test_labels_say_what_came_and_what_was_taken(labels, capsys, metric):
    """Labels and a folder of detections are scored, counted in JSON, and told in sentences."""
    truth, found = labels
    options = ["--ground-truth", truth, "--detections", found, "--metric", metric, "--json"]
    assert 0 == run(*options)
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (2, 2, 2, 1) == tuple(
        report["labels"][name] for name in ("images", "labelled", "boxes", "duplicates")
    )
    assert (2, ["z.txt"]) == tuple(report["detection_files"][name] for name in ("files", "strange"))
    assert 1 == report["ignored"]["unknown_image"]
    assert 0.5 == pytest.approx(report["mean_ap"], abs=0.01)
    assert "class index k is class k+1" in err
    assert "warning: 1 row of the labels repeats another one" in err
    assert "warning: 1 of 2 files of detections belong to no image" in err


def test_a_rival_may_be_a_folder(labels, capsys):
    """Two folders of detections are compared."""
    truth, found = labels
    options = ["--ground-truth", truth, "--detections", found, "--resamples", "100"]
    assert 0 == run(*options, "--rival-detections", found, "--json")
    assert 0 == json.loads(capsys.readouterr().out)["rival"]["difference"]


def test_labels_that_are_wrong_are_one_sentence(labels, capsys):
    """Wrong labels exit with 2, and each fault has its file and line."""
    truth, found = labels
    write_text(truth / "a.txt", "0 320 240 10 10\ncat 0.1 0.1 0.1 0.1\n")
    assert 2 == run("--ground-truth", truth, "--detections", found)
    err = capsys.readouterr().err
    assert f"referee score: {truth}/a.txt, line 1, column 2: 320 is above 1" in err
    assert f"{truth}/a.txt, line 2, class: 'cat' is not a class index" in err


def test_xml_with_a_folder_of_images_takes_labels_as_detections(labels, tmp_path, capsys):
    """A ground truth that names its images but not their sizes has them from the folder."""
    _, found = labels
    box = "<xmin>80</xmin><ymin>30</ymin><xmax>119</xmax><ymax>69</ymax>"
    write_text(
        tmp_path / "xml/a.xml",
        f"<annotation><filename>a.png</filename><object><name>cat</name><bndbox>{box}</bndbox>"
        "</object></annotation>",
    )
    write_text(tmp_path / "xml/classes.txt", "cat\ndog\n")
    options = ["--ground-truth", tmp_path / "xml", "--detections", found, "--json"]
    assert 2 == run(*options)
    assert "give the folder of the images too" in capsys.readouterr().err
    assert 0 == run(*options, "--images", tmp_path / "set/images")
    assert 1.0 == json.loads(capsys.readouterr().out)["mean_ap"]


def test_cocos_metric_says_what_it_does_not_know(tmp_path, capsys):
    """Difficult objects count like others under COCO's metric: a warning says so."""
    box = "<xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax>"
    write_text(
        tmp_path / "xml/1.xml",
        f"<annotation><object><name>cat</name><difficult>1</difficult><bndbox>{box}</bndbox>"
        "</object></annotation>",
    )
    write_text(tmp_path / "found.txt", "1 8 0.9 1 1 9 9\n")
    options = ["--ground-truth", tmp_path / "xml", "--detections", tmp_path / "found.txt"]
    assert 0 == run(*options, "--metric", "coco", "--json")
    assert "no difficult objects" in json.loads(capsys.readouterr().out)["warnings"][0]
