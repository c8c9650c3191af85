# SPDX-License-Identifier: Apache-2.0
"""Run a whole session of the contest: one file that needs Python 3.8 and nothing else.

    python client.py --url http://192.168.1.2:8000 --user me --password practice

The client logs in; the login starts the clock and the power meter. It asks for the number of
images. It fetches each image, gives it to a detector and posts the detector's boxes. At the end it
logs out. Put your own detector into `detect`, or name one: --detector module:function. Contestants
copy this one file, so it is longer than the project's other ones.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import http.client
import importlib
import inspect
import io
import json
import math
import os
import random
import ssl
import sys
import time
import zipfile
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple
from urllib.parse import urlencode, urlsplit

# One object that a detector saw: class id, confidence, xmin, ymin, xmax, ymax. The corners are
# inclusive pixels of the image as it was sent, so a box of one pixel has xmin == xmax.
Row = Tuple[int, float, float, float, float, float]
Detector = Callable[[int, bytes], Iterable[Row]]
Answers = Dict[int, List[Row]]  # by image id

STORED_ANSWERS = (
    "the stored answers go by the images' numbers. In an event each session has its images in an "
    "order of its own: there such answers score about 0. In a rehearsal with --shuffle give "
    "--images DIR, and each image is known by its bytes."
)

# Your own detector. Replace `detect = None` below by a function like this one:
# def detect(image_id: int, jpeg_bytes: bytes) -> Iterable[Row]: ...
detect: Optional[Detector] = None

DETECTOR = "Give MODULE:FUNCTION, a function of an image's number and its bytes."
INTERRUPTED = "interrupted; the session itself goes on until its deadline, or a login and /logout"


class ClientError(Exception):
    """An error that stops the client; its text is for the person who runs the client."""

    exit_code = 1


class WrongUse(ClientError):
    """A command line that cannot lead to a score."""

    exit_code = 2


class Unauthorised(ClientError):
    """The referee refused a wrong password, or a token after the end of the session."""


class Untrusted(ClientError):
    """The server's certificate is not trusted, so nothing was sent to it."""


class Referee:
    """A client of the contest's protocol on one open connection; every request posts a form."""

    def __init__(self, url: str, timeout_s: float = 30.0, ca_file: Optional[str] = None) -> None:
        self.connection = connector(url, timeout_s, ca_file)()
        self._token = ""

    def login(self, user: str, password: str) -> None:
        """Start the session, or resume a running one; the deadline stays the same."""
        answer = self._ask("/login", username=user, password=password)
        if answer.lstrip().startswith(b"<"):
            raise ClientError(f"{self.connection.host} sent no token but {wording(answer)}")
        self._token = answer.decode("latin-1")

    def image_count(self) -> int:
        """Return the number of images; they are numbered from 1."""
        body = self._ask("/no_of_images", token=self._token)
        if not body.isdigit():
            raise ClientError(f"The referee sent no number of images but {wording(body)}")
        return int(body)

    def images(self, count: int, by_hundreds: bool = False) -> Iterator[Tuple[int, bytes]]:
        """Yield the number and the bytes of each image, fetched one by one or by hundreds."""
        for image_id in range(1, count + 1, 100 if by_hundreds else 1):
            if by_hundreds:
                body = self._ask("/zipimages", token=self._token, image_name=image_id)
                with zipfile.ZipFile(io.BytesIO(body)) as archive:
                    for name in archive.namelist():
                        yield int(name.split(".")[0]), archive.read(name)
            else:
                yield image_id, self._ask("/image", token=self._token, image_name=image_id)

    def post(self, image_id: int, rows: Sequence[Row]) -> None:
        """Post the boxes of one image: seven lists with one value for each box."""
        class_ids, *columns = zip(*rows)
        lists: Dict[str, Any] = {"image_name": [image_id] * len(rows), "CLASS_ID": class_ids}
        for name, column in zip(("confidence", "xmin", "ymin", "xmax", "ymax"), columns):
            # repr() gives the shortest text that reads back as exactly the same number.
            lists[name] = [repr(float(value)) for value in column]
        self._ask("/result", token=self._token, **lists)

    def logout(self) -> None:
        """End the session, and with it the measurement of energy, before the deadline."""
        self._ask("/logout", token=self._token)

    def _ask(self, path: str, **fields: Any) -> bytes:
        # A name that was typed on a terminal of another encoding goes out as it was typed.
        body = urlencode(fields, doseq=True, errors="surrogateescape")
        link, headers = self.connection, {"Content-Type": "application/x-www-form-urlencoded"}
        kept_open = link.sock is not None
        while True:
            try:
                link.request("POST", path, body, headers)
                with link.getresponse() as response:
                    kept_open = False  # the request has arrived, so it must not be repeated
                    answer = response.read()
                break
            except (OSError, http.client.HTTPException, UnicodeError) as error:
                link.close()
                if not (kept_open and isinstance(error, (ConnectionError, ssl.SSLEOFError))):
                    raise no_answer(link, error) from error
                kept_open = False  # the server had closed the connection: try once on a new one
        if response.status == 200:
            return answer
        refusal = Unauthorised if response.status == 401 else ClientError
        # The header says what to do, where the answer is the text that old clients know.
        text = response.headers.get("X-Referee-Detail") or wording(answer)
        raise refusal(f"The referee refused {path} with status {response.status}: {text}")


