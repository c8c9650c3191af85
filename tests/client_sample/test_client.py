# SPDX-License-Identifier: Apache-2.0
"""The sample client takes part in a session of a real HTTP server."""

from __future__ import annotations

import ast
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from client_sample import client

SOURCE = Path(client.__file__)


def run(referee, *arguments):
    """Run the client against the small referee as its team."""
    return client.main(["--url", referee.url, "--user", "me", "--password", "secret", *arguments])


@pytest.fixture(autouse=True)
def detector(monkeypatch):
    """Give the client a detector that sees nothing, in place of a contestant's."""
    monkeypatch.setattr(client, "detect", lambda image_id, jpeg_bytes: [])


def test_a_client_that_could_post_nothing_does_not_log_in(referee, capsys, monkeypatch):
    """With neither a detector nor answers the client says so and does not log in."""
    monkeypatch.setattr(client, "detect", None)
    assert 2 == run(referee)
    assert "There is nothing to post. Give --detector" in capsys.readouterr().err
    assert [] == referee.requests


@pytest.mark.parametrize("option", ["--images", "--ids"])
def test_an_option_that_would_be_ignored_is_wrong_use(referee, tmp_path, capsys, option):
    """--images and --ids describe stored answers, so without answers they are refused."""
    assert 2 == run(referee, option, str(tmp_path))
    assert "--images and --ids go with --answers" in capsys.readouterr().err
    assert [] == referee.requests


def test_the_clients_of_the_project_come_without_a_detector():
    """`detect` is empty until a contestant writes it."""
    assert "\ndetect: Optional[Detector] = None\n" in SOURCE.read_text()


def test_a_session_goes_from_login_to_logout_over_one_connection(referee, answers_file):
    """A session runs in order over one kept connection, and posts nothing for empty images."""
    assert 0 == run(referee, "--answers", answers_file)
    assert 1 == referee.connections
    image, result = "/image", "/result"
    session = [image, result, image, result, image, image, image, result]
    assert ["/login", "/no_of_images", *session, "/logout"] == referee.paths


def test_coco_boxes_arrive_as_inclusive_corners_with_every_digit(referee, answers_file):
    """The corners are x, y, x+w-1, y+h-1 and each float64 survives the wire exactly."""
    assert 0 == run(referee, "--answers", answers_file)
    assert [
        (1, 7, 0.875, 10, 20, 39, 59),
        (2, 8, 1 / 3, 0.1, 0.2, 0.1 + 0.3 - 1, 0.2 + 1.1 - 1),
        (2, 9, 1e-05, -3, -4, 1, 1),
        (5, 7, 1, 1, 1, 1, 1),
    ] == referee.posted


@pytest.mark.parametrize("separator", [" ", ",", ", ", "\t"])
def test_lines_of_lpirc_are_replayed_as_they_are(referee, tmp_path, separator):
    """Lines of seven numbers, with blanks or commas, arrive unchanged, inverted boxes too."""
    rows = [(1, 3, 3e-06, -1.5, 2, 3331.5, 4), (4, 200, 0.999991, 9, 9, 3, 3)]
    path = tmp_path / "golden.csv"
    path.write_text("\n".join(separator.join(map(str, row)) for row in rows) + "\n\n")
    assert 0 == run(referee, "--answers", str(path))
    assert rows == referee.posted


def test_the_plain_host_and_port_is_an_address(referee):
    """`127.0.0.1:8000` works like `http://127.0.0.1:8000`."""
    referee.url = referee.url.replace("http://", "")
    assert 0 == run(referee)


def test_a_zip_brings_a_hundred_images_at_once(referee, answers_file):
    """With --zip 205 images take three requests, and the same boxes are posted."""
    referee.count = 205
    assert 0 == run(referee, "--answers", answers_file, "--zip")
    asked = [asked.image_name for asked in referee.requests if asked.path == "/zipimages"]
    assert [1, 101, 201] == asked
    assert 4 == len(referee.posted)


