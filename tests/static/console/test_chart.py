# SPDX-License-Identifier: Apache-2.0
"""The time that the console's chart of power shows: from 0:00 to the end."""

from __future__ import annotations

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("state", "ran_s", "end_s"),
    [
        (None, None, 600),
        ("READY", None, 600),
        ("RUNNING", 10, 600),
        ("RUNNING", 599, 600),
        ("ENDED", 600, 600),
        ("SCORED", 21.5, 21.5),
        ("SCORED", 0, 1),
        ("VOID", None, 600),
    ],
)
def test_the_chart_ends_where_the_session_does(
    scripts: Scripts, state: str | None, ran_s: float | None, end_s: float
) -> None:
    """While it runs that is its planned end, so the curve grows and its axis stands still."""
    session = state and {"state": state, "ran_s": ran_s}
    assert end_s == scripts.call("console/chart.js", "endOf", session, 600)


def test_a_curve_never_runs_backwards(scripts: Scripts) -> None:
    """Each point lies to the right of the one before; readings after the end are not drawn."""
    body = """
    const { Chart } = m;
    document.body.innerHTML = '<svg id="chart" width="600" height="120"></svg>'
      + '<p id="chart-text"></p>';
    const chart = new Chart((part) => part);
    chart.samples = a[0];
    chart.draw({ state: "SCORED", ran_s: 20 }, 600, 3);
    const line = document.querySelector(".power").getAttribute("d");
    return [...line.matchAll(/[ML](\\S+) /g)].map(([, x]) => Number(x));
    """
    samples = [[n, n / 10, 5.0] for n in range(250)]
    found = scripts.run("console/chart.js", body, samples)
    assert 201 == len(found)
    assert found == sorted(found)
    assert found[-1] - found[0] > 400


def test_readings_are_fetched_once_a_second_until_the_session_is_over(fresh: Scripts) -> None:
    """Each time only what is new; a state that is new needs one more fetch."""
    body = """
    const { pass } = world();
    document.body.innerHTML = '<svg id="chart"></svg><p id="chart-text"></p>';
    const asked = [];
    globalThis.fetch = async (url) => {
      asked.push(url);
      return { ok: true, json: async () => ({ samples: [[asked.length, asked.length, 5]] }) };
    };
    const chart = new m.Chart((part) => part);
    const news = (state) => chart.follow(state && { id: 3, state, ran_s: null }, 600, 3);
    await pass(5_000);
    await news(null);
    for (const ms of [0, 0, 999, 1]) {
      await pass(ms);
      await news("RUNNING");
    }
    for (const ms of [1000, 1000, 1000]) {
      await pass(ms);
      await news("SCORED");
    }
    return asked;
    """
    after = [f"sessions/3/power?after={number}" for number in range(3)]
    assert after == fresh.run("console/chart.js", body)


def test_one_fetch_goes_on_at_a_time_and_readings_stand_by_their_time(fresh: Scripts) -> None:
    """A slow desk is not asked again, and a reading that comes late has its place in the line."""
    body = """
    const { pass } = world();
    document.body.innerHTML = '<svg id="chart"></svg><p id="chart-text"></p>';
    const answers = [];
    globalThis.fetch = () => new Promise((answer) => { answers.push(answer); });
    const chart = new m.Chart((part) => part);
    const news = () => chart.follow({ id: 3, state: "RUNNING", ran_s: null }, 600, 3);
    const [first] = [news()];
    await pass(5_000);
    await news();
    const asked = answers.length;
    answers[0]({ ok: true, json: async () => ({ samples: [[1, 9, 5], [3, 4, 90], [2, 3, 5]] }) });
    await first;
    return [asked, chart.samples.map(([, second]) => second), chart.newestId];
    """
    assert [1, [3, 4, 9], 3] == fresh.run("console/chart.js", body)