def connector(
    url: str, timeout_s: float, ca_file: Optional[str] = None
) -> Callable[[], http.client.HTTPConnection]:
    """Return a function that makes a connection to an address, under TLS for https.

    A certificate counts if it names the address, and if its issuer is in `ca_file`, else if this
    system knows its issuer.
    """
    try:
        parts = urlsplit(url if "://" in url else "http://" + url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ClientError(f"{url!r} is not an address like http://192.168.1.2:8000.")
    if parts.scheme == "http":
        if ca_file:
            raise WrongUse(f"--ca-file goes with an address that begins with https://, not {url}.")
        return lambda: http.client.HTTPConnection(host, port or 80, timeout=timeout_s)
    try:
        tls = ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # ssl.SSLError is one.
        why = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise ClientError(f"Cannot use --ca-file {ca_file}: {why}.") from error
    return lambda: http.client.HTTPSConnection(host, port or 443, timeout=timeout_s, context=tls)


def no_answer(link: http.client.HTTPConnection, error: Exception) -> ClientError:
    """Return the error of a request without an answer; faults of TLS say what to do."""
    place = f"{link.host}:{link.port}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return Untrusted(
            f"The certificate of {place} is not trusted: {error.verify_message}. Give the "
            "organiser's CA file with --ca-file, use the address that the organiser told you, and "
            "look at this machine's date."
        )
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return ClientError(f"{place} does not speak TLS. Use http:// in place of https://.")
    return ClientError(f"No answer from {place}: {error}")


def wording(answer: bytes) -> str:
    """Return a server's answer as one line for a person; a web page is named, not printed."""
    text = answer[:300].decode("utf-8", "replace").strip()
    if not text.startswith("<"):
        return " ".join(text.split())
    return (
        "a web page. This is not the contestants' port: the operators' console has another. "
        "Ask the operator for the address."
    )


def read(path: str, parse: Callable[[str], Any]) -> Any:
    """Parse a text file; the error says which file is wrong and why."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read())
    except (OSError, KeyError, TypeError, ValueError) as error:
        short = str(error) if isinstance(error, UnicodeError) else repr(error)
        why = getattr(error, "strerror", None) or short
        raise ClientError(f"Cannot use {path}: {why}.") from error


def parse_answers(text: str) -> Answers:
    """Read COCO results JSON, or lines: image, class, confidence, xmin, ymin, xmax, ymax."""
    is_json = text.lstrip().startswith(("[", "{"))
    answers: Answers = {}
    entries = json.loads(text) if is_json else filter(str.strip, text.splitlines())
    for number, entry in enumerate(entries, 1):
        try:
            if is_json:
                image_id, class_id = entry["image_id"], entry["category_id"]
                x, y, w, h = entry["bbox"]
                values = [entry["score"], x, y, x + w - 1, y + h - 1]  # inclusive corners
            else:
                image_id, class_id, *values = entry.replace(",", " ").split()
            confidence, xmin, ymin, xmax, ymax = map(float, values)
            row = (int(class_id), confidence, xmin, ymin, xmax, ymax)
            answers.setdefault(int(image_id), []).append(row)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"entry {number} is not a detection ({error!r})") from error
    return answers


def parse_ids(text: str) -> List[int]:
    """Read image ids, ascending: those of COCO annotations, or one on each line."""
    if text.lstrip().startswith("{"):
        return sorted({int(image["id"]) for image in json.loads(text)["images"]})
    return sorted(set(map(int, text.split())))


def number_images(answers: Answers, count: int, ids: Optional[List[int]]) -> Answers:
    """Translate the answers' own image ids: the k-th id in ascending order is contest image k."""
    if ids is None and all(1 <= image_id <= count for image_id in answers):
        return answers
    own_ids = sorted(answers) if ids is None else ids
    if len(own_ids) != count:
        text = f"The referee has {count} images but the answers' ids name {len(own_ids)}: "
        raise ClientError(text + "give the ids of exactly the referee's images with --ids FILE.")
    return {k: answers[own_id] for k, own_id in enumerate(own_ids, 1) if own_id in answers}