def test_a_detector_sees_every_image_once(referee, tmp_path, monkeypatch):
    """--detector names a function of number and bytes; the client posts its result."""
    (tmp_path / "my_detector.py").write_text(
        "def see(image_id, jpeg_bytes):\n"
        "    yield 4, 0.5, image_id, len(jpeg_bytes), 1e300, float('inf')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert 0 == run(referee, "--detector", "my_detector:see")
    assert [(k, 4, 0.5, k, 6, 1e300, float("inf")) for k in range(1, 6)] == referee.posted


DETECTORS = """
import numpy as np

LIMIT = 3
ROW = (1, 0.5, 1, 1, 2, 2)

def none(number, image): return None
def five(number, image): return [ROW, ROW[:5]]
def seven(number, image): return [(*ROW, 7)]
def number(number, image): return 7
def word(number, image): return [("person", *ROW[1:])]
def half(number, image): return [(1.5, *ROW[1:])]
def nan(number, image): return [(1, float("nan"), 1, 1, 2, 2)]
def endless_class(number, image): return [(float("inf"), *ROW[1:])]
def flat(number, image): return np.array(ROW)
def deep(number, image): return np.zeros((1, 2, 6))
def no_array(number, image): return np.float32(1)
def mapping(number, image): return {"boxes": [], "scores": []}
def text(number, image): return "1 0.5 1 1 2 2"
def raises(number, image): raise KeyError("boxes")
def leaves(number, image): raise SystemExit(0)

def breaks_off(number, image):
    yield ROW
    raise RuntimeError("out of\\nmemory")

class Network:
    def __init__(self, path, threads): pass
    def __call__(self, number, image): return None

network = Network("", 1)

def array(number, image): return np.array([ROW])
def nothing(number, image): return np.zeros((0, 6))
def numbers_of_numpy(number, image): return [np.array(ROW, dtype=np.float32)]
def one(image): return []
"""


@pytest.fixture
def detectors(tmp_path, monkeypatch):
    """Go to a folder with a module of detectors, and one that cannot be imported."""
    pytest.importorskip("numpy")
    (tmp_path / "mydet.py").write_text(DETECTORS)
    (tmp_path / "needing.py").write_text("import no_such_library\n")
    (tmp_path / "broken.py").write_text("def see(:\n")
    (tmp_path / "leaving.py").write_text("raise SystemExit('bye')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield
    for name in ("mydet", "needing", "broken", "leaving"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("none", "'NoneType' object is not iterable"),
        ("five", "not six numbers"),
        ("five", "Row 2 was (1, 0.5, 1, 1, 2)."),
        ("seven", "not six numbers"),
        ("number", "'int' object is not iterable"),
        ("word", "'person'"),
        ("half", "the first is a whole one"),
        ("nan", "nan"),
        ("endless_class", "inf"),
        ("flat", "is not iterable"),
        ("deep", "Row 1 was array("),
        ("no_array", "not iterable"),
        ("mapping", "Row 1 was 'boxes'"),
        ("text", "Row 1 was '1'"),
        ("raises", "KeyError: 'boxes' ("),
        ("raises", "mydet.py, line "),
        ("leaves", "SystemExit: 0"),
        ("breaks_off", "RuntimeError: out of memory ("),
    ],
)
def test_a_detector_that_returns_no_rows_is_named_in_a_sentence(
    referee, detectors, capsys, name, why
):
    """The client ends with 1 and one sentence, and the session goes on without a logout."""
    assert 1 == run(referee, "--detector", f"mydet:{name}")
    lines = capsys.readouterr().err.splitlines()
    assert 1 == len(lines)
    assert f"The detector mydet:{name} failed at image 1: " in lines[0]
    assert why in lines[0]
    assert "The session goes on" in lines[0]
    assert "/logout" not in referee.paths


def test_an_object_that_is_called_is_named_by_its_class(referee, detectors, capsys):
    """A detector need not be a function."""
    assert 1 == run(referee, "--detector", "mydet:network")
    assert "The detector mydet:Network failed at image 1: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["array", "nothing", "numbers_of_numpy"])
def test_rows_of_numpy_are_rows(referee, detectors, name):
    """An array of six columns, one without rows, and rows that are arrays are posted."""
    assert 0 == run(referee, "--detector", f"mydet:{name}")
    assert (0 if name == "nothing" else 5) == len(referee.posted)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mydet", "it names no function"),
        ("mydet:", "it names no function"),
        ("no_such_module", "it names no function"),
        (":none", "it names no function"),
        ("no_such_module:f", "No module named 'no_such_module'"),
        ("mydet.py:none", "No module named 'mydet.py'"),
        ("./mydet:none", "relative import"),
        ("json:no_such_function", "no attribute 'no_such_function'"),
        ("mydet:LIMIT", "3 is not a callable object"),
        ("mydet:one", "too many positional arguments"),
        ("needing:see", "No module named 'no_such_library' ("),
        ("broken:see", "SyntaxError: "),
        ("leaving:see", "SystemExit: bye"),
    ],
)
def test_a_detector_that_cannot_be_used_is_wrong_use(referee, detectors, capsys, name, why):
    """The client ends with 2 and one sentence before any request."""
    assert 2 == run(referee, "--detector", name)
    lines = capsys.readouterr().err.splitlines()
    assert 1 == len(lines)
    assert f"Cannot use --detector {name}: " in lines[0]
    assert why in lines[0]
    assert "Give MODULE:FUNCTION" in lines[0]
    assert [] == referee.requests


