# SPDX-License-Identifier: Apache-2.0
"""The AIoTBench runner measures workloads, cools down between them, and goes on where it was."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from PIL import Image

from client_sample import aiotbench
from client_sample.aiotbench_log import HEADER, DataSetPicture, Log
from client_sample.aiotbench_procedure import (
    BenchError,
    ProgressLine,
    WorkloadClock,
    run_all,
    run_workload,
)
from referee.extras.aiotbench.classification_log import read_logs
from referee.extras.aiotbench.device_configuration import read_configuration
from referee.extras.aiotbench.networks import ModelFacts
from referee.extras.aiotbench.rules import DRAFT_1_1
from tests.support.tiny_classifier import tflite_model

ROOT = Path(__file__).parents[2]


class FakeTime:
    """A time that stands still, apart from waits and from what a test adds."""

    def __init__(self) -> None:
        self.now_s = 1_700_000_000.0
        self.waits: list[float] = []
        self.clock = WorkloadClock(lambda: self.now_s, lambda: self.now_s, self.wait)

    def wait(self, seconds: float) -> None:
        """Let the time go on."""
        assert seconds > 0
        self.waits.append(seconds)
        self.now_s += seconds


class DatedLog(Log):
    """A log whose last row has the fake time as its date."""

    def __init__(self, path: Path, time: FakeTime) -> None:
        self.time = time
        super().__init__(path)

    def append(self, workload, picture, predicted, seconds):
        """Write a row and date the file."""
        super().append(workload, picture, predicted, seconds)
        os.utime(self.path, (self.time.now_s, self.time.now_s))


@pytest.fixture
def time() -> FakeTime:
    """Return a fake time."""
    return FakeTime()


def pictures(count: int) -> list[DataSetPicture]:
    """Return pictures that are not on the disk; the label of each is its number."""
    return [DataSetPicture(str(n), Path(f"{n}.jpg"), n) for n in range(1, count + 1)]


def loader(time: FakeTime, seconds: float, seen: list[str]):
    """Return the loader of a classifier that names every picture right after some seconds."""

    def classify(path: Path) -> int:
        seen.append(path.name)
        time.now_s += seconds
        return int(path.stem)

    return lambda: classify


def rows(path: Path) -> list[list[str]]:
    """Return the cells of a log's rows."""
    header, *lines = path.read_text().splitlines()
    assert HEADER == header
    return [line.split(",") for line in lines]


def test_only_the_classifier_is_measured(time, tmp_path):
    """A row has the time of one call, and not that of the log before it."""

    class SlowLog(Log):
        def append(self, workload, picture, predicted, seconds):
            time.now_s += 1000
            super().append(workload, picture, predicted, seconds)

    log = SlowLog(tmp_path / "log.csv")
    classify = loader(time, 0.125, [])()
    run_workload("mo_tfc", classify, pictures(3), log, time.clock, ProgressLine(time.clock))
    log.close()
    assert ["0.125000000"] * 3 == [row[4] for row in rows(log.path)]


def test_workloads_cool_down_between_each_other(time, tmp_path):
    """There is a pause before each workload but the first, in steps of at most a second."""
    log = DatedLog(tmp_path / "log.csv", time)
    loaders = {name: loader(time, 0.5, []) for name in ("mo_tfc", "sq_tfc", "re_tfc")}
    assert 0 == run_all(loaders, pictures(2), log, time.clock, 300.0, one=False)
    log.close()
    assert (600.0, 1.0) == (sum(time.waits), max(time.waits))
    assert ["mo_tfc", "mo_tfc", "sq_tfc", "sq_tfc", "re_tfc", "re_tfc"] == [
        row[1] for row in rows(log.path)
    ]


@pytest.mark.parametrize(("off_s", "pause_s"), [(0, 300), (100, 200), (500, 0), (-9999, 300)])
def test_a_shut_down_counts_as_a_pause(off_s, pause_s, time, tmp_path):
    """After a restart the rest of the pause is waited; a lost time of day makes it whole."""
    path = tmp_path / "log.csv"
    first = DatedLog(path, time)
    seen: list[str] = []
    loaders = {name: loader(time, 0.5, seen) for name in ("mo_tfc", "sq_tfc")}
    assert 1 == run_all(loaders, pictures(2), first, time.clock, 300.0, one=True)
    first.close()
    os.utime(path, (time.now_s, time.now_s))
    assert [] == time.waits
    time.now_s += off_s
    second = DatedLog(path, time)
    assert 0 == run_all(loaders, pictures(2), second, time.clock, 300.0, one=True)
    second.close()
    assert pause_s == sum(time.waits)
    assert ["1.jpg", "2.jpg"] * 2 == seen


