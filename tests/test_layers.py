# SPDX-License-Identifier: Apache-2.0
"""Imports point one way, and each layer does only what it may, as the syntax trees show."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.syntax import tree_of

# The first walk through all files takes a second.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]

# The parts that each part of the referee may import. The programs at the top may import all.
LAYERS = {
    "errors": set(),
    # What installed packages bring, by name: it knows no kind of what they bring.
    "plugins": {"errors"},
    "core": {"errors"},
    "scoring": {"errors", "core"},
    "formats": {"errors", "core", "plugins"},
    "store": {"errors", "core", "plugins"},
    "tracks": {"errors", "core", "scoring", "formats", "plugins"},
    "service": {"errors", "core", "scoring", "formats", "store", "tracks", "plugins"},
    "web": {"errors", "core", "formats", "service", "tracks"},
    "static": set(),
    # The demo's pictures and its contestant stand apart from the referee itself.
    "demo": set(),
}
PROGRAMS = {"cli", "commands", "programs", "__main__"}

# The extras, each with those of its parts that are programs. Its other parts are rules, which may
# import what a service may. The contest knows no extra, and an extra no other one: what a guest
# brings, the contest finds by name.
EXTRAS = {
    "aiotbench": {"commands"},
    "ceremony": {"commands", "pages"},
    "coach": {"commands", "pages"},
    "drill": {"commands", "play"},
    "ovic": {"commands", "pages"},
    "publish": {"commands", "making"},
    "season": {"commands", "workers"},
    "stations": {"commands", "pages", "program"},
}

# The library's door names the readers of files beside the rules, and loads neither by itself.
LIBRARY = "referee/scoring/__init__.py"

# Shared by commands: their options, their output, and how they end.
SHARED_BY_COMMANDS = set(
    "power.commands.options power.commands.output power.commands.progress "
    "power.commands.interrupt power.commands.as_found power.commands.any_meter "
    "power.commands.child power.commands.live_view power.commands.recording_job "
    "power.commands.written_file referee.commands.energy referee.commands.numbers "
    "referee.commands.operators referee.commands.options power.commands.parser "
    "power.commands.seconds".split()
)

# The rooms that each room of a part may import.
ROOMS = {
    "referee.service": {
        "setup": set(),
        "entry": {"setup"},
        "teams": {"setup", "entry"},
        # The operators of the console, with passwords as the teams have them.
        "people": {"setup", "entry"},
        "preflight": {"setup", "entry", "teams", "people"},
        "display": {"setup"},
        "results": {"setup"},
        # An ended session is judged by the rule that a bundle is judged by.
        "desk": {"setup", "preflight", "display", "results"},
        "event": {"setup", "results", "teams"},
        "board": set("setup entry desk display results teams event evidence".split()),
        # The audience's view rests on the results, and on the figures of the running sessions.
        "scoreboard": {"setup", "entry", "results", "event", "teams"},
        # A bundle is verified by the rules that judged and scored its session.
        "evidence": {"setup", "results"},
        "observation": {"setup", "board"},
    },
    "referee.extras.ovic": {
        # The rules are pure, and the judge of a model knows no contest.
        "rules": set(),
        "judging": {"rules"},
        "section": set(),
        # The submission service: its intake knows teams and the disk.
        "submission": {"rules", "judging", "section"},
        "part": {"rules", "judging", "section", "submission"},
    },
    "referee.web": {
        "server": set(),
        "contest": {"server"},
        "desk": {"server"},
        "scoreboard": {"server", "desk"},
    },
    "power": {
        "errors": set(),
        "meter": set(),
        # What a WT310 shows beside each reading's values, by name.
        "quantities": set(),
        # Readings as columns, for logs and rules.
        "readings": {"meter"},
        "append_file": set(),
        # One request by HTTP, which ends: devices, and the servers of programs and guests.
        "http_request": set(),
        # Whole files that somebody names, for all readers of them.
        "bounded_file": set(),
        # How people write a duration, on a command line and in a configuration.
        "durations": set(),
        # A resource string is text. A driver, the emulator and a configuration read it.
        "resource": set(),
        # What installed packages bring, by name, for the meters and for the referee.
        "plugins": set(),
        # One clock for the meter, its emulator and the commands; rules get it as an argument.
        "clock": set(),
        "values": {"meter"},
        "scpi": {"errors", "meter"},
        # What a signal's handler may set, for programs and commands.
        "signal_flag": set(),
        "emulator": set(
            "errors clock signal_flag resource emulated bounded_file http_request".split()
        ),
        "transports": {"errors", "clock", "append_file", "bounded_file", "resource"},
        "wt310": {"errors", "clock", "meter", "quantities", "values", "scpi", "transports"},
        # A meter out of samples: a thread, one integrator, and what a driver of a device gives.
        "sampled": set("errors http_request clock meter values resource transports follow".split()),
        # What a driver's author tests it with.
        "testing": {"errors", "meter", "sampled"},
        # The kinds of other meters by name, and their drivers.
        "meters": {"errors", "meter", "plugins", "resource", "sampled"},
        "connect": set("errors clock meter resource scpi transports wt310 meters sampled".split()),
        # The follower knows no kind of meter: its caller passes one in.
        "follow": {"errors", "meter"},
        # May what a meter holds be wiped? The rule, and who asks it.
        "wipe_rule": {"errors", "meter"},
        "wipe_guard": {"errors", "meter", "wipe_rule"},
        # Which meter measured, by its identity and its settings.
        "official": {"meter"},
        "energy": {"errors", "meter", "official", "quantities", "readings", "values"},
        "logs": set(
            "errors meter readings append_file energy values wipe_rule quantities "
            "bounded_file".split()
        ),
        "bench": {
            "errors",
            "meter",
            "readings",
            "follow",
            "energy",
            "logs",
            "wipe_rule",
            "wipe_guard",
        },
        # The session knows no kind of meter; `places` alone sets a WT310 up.
        "ptd": {"errors", "meter", "append_file", "follow", "energy", "wt310"},
        # Its steps ask a conversation that is passed in.
        "checklist": {"errors", "meter", "bounded_file"},
        # It gets the recording as lines, so it knows neither a meter nor the recorder.
        "live": {"clock", "meter", "energy", "values"},
    },
}

# The layers below the programs see the meter's values and errors; the programs see all of it.
POWER = {
    # Whatever file somebody names is read to a bound, by one rule in both packages.
    "plugins": {"power.plugins"},
    "formats": {"power.bounded_file", "power.plugins"},
    "demo": {"power.http_request"},
    "store": {"power.meter", "power.values"},
    # Following a meter and judging its energy are rules over any meter and its readings.
    "service": {
        *("power.meter", "power.errors", "power.values"),
        *("power.energy.judge", "power.energy.verdict", "power.energy.idle"),
        "power.energy.judge_rules",
        # What a mean power is divided by, and to which moment an energy belongs.
        *("power.energy.duration", "power.energy.moments"),
        # The configuration asks for temperature and calibration, as the judge takes them.
        "power.energy.conditions",
        "power.bounded_file",
        # Guests ask other machines by it.
        "power.http_request",
        "power.plugins",
        "power.follow",
        *("power.wipe_guard", "power.wipe_rule"),
        # Sessions are timed by the clock that times the meter.
        "power.clock",
        # The live scorer ends when a signal sets it.
        "power.signal_flag",
        # A duration in a configuration is written as on a command line.
        "power.durations",
        # A configured meter's resource string tells whether it is official, and its serial line.
        "power.resource",
        # An emulator's energy is not official, whatever its address.
        "power.emulated",
        # Sessions of official and other meters are marked in a ranking.
        "power.official",
        # What a configuration sets is checked by the rule that the meter's driver has.
        "power.wt310.models",
        # Names of teams in figures are drawn by the fonts that the machine has.
        "power.logs.fonts",
        # The evidence is compared with what the meter said on its wire.
        "power.wt310.recorded",
    },
}

# Each of these is known to one place only.
ONLY_IN = {
    "sqlite3": ("referee/store/", "referee/extras/ovic/submission/entries.py"),
    "flask": (
        "referee/web/",
        "referee/extras/ovic/pages/",
        "referee/extras/ceremony/pages.py",
        "referee/extras/coach/pages/",
        "power/live/",
    ),
    "werkzeug": ("referee/web/", "power/live/"),
    "gunicorn": ("referee/web/server/",),
    "jinja2": ("referee/service/setup/pages.py",),
    "gevent": ("referee/web/server/",),
    "smbus2": ("power/meters/ina.py",),
    "pyvisa": ("power/transports/",),
    "pyvisa_py": ("power/transports/",),
    "serial": ("power/transports/", "power/meters/ppk2.py"),
    "pyjoulescope_driver": ("power/meters/joulescope.py",),
    "usb": ("power/transports/",),
    "matplotlib": tuple(
        "power/logs/plot.py power/logs/fonts.py referee/service/event/charts.py "
        "referee/service/event/chart_axes.py referee/service/event/share_picture.py "
        "referee/service/scoreboard/team_charts.py "
        "referee/extras/aiotbench/chart.py referee/extras/coach/chart.py "
        "referee/extras/season/report_page.py".split()
    ),
    "ai_edge_litert": ("client_sample/", "referee/extras/ovic/judging/model.py"),
    "argon2": ("referee/service/entry/passwords.py",),
    "cryptography": tuple(
        "referee/service/setup/signing_key.py referee/service/evidence/signature.py "
        "referee/service/setup/private_key.py referee/service/evidence/signing.py "
        "referee/service/setup/certificate.py referee/service/setup/pem_certificates.py".split()
    ),
    "pebble": ("referee/extras/season/workers/processes.py",),
    "distributed": ("referee/extras/season/workers/cluster.py",),
    "segno": ("referee/service/setup/qr_code.py",),
    "xlsxwriter": ("referee/formats/workbook.py",),
    "prometheus_client": ("referee/service/observation/metrics.py", "power/live/app.py"),
    "pandas": ("power/logs/frame.py",),
    "rich": ("power/live/terminal.py",),
    "psutil": ("referee/service/observation/",),
    "pycocotools": ("referee/scoring/",),
    "client_sample": (
        *("client_sample/", "referee/demo/"),
        "referee/extras/aiotbench/model_file.py",
        "referee/service/display/photograph.py",
    ),
}

# These speak to a terminal: the command lines, and programs that others start.
COMMAND_LINE = (
    "referee/cli.py",
    "referee/commands/",
    "referee/__main__.py",
    *(f"referee/extras/{extra}/commands/" for extra in EXTRAS),
    "referee/extras/stations/pages.py",
    "referee/programs/forked.py",
    "referee/programs/progress.py",
    "referee/programs/terminal.py",
    "referee/demo/camera_device.py",
    "referee/demo/device.py",
    "referee/demo/disturber.py",
    "power/cli.py",
    "power/commands/",
    "power/__main__.py",
    "power/emulator/process.py",
    "power/live/__main__.py",
    "power/live/terminal.py",
    "client_sample/",
)

# Pure rules may use these: none knows a clock, a disk, a network or chance.
PURE = {
    *("__future__", "bisect", "collections", "csv", "dataclasses", "datetime", "enum", "functools"),
    *(
        "hashlib",
        "heapq",
        "itertools",
        "json",
        "math",
        "operator",
        "random",
        "re",
        "typing",
        "unicodedata",
        "wcwidth",  # a table of letters
    ),
    *("types", "numbers", "fractions", "decimal", "statistics", "string", "numpy"),
    "urllib.parse",  # No other part of urllib is pure.
}
# Other projects' evaluators, which only compute, the finder of the installed one, warnings to the
# caller, text in memory, and the number of this process, by which a copy knows that it is one.
PURE_SCORING = PURE | {"pycocotools", "contextlib", "io", "importlib", "warnings", "os"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "breakpoint"}
IMPURE_METHODS = {"now", "utcnow", "today", "sleep", "monotonic", "read_text", "write_text"}


@cache
def sources() -> dict[str, ast.Module]:
    """Return the syntax tree of every source file by its path from the root."""
    found = {}
    for package in ("referee", "power", "client_sample"):
        for path in sorted((ROOT / package).rglob("*.py")):
            found[path.relative_to(ROOT).as_posix()] = tree_of(path)
    return found


def module_name(path: str) -> str:
    """Return the module that a file is."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports(tree: ast.AST, names: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield (line, module) of every import below a node, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield node.lineno, whole if whole in names else base