def recognise(folder: str) -> Dict[bytes, int]:
    """Return the numbers of a folder's images by digest; each file's name is its number."""
    try:
        files = [path for path in Path(folder).iterdir() if path.stem.isdigit()]
        numbers = {hashlib.sha256(path.read_bytes()).digest(): int(path.stem) for path in files}
    except OSError as error:
        raise ClientError(f"Cannot use --images {folder}: {error.strerror}.") from error
    if not numbers:
        raise ClientError(f"Cannot use --images {folder}: no file there has a number as its name.")
    return numbers


def replay(answers: Answers, known: Dict[bytes, int]) -> Detector:
    """Make a detector of stored answers; `known` maps an image's digest to its number, if any."""
    strange: List[int] = []

    def see(image_id: int, jpeg_bytes: bytes) -> Iterable[Row]:
        number = known.get(hashlib.sha256(jpeg_bytes).digest()) if known else image_id
        if number is None and not strange:
            strange.append(image_id)
            say(f"image {image_id} is not in the folder of --images, so it has no stored answer")
        return answers.get(number or 0, [])

    return see


def prepare(args: argparse.Namespace) -> Callable[[int], Detector]:
    """Read the files of a replay; return a function that makes the detector for N images."""
    answers = read(args.answers, parse_answers)
    ids = read(args.ids, parse_ids) if args.ids else None
    own = recognise(args.images) if args.images else {}
    if not own:
        say(STORED_ANSWERS)
    elif ids is None and set(answers) <= set(own.values()):
        ids = sorted(own.values())  # the answers name the images as the folder does
    numbers = {own_id: k for k, own_id in enumerate(ids or sorted(own.values()), 1)}
    known = {digest: numbers.get(own_id, 0) for digest, own_id in own.items()}
    chance = random.Random(args.seed)
    for rows in answers.values():  # Each class stays right with the probability --accuracy.
        rows[:] = [r if chance.random() < args.accuracy else (r[0] + 5, *r[1:]) for r in rows]
    return lambda count: replay(number_images(answers, count, ids), known)


def load_detector(name: str) -> Detector:
    """Import the detector `module:function`; the module may be in the current folder."""
    module, _, function = name.partition(":")
    if not (module and function):
        raise WrongUse(f"Cannot use --detector {name}: it names no function. {DETECTOR}")
    sys.path.insert(0, os.getcwd())
    try:
        found: Detector = getattr(importlib.import_module(module), function)
        with contextlib.suppress(ValueError):  # Some functions of C do not tell what they take.
            inspect.signature(found).bind(1, b"")
    except (Exception, SystemExit) as error:  # A module of the contestant may do anything.
        raise WrongUse(f"Cannot use --detector {name}: {told(error)}. {DETECTOR}") from error
    return found


def told(error: BaseException) -> str:
    """Return an error of the contestant's program in one line, with the place in that program."""
    step = error.__traceback__ and error.__traceback__.tb_next
    skipped = ("importlib", "inspect.py")
    while step and any(one in step.tb_frame.f_code.co_filename for one in skipped):
        step = step.tb_next
    place = f" ({step.tb_frame.f_code.co_filename}, line {step.tb_lineno})" if step else ""
    return " ".join(f"{type(error).__name__}: {error}{place}".split())


def rows_of(detector: Detector, image_id: int, jpeg_bytes: bytes) -> List[Row]:
    """Return what a detector sees; raise `ClientError`, which names it, if those are no rows."""
    rows: List[Row] = []
    seen: Any = None
    try:
        for seen in detector(image_id, jpeg_bytes):
            class_id, *numbers = map(float, seen)
            # A box that is infinite is told by the referee: it can never match.
            if len(numbers) != 5 or class_id % 1 or any(map(math.isnan, numbers)):
                raise ValueError("not six numbers, of which the first is a whole one")
            rows.append((int(class_id), *numbers))  # type: ignore[arg-type]
            seen = None
    except (Exception, SystemExit) as error:  # A detector of the contestant may do anything.
        name = getattr(detector, "__qualname__", type(detector).__qualname__)
        row = (
            "" if seen is None else f" Row {len(rows) + 1} was {' '.join(repr(seen).split()):.60}."
        )
        raise ClientError(
            f"The detector {detector.__module__}:{name} failed at image {image_id}: {told(error)}."
            f"{row} It must return a list of rows (class_id, confidence, xmin, ymin, xmax, ymax), "
            "which may be empty. The session goes on: mend it, and start the client again."
        ) from error
    return rows


