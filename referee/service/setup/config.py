# SPDX-License-Identifier: Apache-2.0
"""The configuration of a contest: one frozen dataclass for each section of `contest.toml`.

Those of meters and lanes are in `lane_config`.

Each setting's `help` is its documentation: `referee init` writes it above the key. A test checks
that `docs/settings.md` names each key.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee.core.host_port import bracketed
from referee.core.proxies import TrustedProxies, trusted_proxies
from referee.service.setup.config_values import setting
from referee.service.setup.lane_config import LaneSection, MeterSection, lane_suffix
from referee.service.setup.real_path import real_path

LENGTH_MOST_S = 86400
"""The longest session in seconds, extra time included."""


@dataclass(frozen=True)
class ContestSection:
    """What is played."""

    name: str = setting("What the pages call the contest.", "LPIRC")
    mode: str = setting(
        "event: the teams of teams.csv, and an operator arms each session. practice: any user name "
        "with the password 'practice', and every login starts a session.",
        "event",
        choices=("event", "practice"),
    )
    track: str = setting(
        "The rules: network, camera, or the dotted name of a Python module with other rules "
        "(docs/tracks.md).",
        "network",
    )
    seconds: int = setting(
        'Length of a session in whole seconds, or as "10m"; the rules say ten minutes.',
        600,
        duration=True,
        least=1,
        most=LENGTH_MOST_S,
    )
    prize_sigma: str = setting(
        "The standard deviation of the extra prizes: sample (divide by n - 1) or population (by "
        "n). The rules of 2015-16 leave it open.",
        "sample",
        choices=("sample", "population"),
    )
    shuffle: bool = setting(
        "Hand out the images of each session in a secret order of its own.", True
    )
    second_address: str = setting(
        "What becomes of the requests of a running session that come from another address than the "
        "login that began it: flag (served, with an alarm) or refuse. A rehearsal only flags.",
        "flag",
        choices=("flag", "refuse"),
    )

    @property
    def refuses_second_address(self) -> bool:
        """Tell whether a session serves only the address that began it."""
        return self.second_address == "refuse" and self.mode == "event"


@dataclass(frozen=True)
class ImagesSection:
    """What is shown, and what is in it."""

    folder: Path = setting("Folder of the images.")
    ground_truth: Path = setting(
        "COCO instances JSON, a folder of ILSVRC or PASCAL VOC XML or of YOLO labels, or CSV "
        "image_id,class_id,xmin,ymin,xmax,ymax."
    )
    sizes: Path | None = setting(
        "For CSV ground truth: CSV image_id,width,height of all images.", None
    )
    blacklist: Path | None = setting(
        "CSV image_id,class_id of the pairs that the score leaves out.", None
    )
    classes: int | None = setting(
        "Number of classes, with the ids 1 to this, if the ground truth does not list them.",
        None,
        least=1,
    )


@dataclass(frozen=True)
class TlsFiles:
    """The files of a server that speaks TLS, in PEM."""

    certificate: Path = setting("The server's certificate, and behind it those of its issuers.")
    key: Path = setting("The private key of the certificate, which nobody else may read.")
    ca: Path | None = setting(
        "What the teams trust; left out for a CA that all systems know.", None
    )


@dataclass(frozen=True)
class ServerSection:
    """Where the servers listen."""

    contest: str = setting(
        "Address and port for the contestants; [::]:8000 is every address of IPv4 and IPv6.",
        "0.0.0.0:8000",
        form=bracketed,
    )
    console: str = setting(
        "Address and port of the operators' console.", "127.0.0.1:8001", form=bracketed
    )
    scoreboard: str | None = setting(
        "Address and port of the scoreboard for the audience, for example 0.0.0.0:8002; left out, "
        "there is none. Everybody who reaches it may look, without a login.",
        None,
        form=bracketed,
    )
    workers: int = setting("Processes that answer contestants.", 2, least=1, most=64)
    contest_tls: TlsFiles | None = setting(
        "TLS for the contestants: the server's certificate, its private key, and the CA that the "
        "teams trust, which is left out if all systems know it. 'referee certificate' makes all "
        "three. Left out, contestants use plain HTTP.",
        None,
        example='{ certificate = "contest_tls.pem", key = "data/contest_tls.key", '
        'ca = "contest_ca.pem" }',
    )
    trusted_proxies: tuple[str, ...] = setting(
        "Addresses or networks of the proxies that stand in front of the servers, such as "
        "127.0.0.1 or 10.0.0.0/24. Whom they name in X-Forwarded-For is the sender of a request; "
        "nobody else is believed (docs/proxies.md).",
        (),
        check=trusted_proxies,
    )

    @property
    def proxies(self) -> TrustedProxies:
        """Return the proxies that are believed when they say for whom they ask."""
        return trusted_proxies(self.trusted_proxies)

    @property
    def contest_scheme(self) -> str:
        """Return the scheme of the contestants' addresses."""
        return "http" if self.contest_tls is None else "https"