@cache
def modules() -> frozenset[str]:
    """Return the names of all modules of the project."""
    return frozenset(module_name(path) for path in sources())


@cache
def all_imports() -> tuple[tuple[str, int, str], ...]:
    """Return (file, line, module imported) of the whole project."""
    return tuple(
        (path, line, name)
        for path, tree in sources().items()
        for line, name in imports(tree, modules())
    )


def within(path: str, places: tuple[str, ...]) -> bool:
    """Tell whether a file is one of these, or lies in one of these folders."""
    return any(path == place or (place[-1] == "/" and path.startswith(place)) for place in places)


def part_of(module: str) -> str:
    """Return the part of the referee that a module belongs to; '' is the package itself."""
    return module.partition(".")[2].partition(".")[0]


def test_the_walk_sees_the_project():
    """The walk finds the project's files, so the other tests check something."""
    assert len(sources()) > 50
    assert ("referee.core.states", "referee.errors") in {
        (module_name(path), name) for path, _, name in all_imports()
    }


def test_every_part_has_its_place():
    """The table of layers has each part of the referee."""
    parts = {part_of(module_name(path)) for path in sources() if path.startswith("referee/")}
    assert set() == parts - LAYERS.keys() - PROGRAMS - {"", "extras"}
    assert EXTRAS.keys() == {extra_of(name) for name in modules()} - {""}


