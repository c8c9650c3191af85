# SPDX-License-Identifier: Apache-2.0
"""The parsers that read what strangers write: each with its documented errors, and real inputs."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from client_sample.camera.reader import read as read_frame
from client_sample.camera.reading import Unread
from power import scpi
from power.emulator.errors import CommandRefused
from power.emulator.grammar import parse_unit, split_message
from power.emulator.rpc import Broken, parse_call
from power.errors import MeterError
from power.logs.audit import is_old_log, read_old_log
from power.logs.facts_file import load_course, load_facts
from power.logs.journal import RunJournal
from power.logs.power_log import COLUMNS, read_power_log
from power.wt310.recorded import read_conversation
from referee.errors import InputError, Refusal
from referee.extras.aiotbench.classification_log import read_logs
from referee.formats.answer_formats import JSON_LINES
from referee.formats.answers import FORM_FIELDS, MAX_ROWS, parse_csv, parse_form, parse_json
from referee.formats.coco_truth import read_coco_truth
from referee.formats.csv_truth import read_csv_truth
from referee.formats.detections_file import read_detections
from referee.formats.faults import FormatError
from referee.formats.forms import find_token, parse_multipart, parse_urlencoded
from referee.formats.image_numbers import parse_posted_image, requested_archive, requested_image
from referee.formats.team_table import parse_team_table
from referee.formats.xml_truth import read_xml_truth
from referee.service.entry.admission import session_of_token, token_of_session
from referee.service.evidence.bundle_file import NotABundle, read_members
from referee.service.evidence.verify import MEMBERS
from referee.service.setup.config_file import load_config
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.compose import compose
from referee.tracks.camera.geometry import Screen
from tests.bench.malformed_bodies import as_multipart

_HERE = Path(tempfile.mkdtemp(prefix="parsers-"))
_KEY = b"a key of thirty-two bytes length"
_FORM = b"token=1.x&image_name=1&CLASS_ID=58&confidence=0.9&xmin=10&ymin=20&xmax=110&ymax=2e2"
_RESULT = b'[{"image_id":1,"category_id":58,"bbox":[10,20,101,201.5],"score":0.9}]'
_LINES = b"1 58 0.9 10 20 110 220\n2,58,nan,-1,2e1,3,inf\n"
_TRUTH = (
    b'{"images":[{"id":1,"width":32,"height":24,"file_name":"1.jpg"}],"categories":[{"id":1,'
    b'"name":"cat"}],"annotations":[{"id":1,"image_id":1,"category_id":1,"bbox":[1,2,3,4],'
    b'"area":12,"iscrowd":0}]}'
)
_XML = (
    b"<annotation><filename>1.jpg</filename><size><width>32</width><height>24</height></size>"
    b"<object><name>n02084071</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>8</ymax>"
    b"</bndbox></object></annotation>"
)
_CONFIG = (
    b'[contest]\nseconds = 600\nshuffle = false\n[images]\nfolder = "images"\n'
    b'ground_truth = "truth.json"\n[meter]\nresource = "none"\n[server]\nworkers = 1\n'
)
_ROW = b"0.0,2026-06-07T12:00:00+00:00,230.1,0.02,4.6,0.001,0.5,START"
_WIRE = (
    b'{"event": "sent", "utc": "2026-06-07T12:00:00+00:00", "monotonic_s": 1.0, "text": "*IDN?"}\n'
    b'{"event": "received", "utc": "2026-06-07T12:00:00+00:00", "monotonic_s": 1.1, "text": "Y"}\n'
)
_CALL = b"".join(n.to_bytes(4, "big") for n in (9, 0, 2, 0x0607AF, 1, 10, 0, 0, 0, 0, 0))
_SIZE = (160, 120)


@dataclass(frozen=True)
class Target:
    """A parser of bytes; only `errors` may come out of it."""

    parse: Callable[[bytes], object]
    errors: tuple[type[Exception], ...]
    seeds: Sequence[bytes]


def _in_file(name: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """Return a parser of bytes that stand in a file when they are read."""
    path = _HERE / name
    path.parent.mkdir(exist_ok=True)

    def parse(content: bytes) -> object:
        path.write_bytes(content)
        return read(path)

    return parse


def _form(content: bytes) -> object:
    return parse_form(parse_urlencoded(content, FORM_FIELDS, MAX_ROWS))


def _multipart(content: bytes) -> object:
    return parse_form(parse_multipart(content, "x", FORM_FIELDS, MAX_ROWS))


def _tokens(content: bytes) -> object:
    text = find_token(content, multipart=content[:2] == b"--") or ""
    found = session_of_token(_KEY, content.decode("utf-8", "surrogateescape"))
    if found is not None and token_of_session(_KEY, *found) != content.decode():
        raise AssertionError("another text is this session's token")
    return session_of_token(_KEY, text)


def _ids(content: bytes) -> object:
    text = content.decode("utf-8", "replace")
    for read in (parse_posted_image, lambda it: requested_image(it, 9), _archive):
        try:
            read(text)
        except (ValueError, Refusal):
            pass
    return None


def _archive(text: str) -> object:
    return requested_archive(text, 900)


def _replies(content: bytes) -> object:
    text = scpi.decode(content)
    for read in (
        *(scpi.parse_number, scpi.parse_setting, scpi.parse_flag, scpi.parse_register),
        *(scpi.parse_timer, scpi.parse_error, scpi.without_header, scpi.split_units),
        *(lambda it: scpi.parse_fields(it, 3), lambda it: scpi.parse_word(it, ("RMS", "DC"))),
    ):
        try:
            read(text)
        except MeterError:
            pass
    return scpi.parse_floats(scpi.split_block(content)[0], 3)


def _commands(content: bytes) -> object:
    text = content.decode("latin-1")
    return [parse_unit(unit, []) for unit in split_message(text)]


def _old_log(path: Path) -> object:
    return read_old_log(path) if is_old_log(path) else None


def _facts(path: Path) -> object:
    return load_facts(path.with_suffix(".csv")), load_course(path.with_suffix(".csv"))


def _frame(content: bytes) -> object:
    width, height = _SIZE
    pixels = np.zeros(width * height, dtype=np.uint8)
    given = np.frombuffer(content[: width * height], dtype=np.uint8)
    pixels[: len(given)] = given
    return read_frame(pixels.reshape(height, width))


def _frame_seed() -> bytes:
    from PIL import Image

    picture = Image.new("RGB", (64, 48), (90, 120, 40))
    frame = compose(picture, FrameLabel(7, 64, 48, 3), Screen(1280, 720), 0)
    return frame.convert("L").resize(_SIZE).tobytes()


def _bundle_seed() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in sorted((*MEMBERS, "manifest.json")):
            archive.writestr(name, b"{}")
    return file.getvalue()


def _logs(path: Path) -> object:
    return read_logs([path], {"a", "resnet50"}, "names")


def targets() -> dict[str, Target]:
    """Return the parsers by name."""
    both = json.dumps({"settings": {}, "course": {"start_utc": "", "start_s": 1.0, "boot": ""}})
    log = ",".join(COLUMNS).encode() + b"\n" + _ROW + b"\n"
    file = {
        "coco": lambda path: read_coco_truth(path, path.read_bytes()),
        "csv": lambda path: read_csv_truth(path, path.read_bytes(), None),
        "xml": lambda path: read_xml_truth(path.parent, None),
        "journal": lambda path: RunJournal(path).entries(),
        "bundle": lambda path: read_members(path, MEMBERS),
    }
    return {
        "form": Target(_form, (Refusal,), [_FORM, _FORM.replace(b"=", b"=%31")]),
        "multipart": Target(
            _multipart,
            (Refusal, FormatError),
            [as_multipart({name: ["1", "2"] for name in FORM_FIELDS}, "x")],
        ),
        "json": Target(parse_json, (Refusal,), [_RESULT, _RESULT[:-1] + b"," + _RESULT[1:]]),
        "ndjson": Target(JSON_LINES.parse, (Refusal,), [_RESULT[1:-1] + b"\n\n" + _RESULT[1:-1]]),
        "csv": Target(parse_csv, (Refusal,), [_LINES, b"# a comment\r\n" + _LINES]),
        "tokens": Target(_tokens, (), [_FORM, token_of_session(_KEY, 7, bytes(16)).encode()]),
        "ids": Target(_ids, (), [b"1", b"007", b"12.jpg", b"101", b"1e3"]),
        "truth-coco": Target(_in_file("t.json", file["coco"]), (InputError,), [_TRUTH]),
        "truth-csv": Target(_in_file("t.csv", file["csv"]), (InputError,), [b"1,1,1,2,3,4\n"]),
        "truth-xml": Target(_in_file("xml/1.xml", file["xml"]), (InputError,), [_XML]),
        "detections": Target(
            _in_file("d.csv", read_detections),
            (InputError,),
            [_LINES, _RESULT, _RESULT[1:], b"\x1f\x8b\x08"],
        ),
        "classifications": Target(
            _in_file("c.csv", _logs), (InputError,), [b"1,a,5,5,0.1\n", b"2,resnet50,1,3,1e-3\n"]
        ),
        "teams": Target(
            lambda content: parse_team_table(content, "teams.csv"),
            (InputError,),
            [b'team,organisation,lane\nants,A,1\nbees,"B",\n'],
        ),
        "config": Target(_in_file("contest.toml", load_config), (InputError,), [_CONFIG]),
        "scpi": Target(
            _replies, (MeterError,), [b"#40012" + bytes(12), b'-113,"Undefined header"', b"600,0"]
        ),
        "commands": Target(_commands, (CommandRefused,), [b":NUM:NORM:VAL?;*ESR?", b"*IDN?\n"]),
        "calls": Target(parse_call, (Broken,), [_CALL, bytes(40)]),
        "power-log": Target(_in_file("p.csv", read_power_log), (ValueError,), [log]),
        "old-log": Target(
            _in_file("o.csv", _old_log), (ValueError,), [b"230,0.1,4,1,1\n230,0.1,4,1,2\n"]
        ),
        "facts": Target(_in_file("f.json", _facts), (ValueError,), [both.encode()]),
        "journal": Target(_in_file("journal", file["journal"]), (), [b'{"event": "began"}\n']),
        "wire-log": Target(
            lambda content: read_conversation(content.splitlines(), "1"), (ValueError,), [_WIRE]
        ),
        "bundle": Target(
            _in_file("b.zip", file["bundle"]), (NotABundle, InputError), [_bundle_seed()]
        ),
        "frame": Target(_frame, (Unread,), [_frame_seed()]),
    }