@dataclass(frozen=True)
class StorageSection:
    """Where the referee keeps what it records."""

    folder: Path = setting("Folder of the database, the logs and the secrets.", Path("data"))


@dataclass(frozen=True)
class LogSection:
    """What the logs in the storage folder look like."""

    format: str = setting(
        "text: lines for people. json: one JSON object a line, for programs that collect logs.",
        "text",
        choices=("text", "json"),
    )
    requests: bool = setting(
        "One line for each request to each server, refused ones too. The database has the requests "
        "of sessions in any case.",
        False,
    )


@dataclass(frozen=True)
class ScoreboardSection:
    """What the scoreboard shows beside the results (docs/console.md)."""

    publish_images: bool = setting(
        "When the results are final, show the mistakes of each team on its public page: small "
        "pictures of the event's images with the true boxes. Whoever sees them can train on them, "
        "so leave it false if you use the images again.",
        False,
    )


@dataclass(frozen=True)
class CameraSection:
    """How the screen shows images, in a track that shows them."""

    dwell_ms: int = setting(
        "How long a painted image stays on the screen before the next may replace it, in "
        "milliseconds: two frames of a slow camera.",
        250,
        least=0,
        most=60000,
    )
    paint_s: float = setting(
        "How long a request for an image may take until the screen has painted it, in seconds. "
        "Then the request fails.",
        5.0,
        duration=True,
        least=0.5,
        most=30,
    )


@dataclass(frozen=True)
class PracticeSection:
    """Rehearsals of this event, with other images (referee practice --config)."""

    images: Path | None = setting(
        "Folder of other images, with which the teams rehearse before their turn.", None
    )
    ground_truth: Path | None = setting("Their ground truth, as [images] ground_truth.", None)
    sizes: Path | None = setting("As [images] sizes.", None)
    blacklist: Path | None = setting("As [images] blacklist.", None)
    classes: int | None = setting("As [images] classes.", None, least=1)
    seconds: int | None = setting(
        'Length of a rehearsal in whole seconds, or as "10m"; left out, that of a session.',
        None,
        duration=True,
        least=1,
        most=86400,
    )
    event: Path | None = setting(
        "Leave it out. In the configuration that the referee writes for rehearsals it names the "
        "event's contest.toml, whose teams then log in with their own passwords.",
        None,
    )


@dataclass(frozen=True)
class Config:
    """A whole configuration; `path` is its file.

    `extras` has the sections of the guests by their names; one that is missing has its defaults.
    `declared_lanes` are the tables [[lane]]; a file without them has one lane.
    """

    path: Path
    contest: ContestSection
    images: ImagesSection
    server: ServerSection
    meter: MeterSection
    storage: StorageSection
    log: LogSection = LogSection()
    scoreboard: ScoreboardSection = ScoreboardSection()
    camera: CameraSection = CameraSection()
    practice: PracticeSection = PracticeSection()
    extras: Mapping[str, Any] = field(default_factory=dict)
    declared_lanes: tuple[LaneSection, ...] = ()

    @property
    def lanes(self) -> tuple[LaneSection, ...]:
        """Return the lanes, lane 1 first; a single lane has no name."""
        return self.declared_lanes or (LaneSection("", self.server.contest, self.meter),)

    def lane(self, number: int) -> LaneSection:
        """Return a lane by its number from 1.

        A lane that is no longer declared gets its number as its name, and the section [meter].
        """
        if number <= len(self.lanes):
            return self.lanes[number - 1]
        return LaneSection(str(number), self.server.contest, self.meter)

    @property
    def publishes_images(self) -> bool:
        """Tell whether final results bring pictures of the images to the pages of the teams."""
        return self.scoreboard.publish_images and self.server.scoreboard is not None

    @property
    def option(self) -> str:
        """Return the option that names this configuration to a command, as a shell takes it."""
        return f"--config {shlex.quote(str(self.path))}"

    @property
    def database(self) -> Path:
        """Return the path of the database."""
        return self.storage.folder / "referee.db"

    def wire_log_of(self, lane: int) -> Path:
        """Return the path of the log of all traffic with a lane's meter."""
        return self.storage.folder / f"meter{lane_suffix(lane)}.jsonl"

    @property
    def teams(self) -> Path:
        """Return the path of the teams and password hashes, in the event's folder."""
        return (self.practice.event or self.path).parent / "teams.csv"

    @property
    def admits_anybody(self) -> bool:
        """Tell whether any user name may log in: in a rehearsal that belongs to no event."""
        return self.contest.mode == "practice" and self.practice.event is None

    @property
    def rehearsals(self) -> Path:
        """Return the folder of the event's rehearsals; that of a rehearsal is its own."""
        if self.contest.mode == "practice":
            return self.storage.folder
        return self.storage.folder / "rehearsals"

    @property
    def event_database(self) -> Path | None:
        """Return the path of the event's database if this is one of its rehearsals, else None."""
        if self.practice.event is None:
            return None
        # The folder of the rehearsals stands in the event's, see `rehearsals`.
        return real_path(self.storage.folder).parent / self.database.name