def test_imports_point_one_way():
    """errors ← core ← scoring, store ← service ← web ← programs; no arrow points back."""
    wrong = []
    for path, line, name in all_imports():
        if not path.startswith("referee/") or name.partition(".")[0] != "referee":
            continue
        part, wanted = part_of(module_name(path)), part_of(name)
        if is_program(path) or path == LIBRARY or wanted in ("", part):
            continue
        if wanted not in (LAYERS["service"] | {"service"} if part == "extras" else LAYERS[part]):
            wrong.append(f"{path}:{line} imports {name}")
    assert [] == wrong


def extra_of(module: str) -> str:
    """Return the name of the extra that a module belongs to, or '' if it belongs to none."""
    return module.split(".")[2] if module.startswith("referee.extras.") else ""


def is_program(path: str) -> bool:
    """Tell whether a file of the referee belongs to a program, which may import everything."""
    module = module_name(path)
    extra = extra_of(module)
    if extra:
        return room_of(module, f"referee.extras.{extra}") in EXTRAS[extra]
    return part_of(module) in PROGRAMS


def test_the_contest_knows_no_extra():
    """No file outside the extras imports one."""
    wrong = [
        f"{path}:{line} imports {name}"
        for path, line, name in all_imports()
        if name.startswith("referee.extras") and not path.startswith("referee/extras/")
    ]
    assert [] == wrong


