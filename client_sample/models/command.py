# SPDX-License-Identifier: Apache-2.0
"""The options of a model, for each client that takes one; without one nothing large is loaded."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Iterator, Mapping, Sequence, Tuple

from client_sample.client import ClientError, Detector, say
from client_sample.models.settings import (
    BOXES,
    COLOURS,
    FITS,
    HEADS,
    LIKE,
    OWN_SIZE,
    PIXELS,
    PROVIDERS,
    SCORES,
    ModelSettings,
)
from client_sample.session import ContestSession

if TYPE_CHECKING:
    from client_sample.models.opening import OpenedModel

PAGE = Path("model-check.html")
"""Where --check writes its page."""

_NAME = 60  # The most letters of a file's name that the referee is told.


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Declare the model, and what its file may not say."""
    add = parser.add_argument
    add("--model", metavar="FILE", help="detect with this ONNX or TensorFlow Lite model")
    add("--like", choices=tuple(LIKE), help="the model takes and gives what this exporter's do")
    add("--names", metavar="WHAT", help="its classes: FILE of names, 'order', 'ids' or 'ids+1'")
    add("--input", type=_size, metavar="WxH|own", help="size of its input, if the file has none")
    add("--fit", choices=FITS, help="how a photograph gets that size")
    add("--pixels", choices=PIXELS, help="range of its input's numbers")
    add("--colours", choices=COLOURS, help="order of its input's colours")
    add("--boxes", choices=BOXES, help="order of a box's numbers")
    add("--scores", choices=SCORES, help="what its scores still need")
    add("--head", choices=HEADS, help="layout of a YOLO's rows")
    _add_limits(add)
    add(
        "--threads",
        type=_count,
        default=0,
        metavar="N",
        help="of one detector (default: all cores)",
    )
    add("--provider", choices=PROVIDERS, default="cpu", help="of ONNX Runtime (default: cpu)")


def open_model(args: argparse.Namespace, session: ContestSession, count: int) -> Sequence[Detector]:
    """Return detectors of `--model` with the classes of the contest, for some threads."""
    with _needing_numpy(args.model):
        from client_sample.models.opening import contest_classes, open_detectors

        detectors = open_detectors(args.model, _settings_of(args), count)
        detectors.map_to(contest_classes(session))
    # The referee keeps it with the session: with what a score was measured.
    session.program = program_name(args.model, detectors.each[0].engine, count)
    return detectors.each


def program_name(model: str, engine: str, workers: int) -> str:
    """Return what a client with a model calls itself: a product and a comment of RFC 9110."""
    several = f", {workers} workers" if workers > 1 else ""
    said = f"{Path(model).name[-_NAME:]}; {engine}{several}"
    fit = "".join(one if " " <= one <= "~" and one not in "()\\" else "_" for one in said)
    return f"client_sample ({fit})"


def check_model(args: argparse.Namespace) -> int:
    """Write the page of --check; name the classes that the contest lacks if a referee answers."""
    with _needing_numpy(args.model):
        from client_sample.models.check import write_check
        from client_sample.models.opening import contest_classes, open_detectors

        detectors = open_detectors(args.model, _settings_of(args), 1)
        try:
            session = ContestSession(args.url, args.timeout, 0.0, args.ca_file)
            contest = contest_classes(session)
        except ClientError as error:
            say(f"the classes are the model's own, because no referee told the contest's: {error}")
        else:
            _map_or_say(detectors, contest)
        page = write_check(detectors, args.check, PAGE)
    say(f"Open {page}")
    return 0


def _map_or_say(detectors: OpenedModel, contest: Mapping[int, str]) -> None:
    """Give the contest's ids; a page with the model's own classes shows what is wrong with them."""
    try:
        detectors.map_to(contest)
    except ClientError as error:
        say(f"the page has the model's own classes. {error}")


@contextlib.contextmanager
def _needing_numpy(model: str) -> Iterator[None]:
    """Say what to install where numpy or Pillow is not there, which every model needs."""
    try:
        yield
    except ImportError as error:
        raise ClientError(
            f"Cannot use --model {model}: it needs more packages: pip install '.[onnx]' for ONNX, "
            f"or '.[litert]' for TensorFlow Lite ({error})."
        ) from error


def _add_limits(add: Callable[..., object]) -> None:
    known = ModelSettings()
    add(
        "--least-confidence",
        type=float,
        default=known.least_confidence,
        help="boxes below it are left out (%(default)s)",
    )
    add("--iou", type=float, default=known.iou, help="of the suppression (%(default)s)")
    add("--most-boxes", type=int, default=known.most_boxes, help="of an image (%(default)s)")


def _settings_of(args: argparse.Namespace) -> ModelSettings:
    """Return what the command line says of the model, `--like` in the places of the rest."""
    given = ModelSettings(
        size=args.input,
        names=args.names,
        threads=args.threads,
        provider=args.provider,
        least_confidence=args.least_confidence,
        iou=args.iou,
        most_boxes=args.most_boxes,
        **{name: getattr(args, name) for name in "fit pixels colours boxes scores head".split()},
    )
    return given.or_else(LIKE[args.like]) if args.like else given


def _size(text: str) -> Tuple[int, int]:
    if text == "own":
        return OWN_SIZE
    width, _, height = text.lower().partition("x")
    if not (width.isdigit() and height.isdigit() and int(width) and int(height)):
        raise argparse.ArgumentTypeError(f"{text!r} is no size: give 640x640, or own")
    return int(width), int(height)


def _count(text: str) -> int:
    if not (text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)
