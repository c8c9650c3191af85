# SPDX-License-Identifier: Apache-2.0
"""The pipelined client plays whole sessions, and ends well after any fault."""

from __future__ import annotations

import json
import sys
import threading

import pytest

from client_sample import client, pipelined
from client_sample.pipeline import Pipeline
from client_sample.session import ContestSession, LostConnection


def run(referee, *arguments):
    """Run the pipelined client against the small referee as its team."""
    team = ["--url", referee.url, "--user", "me", "--password", "secret", "--patience", "180"]
    return pipelined.main([*team, *arguments])


def pipeline(referee, detector, **options):
    """Log in and make a pipeline around one detector."""
    session = ContestSession(referee.url, patience_s=180)
    session.login("me", "secret")
    return Pipeline(session, [detector], **options)


@pytest.fixture(autouse=True)
def detector(monkeypatch):
    """Give the client a detector that sees nothing, in place of a contestant's."""
    monkeypatch.setattr(client, "detect", lambda image_id, jpeg_bytes: [])


def test_a_client_that_could_post_nothing_does_not_log_in(referee, capsys, monkeypatch):
    """With no detector, model or answers the client says so and does not log in."""
    monkeypatch.setattr(client, "detect", None)
    assert 2 == run(referee)
    assert "There is nothing to post. Give --detector" in capsys.readouterr().err
    assert [] == referee.requests


@pytest.fixture(autouse=True)
def no_thread_is_left_behind():
    """Check after each test that every stage has ended."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("client-"):
            thread.join(180)
            assert not thread.is_alive()


@pytest.mark.parametrize("options", [[], ["--zip"], ["--fetchers", "1"], ["--workers", "3"]])
@pytest.mark.parametrize("ahead", ["1", "200"])
def test_a_session_posts_every_box_once(referee, answers_file, options, ahead):
    """With any number of threads each box arrives exactly once, and the logout comes last."""
    assert 0 == run(referee, "--answers", answers_file, "--ahead", ahead, *options)
    assert [
        (1, 7, 0.875, 10, 20, 39, 59),
        (2, 8, 1 / 3, 0.1, 0.2, 0.1 + 0.3 - 1, 0.2 + 1.1 - 1),
        (2, 9, 1e-05, -3, -4, 1, 1),
        (5, 7, 1, 1, 1, 1, 1),
    ] == sorted(referee.posted)
    assert ("/login", "/logout") == (referee.paths[0], referee.paths[-1])


def test_every_image_is_fetched_once(referee):
    """Two connections fetch 205 images without a gap or a repeat."""
    referee.count = 205
    assert 0 == run(referee)
    asked = [a.image_name for a in referee.requests if a.path.startswith("/image")]
    assert list(range(1, 206)) == sorted(asked)


def test_archives_are_fetched_once(referee):
    """With --zip 205 images take three requests."""
    referee.count = 205
    assert 0 == run(referee, "--zip")
    asked = [a.image_name for a in referee.requests if a.path == "/zipimages"]
    assert [1, 101, 201] == sorted(asked)


def test_what_is_ready_shares_an_answer_up_to_the_bound(referee):
    """Boxes collect during a post, and the next post takes up to `batch` images."""
    referee.count = 9
    line = pipeline(referee, lambda image_id, _: [(image_id, 0.5, 1, 1, 2, 2)], batch=4)
    poster, *others = line.threads
    for thread in others:
        thread.start()
    for thread in others:
        thread.join()
    poster.start()
    assert line.wait(180)
    assert [4, 4, 1] == [len(answer) for answer in referee.answers]
    assert (9, 9, 3) == (line.seen, line.boxes, line.posts)


def test_fetching_runs_ahead_of_the_detector_but_not_further_than_asked(referee):
    """At most `ahead` images wait for a slow detector."""
    referee.count = 50
    waiting = []

    def watch(image_id: int, jpeg_bytes: bytes) -> list:
        waiting.append(len(line.images))
        return []

    line = pipeline(referee, watch, ahead=3)
    line.start()
    assert line.wait(180)
    assert 50 == line.seen
    assert max(waiting) <= 3


def test_broken_connections_lose_and_double_nothing(referee, answers_file, capsys):
    """Images, answers and logout survive connections that break at every step."""
    referee.break_at = [
        ("/image/1", "before"),
        ("/image/4", "after"),
        ("/result", "after"),
        ("/status", "before"),
        ("/result", "before"),
        ("/logout", "before"),
    ]
    assert 0 == run(referee, "--answers", answers_file, "--batch", "1")
    assert [1, 2, 2, 5] == sorted(row[0] for row in referee.posted)
    assert "connections broke" in capsys.readouterr().err


@pytest.mark.parametrize("used", [0, 1, 3, 6, 9])
def test_running_out_of_time_is_a_normal_end(referee, answers_file, capsys, used):
    """A token that expires at any point stops all stages with exit code 0."""
    referee.refuse_after = used  # Ten: 5 images, 1 status, 3 answers, logout.
    assert 0 == run(referee, "--answers", answers_file, "--batch", "1")
    assert 1 == capsys.readouterr().err.count("time has run out")


def test_what_fails_after_the_session_is_over_is_no_error(referee):
    """A stage that fails after the end of the session does not change the exit code."""
    referee.refuse_after = 1

    def fail_late(image_id: int, jpeg_bytes: bytes) -> list:
        assert session.stopped.wait(180)
        raise LostConnection("nobody is there any more")

    session = ContestSession(referee.url)
    session.login("me", "secret")
    line = Pipeline(session, [fail_late], fetchers=1)
    line.start()
    assert line.wait(180)
    assert (True, None) == (line.session_over, line.error)


def test_an_answer_that_came_late_ends_the_session(referee, answers_file, capsys):
    """A receipt that says late ends the session."""
    referee.receipt = {"late": True}
    assert 0 == run(referee, "--answers", answers_file)
    assert "time has run out" in capsys.readouterr().err
    assert "/logout" not in referee.paths


def test_boxes_that_can_never_match_are_counted_by_reason(referee, answers_file, capsys):
    """At the end the client counts the referee's flags by reason."""
    referee.receipt = {"flagged": [{"row": 0, "reason": "inverted box"}] * 2}
    assert 0 == run(referee, "--answers", answers_file, "--batch", "1")
    assert "6 boxes can never match: inverted box" in capsys.readouterr().err