def test_an_extra_knows_no_other_one_and_its_rules_none_of_its_programs():
    """An extra imports no other extra, and from commands only what commands share."""
    wrong = []
    for path, line, name in all_imports():
        extra, wanted = extra_of(module_name(path)), extra_of(name)
        if not extra:
            continue
        downwards = wanted and not is_program(path) and is_program(f"{name.replace('.', '/')}.py")
        unshared = name.startswith("referee.commands.") and name not in SHARED_BY_COMMANDS
        if wanted not in ("", extra) or downwards or unshared:
            wrong.append(f"{path}:{line} imports {name}")
    assert [] == wrong


def test_the_package_itself_imports_nothing():
    """`import referee` and `import referee.core` import nothing else; the library loads by name."""
    parts = LAYERS.keys() - {part_of(module_name(LIBRARY))}
    paths = ["referee/__init__.py", *(f"referee/{part}/__init__.py" for part in parts)]
    found = [
        name
        for path in paths
        if path in sources()
        for _, name in imports(sources()[path], modules())
        if name != "__future__"
    ]
    assert [] == found


def test_power_stands_alone():
    """The meter's package imports nothing of the referee."""
    wrong = [
        f"{path}:{line} imports {name}"
        for path, line, name in all_imports()
        if path.startswith("power/") and name.partition(".")[0] in ("referee", "client_sample")
    ]
    assert [] == wrong