def test_an_interrupted_workload_goes_on_with_the_next_picture(time, tmp_path):
    """What the log holds is not classified again, and no row stands twice."""
    path = tmp_path / "log.csv"
    seen: list[str] = []
    good = loader(time, 0.5, seen)()

    def interrupted(picture: Path) -> int:
        if picture.name == "3.jpg":
            raise KeyboardInterrupt
        return good(picture)

    log = DatedLog(path, time)
    with pytest.raises(KeyboardInterrupt):
        run_all({"mo_tfc": lambda: interrupted}, pictures(5), log, time.clock, 0.0, one=False)
    log.close()
    again = DatedLog(path, time)
    run_all({"mo_tfc": lambda: good}, pictures(5), again, time.clock, 0.0, one=False)
    again.close()
    assert ["1", "2", "3", "4", "5"] == [row[0] for row in rows(path)]
    assert 5 == len(seen)


def test_a_picture_that_cannot_be_read_stops_the_run(time, tmp_path):
    """The error names the picture; it does not become a wrong answer."""

    def classify(path: Path) -> int:
        raise OSError("cannot identify image file")

    log = Log(tmp_path / "log.csv")
    with pytest.raises(BenchError, match=r"1\.jpg is no picture that can be read"):
        run_workload("mo_tfc", classify, pictures(1), log, time.clock, ProgressLine(time.clock))
    log.close()


def test_a_model_that_fails_stops_the_run(time, tmp_path):
    """The error has the last line of what the library says, with workload and picture."""

    def classify(path: Path) -> int:
        raise RuntimeError("in the model\n  line 7\nexpected 1 channel\n")

    log = Log(tmp_path / "log.csv")
    with pytest.raises(BenchError, match=r"^mo_py cannot classify 1\.jpg: expected 1 channel$"):
        run_workload("mo_py", classify, pictures(1), log, time.clock, ProgressLine(time.clock))
    log.close()


def test_progress_shows_the_time_left(time, tmp_path, capsys):
    """Progress has the images, the right ones, the mean time and the time left."""
    log = Log(tmp_path / "log.csv")
    classify = loader(time, 20.0, [])()
    run_workload("mo_tfc", classify, pictures(4), log, time.clock, ProgressLine(time.clock))
    log.close()
    shown = capsys.readouterr().err.splitlines()
    # Away from a terminal a line comes every 30 s, so the second image has none.
    assert [
        "mo_tfc: 1 images, 1 right, 20000.000 ms an image, 0:01:00 left",
        "mo_tfc: 3 images, 3 right, 20000.000 ms an image, 0:00:20 left",
    ] == shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with a tiny model, three pictures and their labels; the last label is wrong."""
    (tmp_path / "tiny.tflite").write_bytes(tflite_model())
    for name, colour in (("a1", (200, 0, 0)), ("a2", (0, 200, 0)), ("a3", (0, 0, 200))):
        Image.new("RGB", (20, 10), colour).save(tmp_path / f"{name}.png")
    (tmp_path / "labels.csv").write_text("file,label\na1.png,1\na2.png,2\na3.png,9\n")
    return tmp_path


def run(folder: Path, *more: str, workloads: tuple[str, ...] = ("mo_tfc",)) -> int:
    """Run the command line on the folder."""
    named = [f"{name}={folder / 'tiny.tflite'}" for name in workloads]
    places = ["--images", folder, "--labels", folder / "labels.csv", "--log", folder / "log.csv"]
    return aiotbench.main([*named, *map(str, places), *more])


def test_a_run_ends_in_a_log_that_the_referee_scores(folder, capsys):
    """A real model's log and configuration are what the referee reads."""
    assert 0 == run(folder, "--cool", "0", workloads=("mo_tfc", "sq_tfc"))
    assert "referee aiotbench score" in capsys.readouterr().out
    found = read_logs([folder / "log.csv"], DRAFT_1_1.official_ids(), "")
    assert {"mo_tfc": (3, 2), "sq_tfc": (3, 2)} == {
        name: (tally.images, tally.right) for name, tally in found.items()
    }
    configuration = read_configuration(folder / "log.toml", DRAFT_1_1)
    assert {"device", "processor", "cores"} <= configuration.parts["hardware"].keys()
    # The tiny model has a picture of 8x8, and no layer with weights.
    assert ModelFacts(8, 8, 0, 0) == configuration.models["sq_tfc"].network
    assert "1" == tomllib.loads((folder / "log.toml").read_text())["software"]["threads"]


