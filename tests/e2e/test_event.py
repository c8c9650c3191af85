# SPDX-License-Identifier: Apache-2.0
"""An event from `init` to the score; the operator uses the real page in a real browser."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.e2e.conftest import Material
from tests.support.browsing import chromium, press, wait_text
from tests.support.running import Program, client, program, referee, request

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    """Return one browser for all tests."""
    with chromium() as driver:
        yield driver


def register(event: Path, team: str) -> str:
    """Register a team and return its password."""
    done = referee("team", "add", team, "--config", str(event))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().removeprefix(f"{team}: ")


def log_in(running: Program, team: str, password: str) -> tuple[int, str]:
    """Try to log in and return status and text."""
    body = f"username={team}&password={password}".encode()
    status, text = request(f"{running.contest}/login", body, {})
    return status, text.decode()


def test_init_writes_secrets_that_only_the_owner_reads(tmp_path: Path) -> None:
    """`init` writes a commented configuration and private secrets, and overwrites neither."""
    folder = tmp_path / "event"
    assert referee("init", str(folder)).returncode == 0
    assert stat.S_IMODE((folder / "data" / "secrets.json").stat().st_mode) == 0o600
    assert "# Length of a session in whole seconds" in (folder / "contest.toml").read_text()
    again = referee("init", str(folder))
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_check_says_what_to_do(event: Path) -> None:
    """The checks of a fresh event warn that no team is registered, and name the command for it."""
    done = referee("check", "--config", str(event), "--json", "--quick")
    assert done.returncode == 0, done.stdout
    checks = {check["item"]: check for check in json.loads(done.stdout)["findings"]}
    assert checks["images and ground truth"]["level"] == "OK"
    assert checks["list"]["level"] == "WARN"
    assert "referee team add" in checks["list"]["remedy"]


def test_operator_runs_a_session_from_the_page(
    event: Path, material: Material, browser: webdriver.Chrome
) -> None:
    """New session, arm, login, deadline and score each show on the page without a reload."""
    password = register(event, "rocket")
    with program(["serve", "--config", str(event)], event.parent) as running:
        browser.get(running.console)
        wait_text(browser, "link", "ok")
        assert log_in(running, "rocket", password)[0] == 401
        press(browser, "create")
        wait_text(browser, "state", "READY")
        status, text = log_in(running, "rocket", password)
        assert (status, text.startswith("It is not your turn yet")) == (401, True)
        press(browser, "arm")
        wait_text(browser, "state", "ARMED")
        client(
            *(running.contest, "--answers", str(material.answers), "--no-logout"),
            user="rocket",
            password=password,
        )
        wait_text(browser, "state", "RUNNING")
        wait_text(browser, "images", "12 of 12")
        wait_text(browser, "state", "SCORED")
        wait_text(browser, "verdict", "VALID")
        assert float(browser.find_element(By.ID, "map").text) > 0.3
        status, text = log_in(running, "rocket", password)
        assert (status, text.startswith("Your session is over")) == (401, True)
        errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
        assert errors == []


def test_operator_stops_and_voids_only_after_asking(event: Path, browser: webdriver.Chrome) -> None:
    """Stop asks first; Void asks for a reason, and the list shows the reason."""
    password = register(event, "rocket")
    event.write_text(event.read_text().replace("seconds = 5", "seconds = 600"))
    with program(["serve", "--config", str(event)], event.parent) as running:
        browser.get(running.console)
        press(browser, "create")
        wait_text(browser, "state", "READY")
        press(browser, "arm")
        wait_text(browser, "state", "ARMED")
        assert log_in(running, "rocket", password)[0] == 200
        wait_text(browser, "state", "RUNNING")
        press(browser, "stop")
        press(browser, "confirm-no")
        assert running.board()["current"]["state"] == "RUNNING"
        press(browser, "stop")
        press(browser, "confirm-yes")
        wait_text(browser, "state", "SCORED")
        press(browser, "void")
        browser.find_element(By.ID, "reason").send_keys("wrong device")
        press(browser, "confirm-yes")
        wait_text(browser, "sessions", "VOID: wrong device")
        row = running.session()
        assert row is not None
        assert (row["end_cause"], row["void_reason"]) == ("stop", "wrong device")