def test_an_image_that_cannot_be_had_is_told_and_the_others_are_answered(referee, capsys):
    """A missing file costs its own image and the exit code, but not the session."""
    referee.replies = {"/image/2": (500, b"Image not found\n")}
    assert 1 == run(referee)
    output = capsys.readouterr().err
    assert "Image not found" in output
    assert "4 of 5 images" in output
    assert "/logout" == referee.paths[-1]


def test_an_answer_that_is_refused_is_told(referee, answers_file, capsys):
    """A refused post is not repeated, and changes the exit code."""
    referee.replies = {"/result": (413, b'{"detail": "Too large."}')}
    assert 1 == run(referee, "--answers", answers_file)
    assert "Too large." in capsys.readouterr().err
    assert "/logout" == referee.paths[-1]


def test_a_detector_that_fails_is_named_in_a_sentence(referee, tmp_path, monkeypatch, capsys):
    """The contestant reads the detector's own error and its line; earlier boxes are posted."""
    (tmp_path / "failing.py").write_text(
        "def see(image_id, jpeg_bytes):\n"
        "    if image_id == 3:\n"
        "        raise ZeroDivisionError('my own mistake')\n"
        "    return [(1, 0.5, 1, 1, 2, 2)]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert 1 == run(referee, "--detector", "failing:see", "--fetchers", "1")
    last = capsys.readouterr().err.splitlines()[-1]
    assert "The detector failing:see failed at image 3: ZeroDivisionError: my own mistake" in last
    assert "failing.py, line 3)" in last
    assert [1, 2] == [row[0] for row in referee.posted]
    assert "/logout" not in referee.paths


@pytest.mark.parametrize("body", ["return None", "return [(1, 0.5, 1, 1, 2)]", "raise SystemExit"])
def test_a_detector_without_rows_ends_the_client(referee, tmp_path, monkeypatch, capsys, body):
    """None, a row of five and an exit in a detector's thread end the client with 1, not with 0."""
    (tmp_path / "rowless.py").write_text(f"def see(image_id, jpeg_bytes):\n    {body}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert 1 == run(referee, "--detector", "rowless:see", "--workers", "2")
    assert "The detector rowless:see failed at image " in capsys.readouterr().err
    assert "/logout" not in referee.paths
    del sys.modules["rowless"]


def test_a_referee_that_is_gone_for_good_ends_the_client(referee, answers_file, capsys):
    """A referee that stays away beyond the patience ends the client with exit code 1."""
    referee.break_at = [("/image/1", "before"), ("/image/2", "before")] * 9
    assert 1 == run(referee, "--answers", answers_file, "--patience", "0")
    assert "No answer from 127.0.0.1" in capsys.readouterr().err


def test_the_client_stops_by_itself_after_its_seconds(referee, capsys):
    """--seconds stops fetching, posts the boxes so far and logs out."""
    referee.count = 100_000
    assert 0 == run(referee, "--seconds", "0.05")
    assert "/logout" == referee.paths[-1]
    assert "100000 of" not in capsys.readouterr().err


def test_no_logout_leaves_the_session_running(referee):
    """With --no-logout the session goes on."""
    assert 0 == run(referee, "--no-logout")
    assert "/logout" not in referee.paths


def test_an_interrupt_ends_all_stages(referee, monkeypatch, capsys):
    """Ctrl-C in the waiting thread stops all stages without a logout."""
    referee.count = 100_000

    def interrupt(self, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(Pipeline, "wait", interrupt)
    assert 1 == run(referee)
    assert "goes on until its deadline" in capsys.readouterr().err
    assert "/logout" not in referee.paths


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--password", "wrong"], "Invalid username or password"),
        (["--answers", "missing.json"], "No such file"),
        (["--model", "missing.tflite"], "Cannot use --model missing.tflite"),
    ],
)
def test_what_can_fail_fails_before_the_clock_starts(referee, capsys, arguments, words):
    """A missing file or module is an error before the login."""
    assert 1 == run(referee, *arguments)
    assert words in capsys.readouterr().err
    assert referee.paths in ([], ["/login"])


@pytest.mark.parametrize("name", ["no_such_module", "no_such_module:f"])
def test_a_detector_that_is_not_there_is_wrong_use(referee, capsys, name):
    """The client ends with 2 before the login."""
    assert 2 == run(referee, "--detector", name)
    assert f"Cannot use --detector {name}: " in capsys.readouterr().err
    assert [] == referee.paths


@pytest.mark.parametrize("option", ["--workers", "--fetchers", "--ahead", "--batch"])
def test_nothing_can_be_done_with_no_threads_or_room(referee, option, capsys):
    """Counts below one are wrong use."""
    with pytest.raises(SystemExit) as exit_:
        run(referee, option, "0")
    assert 2 == exit_.value.code
    assert "must be at least 1" in capsys.readouterr().err


def test_ids_number_the_images(referee, tmp_path):
    """--ids works as in the simple client."""
    ids, answers = tmp_path / "ids.json", tmp_path / "answers.txt"
    ids.write_text(json.dumps({"images": [{"id": own} for own in (70, 3, 20, 1, 900)]}))
    answers.write_text("3 1 0.5 3 0 1 1\n900 1 0.5 900 0 1 1\n")
    assert 0 == run(referee, "--answers", str(answers), "--ids", str(ids))
    assert [(2, 3), (5, 900)] == sorted((row[0], row[3]) for row in referee.posted)