def test_the_referee_sees_only_the_meters_values():
    """Only the programs know a driver, a transport or the emulator."""
    wrong = []
    for path, line, name in all_imports():
        if not path.startswith("referee/") or name.partition(".")[0] != "power":
            continue
        part = part_of(module_name(path)).replace("extras", "service")
        if not is_program(path) and name not in POWER.get(part, set()):
            wrong.append(f"{path}:{line} imports {name}")
    assert [] == wrong


def room_of(module: str, part: str) -> str:
    """Return the room of a part that a module belongs to; '' is the part itself, or another."""
    return module.removeprefix(f"{part}.").partition(".")[0] if module.startswith(part) else ""


@pytest.mark.parametrize("part", ROOMS)
def test_rooms_know_only_the_rooms_below_them(part):
    """Inside a part a room imports only the rooms that its row in `ROOMS` names."""
    rooms = ROOMS[part]
    wrong = []
    for path, line, name in all_imports():
        room, wanted = room_of(module_name(path), part), room_of(name, part)
        if room in rooms and wanted not in {"", room, *rooms[room]}:
            wrong.append(f"{path}:{line} imports {name}")
    assert [] == wrong


def test_no_command_uses_another():
    """Commands do not import each other; what they share is named in `SHARED_BY_COMMANDS`."""
    wrong = []
    for path, line, name in all_imports():
        for folder in ("referee.commands", "power.commands"):
            module = module_name(path)
            if not module.startswith(f"{folder}.") or not name.startswith(f"{folder}."):
                continue
            own, wanted = room_of(module, folder), room_of(name, folder)
            if own != wanted and f"{folder}.{wanted}" not in SHARED_BY_COMMANDS:
                wrong.append(f"{path}:{line} imports {name}")
    assert [] == wrong


@pytest.mark.parametrize("package", ONLY_IN)
def test_libraries_are_known_to_one_place(package):
    """SQLite, Flask, VISA and the like are each known to one folder."""
    wrong = [
        f"{path}:{line} imports {name}"
        for path, line, name in all_imports()
        if name.partition(".")[0] == package and not within(path, ONLY_IN[package])
    ]
    assert [] == wrong