def test_a_name_of_another_encoding_is_sent_as_it_was_typed(referee, capsys):
    """Bytes that are no UTF-8 go to the referee, which says what is wrong with them."""
    assert 1 == run(referee, "--user", "caf\udce9")
    assert b"username=caf%E9" in referee.requests[0].body


def test_an_address_that_has_no_form_is_told(capsys):
    """A host name with an empty label ends in a sentence."""
    words = ["--user", "me", "--password", "x", "--detector", "builtins:dict"]
    assert 1 == client.main(["--url", "http://a..b:80", *words])
    assert "No answer from a..b:80: " in capsys.readouterr().err


def test_corruption_adds_five_to_the_wrong_share_of_classes(referee, tmp_path):
    """--accuracy keeps about that share of classes, and the same seed keeps the same ones."""
    rows = [f"{1 + k % 5} 10 0.5 1 1 2 2" for k in range(1000)]
    path = tmp_path / "rows.txt"
    path.write_text("\n".join(rows))
    for seed in ("1", "1", "2"):
        assert 0 == run(referee, "--answers", str(path), "--accuracy", "0.7", "--seed", seed)
    classes = [int(row[1]) for row in referee.posted]
    first, again, other = classes[:1000], classes[1000:2000], classes[2000:]
    assert {10, 15} == set(classes)
    assert 650 <= first.count(10) <= 750
    assert first == again
    assert first != other


def test_an_accuracy_of_one_changes_nothing_and_zero_everything(referee, answers_file):
    """An accuracy of 1 changes no class, and an accuracy of 0 changes every class."""
    run(referee, "--answers", answers_file, "--accuracy", "1")
    run(referee, "--answers", answers_file, "--accuracy", "0")
    assert [7, 8, 9, 7, 12, 13, 14, 12] == [int(row[1]) for row in referee.posted]


def test_the_kth_id_is_image_k_when_the_answers_name_as_many_as_there_are(referee, tmp_path):
    """If the answers name N ids other than 1 to N, the k-th id in ascending order is image k."""
    path = tmp_path / "answers.txt"
    path.write_text("".join(f"{own} 1 0.5 {own} 0 1 1\n" for own in (900, 30, 4, 77, 500)))
    assert 0 == run(referee, "--answers", str(path))
    assert [(1, 4), (2, 30), (3, 77), (4, 500), (5, 900)] == [(r[0], r[3]) for r in referee.posted]


@pytest.mark.parametrize("form", ["coco", "lines"])
def test_ids_tell_which_image_each_id_is(referee, tmp_path, form):
    """With --ids the k-th id in ascending order is image k; answers to other ids are not posted."""
    ids, answers = tmp_path / "ids", tmp_path / "answers.txt"
    own_ids = [70, 3, 20, 1, 900]
    coco = json.dumps({"images": [{"id": own_id} for own_id in own_ids]})
    ids.write_text(coco if form == "coco" else "\n".join(map(str, own_ids)))
    answers.write_text("3 1 0.5 3 0 1 1\n900 1 0.5 900 0 1 1\n55 1 0.5 55 0 1 1\n")
    assert 0 == run(referee, "--answers", str(answers), "--ids", str(ids))
    assert [(2, 3), (5, 900)] == [(row[0], row[3]) for row in referee.posted]


def write_images(referee, folder, names):
    """Write the referee's images 1, 2, 3 ... under these names."""
    folder.mkdir()
    for image_id, name in enumerate(names, 1):
        (folder / name).write_bytes(referee.image(image_id))
    return str(folder)


def test_stored_answers_are_told_to_belong_to_one_order(referee, answers_file, capsys):
    """A replay says why stored answers score about 0 in a shuffled event."""
    assert 0 == run(referee, "--answers", answers_file)
    said = capsys.readouterr().err
    assert "an order of its own: there such answers score about 0" in said
    assert "--images DIR" in said


@pytest.mark.parametrize("own_ids", [(1, 2, 3, 4, 5), (139, 285, 632, 724, 776)])
def test_answers_find_their_images_in_any_order(referee, tmp_path, capsys, own_ids):
    """With --images the client knows each image by its bytes, and posts that image's answers."""
    shuffled = [own_ids[k] for k in (3, 0, 4, 1, 2)]
    images = write_images(referee, tmp_path / "images", [f"{k:012}.jpg" for k in shuffled])
    answers = tmp_path / "answers.txt"
    answers.write_text("".join(f"{own_id} 1 0.5 {own_id} 0 1 1\n" for own_id in own_ids))
    assert 0 == run(referee, "--answers", str(answers), "--images", images)
    assert list(enumerate(shuffled, 1)) == [(row[0], row[3]) for row in referee.posted]
    assert "score about 0" not in capsys.readouterr().err


