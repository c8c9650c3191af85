# SPDX-License-Identifier: Apache-2.0
"""A real Dask cluster on loopback, with TLS: it gives the bytes that processes give."""

from __future__ import annotations

import json
import logging
import socket
import threading

import numpy as np
import pytest

from referee import cli
from referee.errors import InputError, Unavailable
from referee.extras.season.workers.cluster import Cluster, ClusterTls
from tests.support.dask_cluster import dask_cluster
from tests.support.fakes import eventually
from tests.support.season_bundles import members_of, shaken, small_truth, write, write_truth
from tests.support.season_work import kill_once, square

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def nothing_runs_on():
    """End the threads that Dask keeps: a process with other threads has no second process.

    Dask takes half a second to load, which workers without these tests need not spend.
    """
    pytest.importorskip("distributed", reason="needs the extra [season]")
    from distributed.client import Future
    from distributed.utils import LoopRunner

    before = set(threading.enumerate())
    yield
    if Future._cb_executor is not None:
        Future._cb_executor.shutdown()
        Future._cb_executor = None
    for _, runner in list(LoopRunner._all_loops.values()):
        runner.stop()  # The loop of a client that found no scheduler.
    eventually(lambda: not set(threading.enumerate()) - before)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Run a scheduler and two workers."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as running:
        yield running


def executor(cluster, **settings):
    """Return the executor of a running cluster."""
    files = ClusterTls(cluster.certificate, cluster.certificate, cluster.key)
    return Cluster(cluster.address, files, **settings)


def test_a_cluster_gives_the_bytes_of_processes(cluster, tmp_path, capsys):
    """Two workers of a cluster and one process write the same file, a broken bundle included."""
    truth = small_truth()
    write_truth(tmp_path / "truth.csv", truth)
    (tmp_path / "hall").mkdir()
    for seed in range(3):
        detections = shaken(truth, np.random.default_rng(seed), 200)
        write(tmp_path / f"hall/{seed}.zip", members_of(truth, detections, session=seed))
    (tmp_path / "hall/broken.zip").write_bytes(b"PK")
    asked = ["rescore", str(tmp_path / "hall"), "--ground-truth", str(tmp_path / "truth.csv")]
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert 1 == cli.main([*asked, "--jobs", "1", "--out", str(one)])
    assert 1 == cli.main([*asked, *cluster.options, "--out", str(two), "--json"])
    assert one.read_bytes() == two.read_bytes()
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (4, 4, 0, 3, 3) == tuple(
        told[name] for name in ("bundles", "rows", "kept", "own_rules", "reproduced")
    )
    assert ["hall/broken.zip"] == [it["file"] for it in told["broken"]]


def test_the_task_of_a_killed_worker_goes_on_elsewhere(cluster, tmp_path):
    """One worker is killed, the other takes its task; without any the wait has an end."""
    found = list(executor(cluster).outcomes(kill_once, [str(tmp_path / "a")]))
    assert [(str(tmp_path / "a"), "a")] == found
    for worker in cluster.workers:
        worker.kill()
    with pytest.raises(Unavailable, match="has had no worker for 0.5 s. What is done is kept"):
        list(executor(cluster, no_worker_s=0.5).outcomes(square, [1]))


def test_a_scheduler_that_is_lost_is_one_sentence(tmp_path, capfd):
    """Nothing of Dask's own tracebacks stands before the sentence that says what to do."""
    before = logging.getLogger("distributed.client").level
    with dask_cluster(tmp_path, workers=1) as lost:
        outcomes = executor(lost, connect_s=180.0).outcomes(square, range(2000))
        next(outcomes)
        capfd.readouterr()
        lost.scheduler.kill()
        with pytest.raises(Unavailable, match="is gone. What is done is kept"):
            list(outcomes)
    assert ("", "") == capfd.readouterr()
    assert before == logging.getLogger("distributed.client").level


def test_a_cluster_that_does_not_answer_is_said_so():
    """An address where nobody listens is wrong use, with the address in the sentence."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        nobody = Cluster(address, connect_s=0.5)
        with pytest.raises(InputError, match=f"no cluster answers at {address}: "):
            list(nobody.outcomes(square, [1]))