@pytest.mark.parametrize(
    ("place", "allowed"),
    [
        # A warning to the caller reads none of these, nor does the collector of garbage, which asks
        # for other threads. The module ipaddress parses text and resolves no name; html escapes it.
        (
            "referee/core/",
            PURE | {"warnings", "gc", "threading", "contextlib", "ipaddress", "html"},
        ),
        ("referee/scoring/", PURE_SCORING),
        ("referee/extras/aiotbench/networks.py", PURE),
        ("referee/extras/aiotbench/ranking.py", PURE),
        ("referee/extras/aiotbench/rules.py", PURE),
        ("referee/extras/aiotbench/score.py", PURE),
        ("referee/extras/aiotbench/submission.py", PURE),
        ("referee/extras/ovic/rules/", PURE | {"PIL"}),
        # Pillow's pictures in memory and the CRC only compute.
        ("referee/tracks/", PURE | {"abc", "importlib", "pkgutil", "PIL", "binascii"}),
    ],
)
def test_pure_parts_import_pure_modules(place, allowed):
    """Rules and numbers import nothing that could read a clock, a disk or a network."""
    wrong = [
        f"{path}:{line} imports {name}"
        for path, line, name in all_imports()
        if path.startswith(place) and not {name, name.partition(".")[0]} & {"referee", *allowed}
    ]
    assert [] == wrong


@pytest.mark.parametrize(
    "place",
    ["referee/core/", "referee/scoring/", "referee/tracks/", "referee/extras/ovic/rules/"],
)
def test_pure_parts_call_nothing_impure(place):
    """Rules neither open files, nor print, nor ask for the time; chance comes from a seed."""
    wrong = []
    for path, tree in sources().items():
        if not path.startswith(place):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            last = called.rpartition(".")[2]
            chance = re.match(r"random\.(?!Random\b)", called)
            unseeded = last in ("default_rng", "Random") and not (node.args or node.keywords)
            if called in IMPURE_CALLS or last in IMPURE_METHODS or chance or unseeded:
                wrong.append(f"{path}:{node.lineno} calls {called}")
    assert [] == wrong


def test_only_the_command_line_speaks_to_a_terminal():
    """Only command lines print, exit or read arguments; everything else returns or raises."""
    wrong = []
    for path, tree in sources().items():
        if within(path, COMMAND_LINE):
            continue
        wrong += [
            f"{path}:{line} imports {name}"
            for line, name in imports(tree, modules())
            if name in ("argparse", "getpass", "readline")
        ]
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("print", "input", "sys.exit", "exit", "quit", "os._exit"):
                    wrong.append(f"{path}:{node.lineno} calls {called}")
    assert [] == wrong


def test_no_global_no_bare_except_no_assert():
    """No code uses `global`, a bare except or `assert`, which `python -O` drops."""
    wrong = []
    for path, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Global):
                wrong.append(f"{path}:{node.lineno} global")
            if isinstance(node, ast.ExceptHandler) and node.type is None:
                wrong.append(f"{path}:{node.lineno} bare except")
            if isinstance(node, ast.Assert):
                wrong.append(f"{path}:{node.lineno} assert")
    assert [] == wrong


def is_declaration(node: ast.stmt) -> bool:
    """Tell whether a statement only imports, defines, names a constant or documents."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    if isinstance(node, (*kinds, ast.Assign, ast.AnnAssign)):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if isinstance(node, ast.If):
        test = ast.unparse(node.test)
        if test == "__name__ == '__main__'":
            return True
        return test == "TYPE_CHECKING" and all(map(is_declaration, node.body + node.orelse))
    return False


def test_importing_a_module_does_nothing():
    """Module level has only imports, definitions, constants and `if __name__`."""
    wrong = [
        f"{path}:{node.lineno} {ast.unparse(node)[:60]}"
        for path, tree in sources().items()
        for node in tree.body
        if not is_declaration(node)
    ]
    assert [] == wrong


def test_no_module_imports_itself_round_about():
    """Imports make no circle, imports for types included."""
    graph: dict[str, set[str]] = {}
    for path, tree in sources().items():
        # An import inside a function is no circle: it exists to avoid one.
        shallow = ast.Module([n for n in tree.body if not isinstance(n, FUNCTIONS)], [])
        name = module_name(path)
        graph[name] = {used for _, used in imports(shallow, modules()) if used in modules()}
        graph[name].discard(name)
    finished: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail, name))
        if name not in finished:
            for used in sorted(graph[name]):
                visit(used, (*trail, name))
            finished.add(name)

    for name in sorted(graph):
        visit(name, ())
