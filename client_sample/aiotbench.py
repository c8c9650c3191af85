# SPDX-License-Identifier: Apache-2.0
"""Run AIoTBench on this machine: classify pictures, time each one, and write the log.

    python -m client_sample.aiotbench mo_tfc=mobilenet_v2.tflite sq_tfc=squeezenet.tflite \\
        --images val --labels val.csv --log board.csv

A workload is MODEL_IMPLEMENTATION=FILE. The models are re (ResNet50), in (InceptionV3), de
(DenseNet121), sq (SqueezeNet), mo (MobileNetV2) and mn (MnasNet). The implementations that run
here are tfc (TensorFlow Lite on the processor, by LiteRT), py (PyTorch, a TorchScript file) and ort
(ONNX Runtime, which is outside the official set). Caffe2 (ca) is no longer made, and NNAPI (tfn)
exists on Android alone: log those there, in the same form.

The time of an image is for reading the original file, preprocessing and prediction. Writing the
log is outside. Workloads run one after the other, with a pause of five minutes to cool down. The
rules ask to shut the device down in the pause: --one ends after one workload. Start the same
command again, and it goes on where it was, after an interruption too: what the log holds is
skipped. 'referee aiotbench score' scores the log, and compares the networks that ran, as LOG.toml
beside the log names them, with those of the specification.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Callable, Dict, Mapping, Optional, Sequence, Tuple

from client_sample.aiotbench_log import Log, read_pictures
from client_sample.aiotbench_procedure import BenchError, WorkloadClock, predict, run_all
from client_sample.classifiers import IMPLEMENTATIONS, Classifier, ClassifierSettings
from client_sample.escapes import print_escapes
from client_sample.networks import Network

# The models' short names, and the side of their input in the papers.
_SIDES = {"re": 224, "in": 299, "de": 224, "sq": 224, "mo": 224, "mn": 224}
_ELSEWHERE = {
    "ca": "Caffe2 is no longer made, and Python has no package of it",
    "tfn": "NNAPI exists on Android alone",
}
_COOLING_S = 300.0

# What boards and what laptops call themselves.
_DEVICE = ("/proc/device-tree/model", "/sys/class/dmi/id/product_name")
_LIBRARIES = ("ai-edge-litert", "torch", "onnxruntime", "numpy", "pillow")


def main(argv: Optional[Sequence[str]] = None, clock: Optional[WorkloadClock] = None) -> int:
    """Run the workloads; return 0, or 1 after an error or an interruption, or 2 for wrong use."""
    print_escapes()
    args = _parser().parse_args(argv)
    try:
        return _run(args, clock or WorkloadClock())
    except (BenchError, ValueError, OSError) as error:
        print(f"aiotbench: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("aiotbench: stopped; the same command continues from here", file=sys.stderr)
    return 1


def _run(args: argparse.Namespace, clock: WorkloadClock) -> int:
    models = dict(args.workloads)
    if len(models) < len(args.workloads):
        raise BenchError("a workload is named twice: give each once")
    pictures = read_pictures(args.images, args.labels)[: args.limit]
    loaders = {name: _loader(name, model, args) for name, model in models.items()}
    for workload, load in loaders.items():
        # A model that cannot be used is found now, not after hours. The run loads it anew.
        predict(workload, load(), pictures[0])
    log = Log(args.log)
    try:
        if log.dropped:
            print("aiotbench: the log's last row was cut off, and is dropped", file=sys.stderr)
        configuration = args.log.with_suffix(".toml")
        settings = {"threads": args.threads, "crop": args.crop, "cooling_s": args.cool}
        networks = {name: _look(name, model, args) for name, model in models.items()}
        _keep_configuration(configuration, describe(models, settings, networks))
        left = run_all(loaders, pictures, log, clock, args.cool, args.one)
    finally:
        log.close()
    if left:
        print(f"Workloads left: {left}. Shut down, let it cool, and run the same command again.")
    else:
        print(f"Score it: referee aiotbench score {args.log} --configuration {configuration}")
    return 0


def _keep_configuration(path: Path, text: str) -> None:
    """Write the configuration, or leave an edited one and say what it lacks."""
    if not path.exists():
        path.write_text(text, encoding="utf-8", errors="replace")
        return
    there = path.read_text(encoding="utf-8").splitlines()
    for line in text.splitlines():
        if line not in there:
            print(f"aiotbench: {path} stays as it is. This run has {line}", file=sys.stderr)


def _settings(workload: str, args: argparse.Namespace) -> ClassifierSettings:
    side = _SIDES[workload.partition("_")[0]]
    return ClassifierSettings(side, args.threads, args.crop, args.first_label)


def _look(workload: str, model: Path, args: argparse.Namespace) -> Optional[Network]:
    """Return the network in a model's file, or say why it cannot be told."""
    why = "its layers are hidden"
    try:
        network = IMPLEMENTATIONS[workload.partition("_")[2]].look(model, _settings(workload, args))
    # Each library has errors of its own. The run can do without.
    except Exception as error:
        network, why = None, str(error)
    if network is None:
        print(f"aiotbench: the network in {model} cannot be told: {why}", file=sys.stderr)
    return network