def choose(args: argparse.Namespace) -> Callable[[int], Detector]:
    """Return a function that makes the detector; refuse options without anything to post."""
    if args.answers:
        return prepare(args)
    if args.images or args.ids:
        raise WrongUse("--images and --ids go with --answers: a detector sees the images itself.")
    detector = load_detector(args.detector) if args.detector else detect
    if detector is None:
        raise WrongUse(
            "There is nothing to post. Give --detector MODULE:FUNCTION or --answers FILE, or write "
            "a function detect() into client.py."
        )
    return lambda count: detector


def say(text: str) -> None:
    """Print a message for the person who runs the client."""
    print(f"client: {text}", file=sys.stderr, flush=True)


def take_part(referee: Referee, detector: Detector, count: int, args: argparse.Namespace) -> None:
    """Fetch, detect and post until the last image or the end of the time."""
    images = boxes = 0
    started = reported = now = time.monotonic()
    try:
        for image_id, jpeg_bytes in referee.images(count, args.zip):
            rows = rows_of(detector, image_id, jpeg_bytes)
            if rows:
                referee.post(image_id, rows)
            images, boxes, now = images + 1, boxes + len(rows), time.monotonic()
            if now - reported >= 2:  # seconds
                reported = now
                say(f"{images} of {count} images, {images / (now - started):.1f} images/s")
            if args.seconds is not None and now - started >= args.seconds:
                break
        if not args.no_logout:
            referee.logout()
    except Unauthorised:
        say("the session's time has run out")
    rate = images / max(now - started, 1e-9)
    say(f"{images} of {count} images, {boxes} boxes, {now - started:.1f} s, {rate:.1f} images/s")


def add_server_options(parser: argparse.ArgumentParser, team: bool = True) -> None:
    """Declare where the referee is, and who takes part; `team` tells if that must be given."""
    add = parser.add_argument
    add("--url", default="http://127.0.0.1:8000", help="address of the referee (%(default)s)")
    add("--ca-file", metavar="FILE", help="the organiser's CA, for an address with https://")
    add("--user", required=team, help="name of the team")
    add("--password", required=team, help="password of the team")


def add_answer_options(parser: argparse.ArgumentParser) -> None:
    """Declare the answers of another program, which the client posts in place of a detector's."""
    add = parser.add_argument
    add("--answers", metavar="FILE", help="replay these COCO results or LPIRC lines")
    add("--ids", metavar="FILE", help="image ids of the answers: COCO annotations or a list")
    add("--images", metavar="DIR", help="images of --answers, to know each by its bytes")
    add("--accuracy", type=float, default=1.0, help="share of right classes in --answers")
    add("--seed", type=int, default=0, help="makes --accuracy reproducible")


def main(argv: Optional[List[str]] = None) -> int:
    """Run the client and return its exit code."""
    parser = argparse.ArgumentParser(description="Take part in a session of the contest.")
    add_server_options(parser)
    add = parser.add_argument
    add("--detector", metavar="MODULE:FUNCTION", help="detector to use instead of detect()")
    add_answer_options(parser)
    add("--zip", action="store_true", help="fetch a hundred images at a time")
    add("--seconds", type=float, help="stop and log out after this time")
    add("--timeout", type=float, default=30.0, help="seconds to wait for each answer")
    add("--no-logout", action="store_true", help="leave the session running at the end")
    args = parser.parse_args(argv)
    try:
        # The login starts clock and meter. So slow steps and steps that can fail come before it.
        make_detector = choose(args)
        referee = Referee(args.url, args.timeout, args.ca_file)
        with contextlib.closing(referee.connection):
            referee.login(args.user, args.password)
            count = referee.image_count()
            take_part(referee, make_detector(count), count, args)
    except (ClientError, zipfile.BadZipFile, KeyboardInterrupt) as error:
        say(str(error) or INTERRUPTED)
        return getattr(error, "exit_code", 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