def test_answers_by_contest_number_find_images_with_other_names(referee, tmp_path):
    """Answers numbered 1 to N belong to the k-th file in ascending order."""
    names = ["724.jpg", "139.jpg", "776.jpg", "285.jpg", "632.jpg"]
    images = write_images(referee, tmp_path / "images", names)
    answers = tmp_path / "answers.txt"
    answers.write_text("".join(f"{k} 1 0.5 {k} 0 1 1\n" for k in range(1, 6)))
    assert 0 == run(referee, "--answers", str(answers), "--images", images)
    assert [(1, 4), (2, 1), (3, 5), (4, 2), (5, 3)] == [(r[0], r[3]) for r in referee.posted]


def test_an_image_that_is_not_in_the_folder_is_told_once(referee, tmp_path, answers_file, capsys):
    """An image that is not in the folder has no answers, and the client says so once."""
    images = write_images(referee, tmp_path / "images", ["1.jpg"])
    (tmp_path / "images" / "2.jpg").write_bytes(b"another image")
    (tmp_path / "images" / "5.jpg").write_bytes(b"a third image")
    ids = tmp_path / "ids"
    ids.write_text("1 2 3 4 5")
    assert 0 == run(referee, "--answers", answers_file, "--images", images, "--ids", str(ids))
    assert 1 == capsys.readouterr().err.count("is not in the folder of --images")
    assert [1] == [row[0] for row in referee.posted]


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_numbered_images_is_an_error(
    referee, tmp_path, answers_file, capsys, name
):
    """A wrong --images is reported before the login."""
    (tmp_path / "empty").mkdir()
    assert 1 == run(referee, "--answers", answers_file, "--images", str(tmp_path / name))
    assert f"Cannot use --images {tmp_path / name}: " in capsys.readouterr().err
    assert [] == referee.requests


def test_ids_that_cannot_be_told_are_an_error_that_names_the_option(referee, tmp_path, capsys):
    """If the answers name fewer ids than there are images, the client asks for --ids."""
    path = tmp_path / "answers.txt"
    path.write_text("900 1 0.5 0 0 1 1\n")
    assert 1 == run(referee, "--answers", str(path))
    assert "--ids FILE" in capsys.readouterr().err
    assert "/result" not in referee.paths


def test_a_connection_that_the_server_closed_is_opened_again(referee, answers_file):
    """A server that hangs up after each answer costs connections but no request."""
    referee.hang_up = True
    assert 0 == run(referee, "--answers", answers_file)
    assert 4 == len(referee.posted)
    assert 11 == len(referee.requests) == referee.connections


def test_running_out_of_time_is_a_normal_end(referee, answers_file, capsys):
    """A token refused during the session ends it in one line with exit code 0."""
    referee.refuse_after = 4
    assert 0 == run(referee, "--answers", answers_file)
    assert "time has run out" in capsys.readouterr().err
    assert "/logout" not in referee.paths


def test_no_logout_leaves_the_session_running(referee):
    """With --no-logout the last request is for the last image."""
    assert 0 == run(referee, "--no-logout")
    assert "/image" == referee.paths[-1]


def test_the_client_stops_by_itself_after_its_seconds(referee):
    """--seconds 0 stops after the first image and still logs out."""
    assert 0 == run(referee, "--seconds", "0")
    assert ["/login", "/no_of_images", "/image", "/logout"] == referee.paths


def test_progress_and_a_summary_are_told_on_stderr(referee, answers_file, capsys, monkeypatch):
    """A line every two seconds and a last one tell images, boxes and the rate."""
    seconds = iter(range(0, 100, 2))
    monkeypatch.setattr(client.time, "monotonic", lambda: float(next(seconds)))
    assert 0 == run(referee, "--answers", answers_file)
    output = capsys.readouterr()
    assert "" == output.out
    assert "client: 2 of 5 images, 0.5 images/s\n" in output.err
    assert output.err.endswith("client: 5 of 5 images, 4 boxes, 10.0 s, 0.5 images/s\n")