def _loader(workload: str, model: Path, args: argparse.Namespace) -> Callable[[], Classifier]:
    settings = _settings(workload, args)
    chosen = IMPLEMENTATIONS[workload.partition("_")[2]]

    def load() -> Classifier:
        try:
            return chosen.load(model, settings)
        except ImportError as error:
            raise BenchError(
                f"{workload} needs {chosen.name}: pip install {chosen.package} pillow numpy "
                f"({error})"
            ) from error
        # Each library has errors of its own for a file that it cannot use.
        except Exception as error:
            raise BenchError(f"{model} cannot be used for {workload}: {error}") from error

    return load


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="aiotbench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("workloads", nargs="+", type=_workload, metavar="WORKLOAD=MODEL", help="what to run")
    add("--images", type=Path, required=True, metavar="DIR", help="the pictures, as they came")
    add("--labels", type=Path, required=True, metavar="FILE", help="lines file,label")
    add("--log", type=Path, required=True, metavar="LOG.csv", help="log to write, or to go on with")
    add("--one", action="store_true", help="end after one workload, to shut the device down")
    add("--cool", type=_seconds, default=_COOLING_S, metavar="S", help="pause (default: 300 s)")
    add("--threads", type=_count, default=1, metavar="N", help="of a prediction (default: 1)")
    add("--crop", action="store_true", help="the middle 87.5 %% instead of the whole picture")
    add(
        "--first-label",
        type=int,
        metavar="N",
        help="the label of a model's first output (default: 0 with 1001 outputs, otherwise 1)",
    )
    add("--limit", type=_count, metavar="N", help="only the first N pictures, for a trial")
    return parser


def _workload(text: str) -> Tuple[str, Path]:
    name, _, file = text.partition("=")
    model, _, implementation = name.partition("_")
    if implementation in _ELSEWHERE:
        why = _ELSEWHERE[implementation]
        raise argparse.ArgumentTypeError(f"{name} cannot run here: {why}; log it elsewhere")
    if model not in _SIDES or implementation not in IMPLEMENTATIONS or not file:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not MODEL_IMPLEMENTATION=FILE, a model of {' '.join(_SIDES)} and an "
            f"implementation of {' '.join(IMPLEMENTATIONS)}"
        )
    return name, Path(file)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 86400:
        raise argparse.ArgumentTypeError(f"{text} is not a pause: give 0 to 86400 seconds")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is too few: give 1 or more")
    return value


def describe(
    models: Mapping[str, Path],
    settings: Mapping[str, object],
    networks: Mapping[str, Optional[Network]] = {},
) -> str:
    """Return the tables [hardware], [software] and [models].

    The software has the system, the versions of the libraries and the settings of the run. The
    models have a line for each workload: file, SHA-256, and the network in it as far as it is
    known.
    """
    software = {"system": platform.platform(), "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            software[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    software.update({name: str(value) for name, value in settings.items()})
    tables = [_table("hardware", _hardware()), _table("software", software), "[models]\n"]
    text = "\n".join(tables)
    for workload, path in models.items():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        entries = [f"file = {_quoted(path.name)}", f'sha256 = "{digest}"']
        network = networks.get(workload)
        if network is not None:
            entries += [f"{name} = {value}" for name, value in network._asdict().items()]
        text += f"{workload} = {{ {', '.join(entries)} }}\n"
    return text


def _hardware() -> Dict[str, str]:
    hardware = {
        "device": next(filter(None, map(_text, _DEVICE)), "unknown"),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
    }
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        hardware["memory"] = f"{memory / 2**20:.0f} MiB"
    except (AttributeError, ValueError, OSError):  # Not every system tells it.
        pass
    return hardware


def _processor() -> str:
    named = re.search(r"^(?:model name|Hardware)\s*: (.+)$", _text("/proc/cpuinfo"), re.MULTILINE)
    return named[1] if named else platform.processor() or platform.machine()


def _text(path: str) -> str:
    """Return a file's text without the NUL at the end of a device tree's texts, or ''."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip("\0 \n")
    except OSError:
        return ""


def _table(name: str, values: Mapping[str, str]) -> str:
    return "".join(
        [f"[{name}]\n", *(f"{key} = {_quoted(value)}\n" for key, value in values.items())]
    )


def _quoted(text: str) -> str:
    # JSON's texts are TOML's texts, apart from the character DEL and JSON's way to write emoji.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


if __name__ == "__main__":
    sys.exit(main())
