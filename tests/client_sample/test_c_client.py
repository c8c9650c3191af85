# SPDX-License-Identifier: Apache-2.0
"""The C client builds with its one command and takes part in a session."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from tests.support.programs import C_WITH_LIBCURL

pytestmark = pytest.mark.needs(C_WITH_LIBCURL)

SOURCE = Path(__file__).parents[2] / "client_sample/client.c"


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Path:
    """Build the client with a detector of its own that sees nothing."""
    return build(tmp_path_factory.mktemp("c") / "client", "-DDETECTS=1")


def build(built: Path, *options: str) -> Path:
    """Build the client with every warning on, and return its path."""
    strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    command = ["cc", *strict, *options, "-O2", "-o", str(built), str(SOURCE), "-lcurl"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert 0 == done.returncode, done.stderr
    return built


def run(program, *arguments):
    """Run the client and return its exit code and its output."""
    command = [str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert "" == done.stdout
    return done.returncode, done.stderr


@pytest.fixture
def answers(tmp_path) -> Path:
    """Write lines for the images 5, 1 and 2, with equal confidences and odd numbers."""
    path = tmp_path / "answers.csv"
    path.write_text(
        "5 7 1 1 1 1 1\n"
        "2, 8, 0.3333333333333333, 0.1, 0.2, -0.6, 0.30000000000000004\n"
        "\n"
        "2 9 0.3333333333333333 -3 -4 1e+20 3e-06\n"
        "1,7,0.875,10,20,39,59\n"
        "2 3 nan inf 0 0 0"
    )
    return path


def test_a_server_that_speaks_no_tls_is_told(program, referee):
    """https:// at a plain port is named, as by the other sample clients, and nothing is sent."""
    code, said = run(program, referee.url.replace("http://", "https://"), "me", "secret")
    assert (1, []) == (code, referee.requests)
    assert f"{referee.url[7:]} does not speak TLS. Use http:// in place of https://" in said


def test_a_session_goes_from_login_to_logout_over_one_connection(program, referee, answers):
    """Images come in order, each with its answer, and every digit survives."""
    code, said = run(program, referee.url, "me", "secret", str(answers))
    assert 0 == code, said
    image, result = "/image", "/result"
    session = [image, result, image, result, image, image, image, result]
    assert ["/login", "/no_of_images", *session, "/logout"] == referee.paths
    assert 1 == referee.connections
    assert [(1, 7, 0.875, 10, 20, 39, 59)] == referee.answers[0]
    assert [
        (2, 8, 1 / 3, 0.1, 0.2, -0.6, 0.1 + 0.2),
        (2, 9, 1 / 3, -3, -4, 1e20, 3e-06),
    ] == referee.answers[1][:2]
    assert "nan inf" == "{2} {3}".format(*referee.answers[1][2])
    assert [(5, 7, 1, 1, 1, 1, 1)] == referee.answers[2]
    assert "5 of 5 images, 5 boxes" in said


def test_a_detector_that_sees_nothing_posts_nothing(program, referee):
    """A session without boxes still goes from login to logout."""
    assert 0 == run(program, referee.url, "me", "secret")[0]
    assert "/result" not in referee.paths


def test_a_client_that_could_post_nothing_does_not_log_in(referee, tmp_path):
    """With neither a detector nor answers the client says so and does not log in."""
    code, said = run(build(tmp_path / "client"), referee.url, "me", "secret")
    assert 2 == code
    assert "there is nothing to post" in said
    assert [] == referee.requests


def test_stored_answers_are_told_to_belong_to_one_order(program, referee, answers):
    """A replay says why stored answers score about 0 in a shuffled event."""
    assert "another order" in run(program, referee.url, "me", "secret", str(answers))[1]


def test_a_connection_that_the_server_closed_is_opened_again(program, referee, answers):
    """A server that hangs up after each answer costs connections but no request."""
    referee.hang_up = True
    code, said = run(program, referee.url, "me", "secret", str(answers))
    assert 0 == code, said
    assert 5 == len(referee.posted)


def test_connections_that_die_again_and_again_cost_no_request(program, referee, answers):
    """libcurl gives up at the fifth dead connection of a session; the client does not."""
    referee.break_reused = True
    code, said = run(program, referee.url, "me", "secret", str(answers))
    assert 0 == code, said
    assert (5, 11) == (len(referee.posted), len(referee.requests))


@pytest.mark.parametrize("used", [3, 4, 9])
def test_running_out_of_time_is_a_normal_end(program, referee, answers, used):
    """A token refused at an image, an answer or the logout ends the session with exit code 0."""
    referee.refuse_after = used
    code, said = run(program, referee.url, "me", "secret", str(answers))
    assert (0, 1) == (code, said.count("time has run out"))


@pytest.mark.parametrize(
    ("arguments", "replies", "words"),
    [
        (["me", "wrong"], {}, "refused the login with status 401: Invalid username or password"),
        (["m&e", "sec=ret"], {}, "refused the login with status 401"),
        (["me", "secret", "missing.csv"], {}, "cannot read missing.csv: No such file"),
        (["me", "secret", str(SOURCE)], {}, "line 1: expected seven numbers"),
        (["me", "secret"], {"/login": (200, b"<!doctype html>")}, "not the contestants' port"),
        (["me", "secret"], {"/login": (403, b"<!doctype html>")}, "not the contestants' port"),
        (["me", "secret"], {"/no_of_images": (200, b"<html>")}, "no number of images but: <html>"),
        (["me", "secret"], {"/no_of_images": (401, b"Invalid User")}, "does not take the token"),
        (["me", "secret"], {"/image": (500, b"Image not found\n")}, "Image not found"),
    ],
)
def test_every_error_is_told_and_gives_exit_code_one(program, referee, arguments, replies, words):
    """The client reports each error, exits with 1 and does not log out."""
    referee.replies = replies
    code, said = run(program, referee.url, *arguments)
    assert 1 == code
    assert words in said
    assert "/logout" not in referee.paths


def test_a_refused_connection_is_told_with_its_address(program):
    """When nobody listens the client names the address and libcurl's reason."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        code, said = run(program, url, "me", "secret")
    assert 1 == code
    assert f"no answer from {url}" in said


def test_wrong_use_shows_the_right_one(program):
    """Too few words on the command line give the usage and exit code 2."""
    code, said = run(program, "http://127.0.0.1:1")
    assert 2 == code
    assert said.startswith("usage: client")


def test_a_ca_goes_with_tls_alone(program, referee):
    """Whoever gives a CA wants TLS, so nothing is sent in plain text."""
    code, said = run(program, "--ca-file", "ca.pem", referee.url, "me", "secret")
    assert (2, []) == (code, referee.requests)
    assert "--ca-file goes with an address that begins with https://" in said


def test_the_one_line_build_in_the_head_comment_is_right():
    """The command in the head comment builds the client."""
    assert "cc -O2 -o client client.c -lcurl" in SOURCE.read_text()
