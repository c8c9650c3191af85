# SPDX-License-Identifier: Apache-2.0
"""What a TOML file says of a measured device: `hardware`, `software`, and the models that ran."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from referee.errors import InputError
from referee.extras.aiotbench.networks import ModelFacts, RanModel
from referee.extras.aiotbench.rules import RuleSet
from referee.formats.text import read_bytes

COOLING = "cooling_s"
"""The name under which the sample for boards notes the pause before each workload."""

_PARTS, _MODELS = ("hardware", "software"), "models"
_SHA_256 = re.compile("[0-9a-f]{64}")
_FIGURES = tuple(field.name for field in fields(ModelFacts))
_MOST = 10**15


@dataclass(frozen=True)
class DeviceConfiguration:
    """A device: `parts` has texts by name for hardware and software, `models` go by workload."""

    parts: dict[str, dict[str, str]]
    models: dict[str, RanModel]


def read_configuration(path: Path, rules: RuleSet) -> DeviceConfiguration:
    """Read `hardware` and `software`, each with one entry or more, and perhaps `models`.

    The names of the entries of hardware and software are free: the specification of AIoTBench
    prescribes none. Numbers, true and false become texts. A model goes by its workload, and has
    `file` and `sha256`, and `width`, `height`, `parameters` and `flops` or none of these. Raises
    InputError for any other content.
    """
    try:
        table = tomllib.loads(read_bytes(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    strange = sorted(table.keys() - {*_PARTS, _MODELS})
    if strange:
        raise InputError(
            f"{path}, {strange[0]}: give only the tables [hardware], [software] and [models]"
        )
    models = table.get(_MODELS, {})
    if not isinstance(models, dict):
        raise InputError(f"{path}, [models]: give a table with one line for each workload")
    for name in models:
        if name not in rules.by_id():
            raise InputError(f"{path}, models.{name}: a workload is {rules.spelling()}")
    return DeviceConfiguration(
        {part: _entries(path, part, table.get(part)) for part in _PARTS},
        {name: _model(path, name, value) for name, value in models.items()},
    )


def configuration_beside(logs: Sequence[Path], rules: RuleSet) -> DeviceConfiguration | None:
    """Return what the TOML files beside logs of one device say: the parts of the first, all models.

    The shortest pause of all stands for the others, because each part of a log had its own. Returns
    None without such a file.
    """
    beside = [log.with_suffix(".toml") for log in logs]
    configurations = [read_configuration(path, rules) for path in beside if path.is_file()]
    if not configurations:
        return None
    models = {
        name: model
        for configuration in reversed(configurations)
        for name, model in configuration.models.items()
    }
    parts = {name: dict(part) for name, part in configurations[0].parts.items()}
    for configuration in configurations[1:]:
        for name, part in configuration.parts.items():
            if COOLING in part and pause_s(part[COOLING]) < pause_s(parts[name].get(COOLING)):
                parts[name][COOLING] = part[COOLING]
    return DeviceConfiguration(parts, models)


def pause_s(text: str | None) -> float:
    """Return a noted pause in seconds: 0 for what is no number, endless where none is noted."""
    if text is None:
        return math.inf
    try:
        return max(float(text), 0.0)
    except ValueError:
        return 0.0


def _entries(path: Path, part: str, entries: Any) -> dict[str, str]:
    if not isinstance(entries, dict) or not entries:
        raise InputError(f'{path}, [{part}]: give one line or more, as name = "text"')
    return {name: _text(path, f"{part}.{name}", value) for name, value in entries.items()}


def _text(path: Path, name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (str, int, float)) or not str(value).strip():
        raise InputError(f"{path}, {name}: give a text or a number")
    return str(value)


def _model(path: Path, name: str, value: Any) -> RanModel:
    place = f"{path}, models.{name}"
    if not isinstance(value, dict) or value.keys() - {"file", "sha256", *_FIGURES}:
        raise InputError(f"{place}: give file, sha256, {', '.join(_FIGURES)} and nothing else")
    digest = value.get("sha256")
    if not isinstance(digest, str) or not _SHA_256.fullmatch(digest):
        raise InputError(f"{place}.sha256: give the 64 hexadecimal digits of the file's SHA-256")
    figures = {name: value[name] for name in _FIGURES if name in value}
    for field, figure in figures.items():
        if type(figure) is not int or not 0 <= figure <= _MOST:
            raise InputError(f"{place}.{field}: give a whole number")
    if figures and len(figures) < len(_FIGURES):
        raise InputError(f"{place}: give all of {', '.join(_FIGURES)}, or none")
    file = _text(path, f"models.{name}.file", value.get("file", ""))
    return RanModel(file, digest, ModelFacts(**figures) if figures else None)