@pytest.mark.parametrize(
    ("arguments", "replies", "sentence"),
    [
        (["--password", "wrong"], {}, "Invalid username or password"),
        (["--answers", "no_such_file.json"], {}, "No such file or directory"),
        (["--url", "ftp://127.0.0.1:1"], {}, "is not an address"),
        (["--url", "http://127.0.0.1:port"], {}, "is not an address"),
        (["--url", "http://127.0.0.1:99999"], {}, "is not an address"),
        (["--zip"], {"/zipimages": (200, b"no zip")}, "not a zip file"),
        ([], {"/login": (200, b"<!doctype html><p>Console")}, "not the contestants' port"),
        ([], {"/login": (403, b"<!doctype html><p>Console")}, "not the contestants' port"),
        ([], {"/login": (404, b"This is\nthe console.\n")}, "404: This is the console."),
        ([], {"/login": (500, b"Powermeter not connected\n")}, "Powermeter not connected"),
        ([], {"/no_of_images": (401, b"Invalid User")}, "Invalid User"),
        ([], {"/no_of_images": (200, b"<html>")}, "no number of images"),
        ([], {"/image": (500, b"Image not found\n")}, "Image not found"),
    ],
)
def test_every_error_is_one_sentence_and_exit_code_one(
    referee, capsys, arguments, replies, sentence
):
    """The client reports each error in one line and does not log out."""
    referee.replies = replies
    assert 1 == run(referee, *arguments)
    lines = capsys.readouterr().err.splitlines()
    assert 1 == len(lines)
    assert sentence in lines[0]
    assert "/logout" not in referee.paths


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[1, 2", "Expecting"),
        ('{"images": []}', "entry 1 is not a detection"),
        ('[{"image_id": 1, "category_id": 1, "score": 1}]', "entry 1 is not a detection"),
        ('[{"image_id": 1, "category_id": 1, "bbox": [1, 2], "score": 1}]', "entry 1"),
        ("1 1 0.5 1 1 2 2\n1 1 0.5 1 1 2\n", "entry 2 is not a detection"),
        ("1 1 0.5 1 1 2 2\n1 1 0.5 1 1 2 z\n", "entry 2 is not a detection"),
    ],
)
def test_a_file_of_answers_that_does_not_parse_is_named_with_its_entry(
    referee, tmp_path, capsys, text, sentence
):
    """A malformed file of answers is refused before login, with the entry named."""
    path = tmp_path / "broken.txt"
    path.write_text(text)
    assert 1 == run(referee, "--answers", str(path))
    output = capsys.readouterr().err
    assert "broken.txt" in output
    assert sentence in output
    assert [] == referee.requests


def test_a_refused_connection_is_told_with_its_address(capsys):
    """When nobody listens the client names the address and the reason."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        url = f"127.0.0.1:{port}"
        assert 1 == client.main(["--url", url, "--user", "me", "--password", "secret"])
    assert f"No answer from {url}" in capsys.readouterr().err


def test_a_server_that_never_answers_is_given_up(capsys):
    """A request without an answer in time ends the client."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"127.0.0.1:{silent.getsockname()[1]}"
        arguments = ["--url", url, "--user", "me", "--password", "secret", "--timeout", "0.05"]
        assert 1 == client.main(arguments)
    assert "timed out" in capsys.readouterr().err


def test_an_interrupt_says_that_the_session_goes_on(referee, capsys, monkeypatch):
    """Ctrl-C ends the client without a logout, in one line that says so."""

    def interrupt(image_id, jpeg_bytes):
        raise KeyboardInterrupt

    monkeypatch.setattr(client, "detect", interrupt)
    assert 1 == run(referee)
    assert "goes on until its deadline" in capsys.readouterr().err
    assert "/logout" not in referee.paths


def test_the_file_keeps_its_promises():
    """The client is short, reads as Python 3.8 and imports the standard library alone."""
    text = SOURCE.read_text()
    tree = ast.parse(text, feature_version=(3, 8))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names
    assert len(text.splitlines()) <= 430


@pytest.mark.parametrize("command", [["client.py"], ["-m", "client_sample.client"]])
def test_it_runs_as_a_script_and_as_a_module(referee, command, answers_file):
    """The client plays a session as a script and as a module."""
    folder = SOURCE.parent if command == ["client.py"] else SOURCE.parent.parent
    arguments = ["--url", referee.url, "--user", "me", "--password", "secret"]
    command = [sys.executable, *command, *arguments, "--answers", answers_file]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
    assert 0 == done.returncode, done.stderr
    assert "/logout" == referee.paths[-1]


def test_a_refusal_is_told_with_what_to_do(referee, capsys):
    """The sentence of the header goes before the text that old clients know."""
    referee.detail = "This is a rehearsal: the password is 'practice'."
    assert 1 == run(referee, "--password", "wrong")
    told = capsys.readouterr().err
    assert (
        "refused /login with status 401: This is a rehearsal: the password is 'practice'." in told
    )