def test_a_finished_run_has_nothing_to_do(folder, capsys):
    """The same command again skips the workload and leaves the log as it is."""
    assert 0 == run(folder)
    before = (folder / "log.csv").read_bytes()
    assert 0 == run(folder)
    assert before == (folder / "log.csv").read_bytes()
    assert "the log holds it, so it is skipped" in capsys.readouterr().err


def test_a_network_that_cannot_be_told_stops_nothing(folder, capsys, monkeypatch):
    """The run goes on, the person is told, and the configuration has the file alone."""
    monkeypatch.setitem(sys.modules, "ai_edge_litert.schema_py_generated", None)
    assert 0 == run(folder)
    assert "tiny.tflite cannot be told" in capsys.readouterr().err
    model = read_configuration(folder / "log.toml", DRAFT_1_1).models["mo_tfc"]
    assert ("tiny.tflite", None) == (model.file, model.network)


def test_an_edited_configuration_is_kept(folder, capsys):
    """A second run leaves the file that a person completed, and names what is different now."""
    run(folder, "--limit", "1")
    path = folder / "log.toml"
    edited = path.read_text() + 'cooling = "a fan"\n'
    path.write_text(edited)
    capsys.readouterr()
    run(folder, "--cool", "0", "--threads", "2")
    assert edited == path.read_text()
    said = [line for line in capsys.readouterr().err.splitlines() if "stays as it is" in line]
    assert ['This run has threads = "2"', 'This run has cooling_s = "0.0"'] == [
        line.partition("stays as it is. ")[2] for line in said
    ]


def test_a_trial_takes_the_first_pictures(folder):
    """--limit cuts the list, and a later run without it adds the rest."""
    run(folder, "--limit", "2")
    assert ["1", "2"] == [row[0] for row in rows(folder / "log.csv")]
    run(folder, "--cool", "0")
    assert ["1", "2", "3"] == [row[0] for row in rows(folder / "log.csv")]


def test_a_file_that_is_no_model_is_found_before_the_run(folder, capsys):
    """A broken second model stops the run before the first workload, and no log is made."""
    (folder / "bad.tflite").write_bytes(b"no model")
    places = [str(folder), "--labels", str(folder / "labels.csv"), "--log", str(folder / "l.csv")]
    named = [f"mo_tfc={folder / 'tiny.tflite'}", f"sq_tfc={folder / 'bad.tflite'}"]
    assert 1 == aiotbench.main([*named, "--images", *places])
    assert "bad.tflite cannot be used for sq_tfc" in capsys.readouterr().err
    assert not (folder / "l.csv").exists()


def test_a_missing_library_is_named(folder, capsys, monkeypatch):
    """Without PyTorch the error says what to install."""
    monkeypatch.setitem(sys.modules, "torch", None)
    assert 1 == run(folder, workloads=("mo_py",))
    assert "mo_py needs PyTorch: pip install torch" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("workload", "sentence"),
    [
        ("mo_ca", "mo_ca cannot run here: Caffe2 is no longer made"),
        ("mo_tfn", "mo_tfn cannot run here: NNAPI exists on Android alone"),
        ("xx_tfc", "is not MODEL_IMPLEMENTATION=FILE"),
        ("mo", "is not MODEL_IMPLEMENTATION=FILE"),
    ],
)
def test_workloads_that_cannot_run_here_are_refused(workload, sentence, folder, capsys):
    """The error says why a workload cannot run, or how one is written."""
    with pytest.raises(SystemExit) as end:
        run(folder, workloads=(workload,))
    assert 2 == end.value.code
    assert sentence in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("option", [("--cool", "-1"), ("--threads", "0"), ("--limit", "0")])
