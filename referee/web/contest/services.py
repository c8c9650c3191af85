# SPDX-License-Identifier: Apache-2.0
"""The services that the contestants' routes use."""

from __future__ import annotations

from dataclasses import dataclass

from referee.core.blocking import BlockingRunner
from referee.service.entry.admission import Admission
from referee.service.entry.answers import Answers
from referee.service.entry.request_log import RequestLog
from referee.service.setup.contest import Contest


@dataclass(frozen=True)
class ContestServices:
    """The use cases of the entry; long answers are parsed through `run_parsing`."""

    contest: Contest
    admission: Admission
    answers: Answers
    log: RequestLog
    run_parsing: BlockingRunner
