# SPDX-License-Identifier: Apache-2.0
"""The metrics for Prometheus, as pure functions of the board, the stored requests and the machine.

Names and units follow Prometheus' conventions (https://prometheus.io/docs/practices/naming/), as
promtool checks them: base units in the name, seconds and joules, `_total` for counts that only
grow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from referee.core.states import SessionState
from referee.service.board.shown import SessionCard, ShownBoard
from referee.service.observation.processes import ProcessFacts
from referee.store.requests import BUCKETS_S, RequestTotals

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus' text format."""

JOULES_PER_WH = 3600.0

# Metric, help, the field of the board's card that has its value, and base units in one of its own.
_OF_SESSION = (
    ("session_remaining_seconds", "Time that the session still has.", "remaining_s", 1.0),
    ("session_images_fetched", "Images that the team has fetched.", "images_fetched", 1.0),
    ("session_answers", "Answers that came in time.", "answers", 1.0),
    ("session_late_answers", "Answers that came after the end.", "late_answers", 1.0),
    ("session_detections", "Detections in the answers that came in time.", "detections", 1.0),
    ("session_energy_joules", "Energy so far, or the judged energy.", "energy_wh", JOULES_PER_WH),
    ("session_score", "mAP per watt-hour so far, or the final score.", "score", 1.0),
)
_OF_REQUESTS = (
    ("contest_images_sent", "Images sent or shown to teams.", "images"),
    ("contest_received_bytes", "Bytes of the bodies of requests.", "received_bytes"),
    ("contest_sent_bytes", "Bytes of the bodies of answers.", "sent_bytes"),
)


class _Once(Collector):
    """A collector of metrics that are made already."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def text_of(metrics: Iterable[Metric]) -> bytes:
    """Return metrics in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once(metrics))
    return generate_latest(registry)


def lane_metrics(board: ShownBoard) -> Iterator[Metric]:
    """Yield what the board says of each lane's session and meter.

    A value that is not known has no sample: a 0 would be a value.
    """
    for name, text, field, base in _OF_SESSION:
        metric = GaugeMetricFamily(f"referee_{name}", text, labels=("lane", "session", "team"))
        for lane in board.lanes:
            card = lane.current
            if card is not None and getattr(card, field) is not None:
                metric.add_metric(
                    _session_of(lane.number, card), base * float(getattr(card, field))
                )
        yield metric
    yield _states(board)
    yield from _meters(board)
    alarms = GaugeMetricFamily("referee_alarms", "Alarms on the console's red bar.")
    alarms.add_metric((), len(board.alarms))
    yield alarms


def _states(board: ShownBoard) -> Metric:
    labels = ("lane", "session", "team", "state")
    metric = GaugeMetricFamily("referee_session_state", "1 for the session's state.", labels=labels)
    for lane in board.lanes:
        card = lane.current
        if card is not None:
            for state in SessionState:
                labels_now = (*_session_of(lane.number, card), state.value)
                metric.add_metric(labels_now, float(card.state == state.value))
    return metric


def _meters(board: ShownBoard) -> Iterator[Metric]:
    link = GaugeMetricFamily("referee_meter_up", "1 while the meter answers.", labels=("lane",))
    power = GaugeMetricFamily(
        "referee_power_watts", "Power of the newest reading.", labels=["lane"]
    )
    age = GaugeMetricFamily(
        "referee_meter_reading_age_seconds", "Age of the newest reading.", labels=("lane",)
    )
    for lane in board.lanes:
        meter, labels = lane.meter, (str(lane.number),)
        if meter.link == "none":  # Sessions without energy have no meter that could be down.
            continue
        link.add_metric(labels, float(meter.link == "ok" and not meter.old))
        reading = meter.reading
        if reading is None:
            continue
        age.add_metric(labels, float(reading["age_s"]))
        if reading["power_w"] is not None:
            power.add_metric(labels, float(reading["power_w"]))
    yield from (link, power, age)


def request_metrics(totals: Sequence[RequestTotals]) -> Iterator[Metric]:
    """Yield the counts of the requests that belong to sessions, and how long they took."""
    labels = ("lane", "status")
    for name, text, field in _OF_REQUESTS:
        counter = CounterMetricFamily(f"referee_{name}", text, labels=labels)
        for counts in totals:
            counter.add_metric((str(counts.lane), str(counts.status)), getattr(counts, field))
        yield counter
    durations = HistogramMetricFamily(
        "referee_contest_request_duration_seconds",
        "From the last byte of a request to the end of its answer.",
        labels=labels,
    )
    for counts in totals:
        bounds = [(str(bound), n) for bound, n in zip(BUCKETS_S, counts.within, strict=True)]
        buckets = [*bounds, ("+Inf", counts.requests)]
        durations.add_metric((str(counts.lane), str(counts.status)), buckets, counts.duration_s)
    yield durations


def machine_metrics(free_bytes: int, processes: Sequence[ProcessFacts]) -> Iterator[Metric]:
    """Yield the room on the contest's disk, and what each of the referee's processes takes."""
    free = GaugeMetricFamily("referee_disk_free_bytes", "Free bytes on the disk of the records.")
    free.add_metric((), free_bytes)
    yield free
    labels = ("program", "pid")
    memory = GaugeMetricFamily("referee_process_memory_bytes", "Resident memory.", labels=labels)
    cpu = CounterMetricFamily("referee_process_cpu_seconds", "Processor time.", labels=labels)
    threads = GaugeMetricFamily("referee_process_threads", "Threads.", labels=labels)
    files = GaugeMetricFamily("referee_process_open_files", "Open files.", labels=labels)
    for process in processes:
        of = (process.program, str(process.pid))
        memory.add_metric(of, process.memory_bytes)
        cpu.add_metric(of, process.cpu_s)
        threads.add_metric(of, process.threads)
        files.add_metric(of, process.open_files)
    yield from (memory, cpu, threads, files)


def _session_of(number: int, card: SessionCard) -> tuple[str, str, str]:
    return str(number), str(card.id), card.team