def test_numbers_out_of_range_are_refused(option, folder):
    """A negative pause, no thread and no picture are wrong use."""
    with pytest.raises(SystemExit) as end:
        run(folder, *option)
    assert 2 == end.value.code


def test_a_workload_stands_once(folder, capsys):
    """Naming a workload twice is an error."""
    assert 1 == run(folder, workloads=("mo_tfc", "mo_tfc"))
    assert "named twice" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_run_is_finished_by_the_same_command(folder):
    """A run that is killed while it measures leaves a log that the next run completes."""
    lines = ["file,label"]
    for number in range(1, 301):
        Image.new("RGB", (200, 200), (0, 200, 0)).save(folder / f"b{number}.png")
        lines.append(f"b{number}.png,2")
    (folder / "labels.csv").write_text("\n".join(lines))
    command = [sys.executable, "-m", "client_sample.aiotbench", f"mo_tfc={folder}/tiny.tflite"]
    command += ["--images", folder, "--labels", folder / "labels.csv", "--log", folder / "log.csv"]
    running = subprocess.Popen(
        [*map(str, command), "--cool", "0"], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    try:
        # The runner writes a row before it shows that there is one.
        assert any("1 images" in line for line in running.stderr)
    finally:
        running.kill()
        running.communicate(timeout=180)
    with (folder / "log.csv").open("a") as log:
        log.write("300,mo_t")  # what a power cut may leave
    assert 0 == run(folder, "--cool", "0")
    assert [str(number) for number in range(1, 301)] == [row[0] for row in rows(folder / "log.csv")]
    found = read_logs([folder / "log.csv"], DRAFT_1_1.official_ids(), "")
    assert (300, 300) == (found["mo_tfc"].images, found["mo_tfc"].right)


@pytest.mark.slow
def test_the_real_classifier_is_right_81_times_of_100(shared_data, tmp_path):
    """EfficientNet-Lite0 names 81 of 100 ImageNet photographs right, the whole picture resized."""
    data = shared_data / "imagenet-val-100"
    model = shared_data / "models/efficientnet_lite0.tflite"
    places = ["--images", data / "images", "--labels", data / "labels.csv"]
    log = tmp_path / "log.csv"
    assert 0 == aiotbench.main([f"mo_tfc={model}", *map(str, places), "--log", str(log)])
    tally = read_logs([log], DRAFT_1_1.official_ids(), "")["mo_tfc"]
    assert (100, 81) == (tally.images, tally.right)


def test_hardware_and_software_are_described(tmp_path):
    """The tables have the machine, the system, the libraries, the settings and the models."""
    pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
    model = tmp_path / "m.tflite"
    model.write_bytes(b"a model")
    found = tomllib.loads(aiotbench.describe({"mo_tfc": model}, {"threads": 2}))
    assert {"hardware", "software", "models"} == found.keys()
    assert {"device", "processor", "cores", "memory"} == found["hardware"].keys()
    assert all(found["hardware"].values())
    software = found["software"]
    assert "2" == software["threads"]
    assert {"system", "python", "numpy", "ai-edge-litert"} <= software.keys()
    digest = hashlib.sha256(b"a model").hexdigest()
    assert {"file": "m.tflite", "sha256": digest} == found["models"]["mo_tfc"]


def test_a_board_names_itself(tmp_path, monkeypatch):
    """A device tree ends its texts with NUL, and a processor's list gives the first one's name."""
    texts = {aiotbench._DEVICE[0]: "Raspberry Pi 4\0", "/proc/cpuinfo": "Hardware\t: BCM2835\n"}
    for number, (path, text) in enumerate(texts.items()):
        (tmp_path / str(number)).write_text(text)
        texts[path] = str(tmp_path / str(number))
    read = aiotbench._text
    monkeypatch.setattr(aiotbench, "_text", lambda path: read(texts.get(path, "/none")))
    found = tomllib.loads(aiotbench.describe({}, {}))["hardware"]
    assert ("Raspberry Pi 4", "BCM2835") == (found["device"], found["processor"])


def test_odd_names_stay_toml(tmp_path):
    """Quotes, DEL, line ends and emoji in a name do not break the file."""
    name = 'a "model"\x7f\n\\ 🦉.tflite'
    (tmp_path / name).touch()
    found = tomllib.loads(aiotbench.describe({"mo_tfc": tmp_path / name}, {}))
    assert name == found["models"]["mo_tfc"]["file"]
