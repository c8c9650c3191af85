# SPDX-License-Identifier: Apache-2.0
"""RAPL on a folder that looks like Linux's powercap."""

from __future__ import annotations

from pathlib import Path

import pytest

from power.errors import MeterError, MeterMismatch, MeterRefused, MeterReplyError, MeterUnreachable
from power.meters import rapl
from power.meters.rapl import RaplZone, find
from power.resource import Resource
from power.sampled.source import Tools

RANGE_UJ = 262_143_328_850


class Powercap:
    """A folder with zones, and a clock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now_s = 100.0
        for zone, name in (
            ("intel-rapl:0", "package-0"),
            ("intel-rapl:0:0", "core"),
            ("intel-rapl:1", "package-1"),
        ):
            (folder / zone).mkdir()
            (folder / zone / "name").write_text(name + "\n")
            (folder / zone / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")
            self.count(zone, 1000)

    def count(self, zone: str, microjoules: int | str) -> None:
        """Set a zone's counter."""
        (self.folder / zone / "energy_uj").write_text(f"{microjoules}\n")

    def open(self, address: str = "") -> RaplZone:
        """Open a zone of this folder."""
        options = {"folder": str(self.folder)}
        return RaplZone(Resource("rapl", address, options), Tools(clock=lambda: self.now_s))


@pytest.fixture
def machine(tmp_path: Path) -> Powercap:
    """Return a machine with two packages."""
    return Powercap(tmp_path)


def test_a_sample_is_the_mean_since_the_one_before(machine: Powercap) -> None:
    """The counter's growth over the time since is the power, and the span is that time."""
    zone = machine.open()
    machine.now_s += 0.5
    machine.count("intel-rapl:0", 1000 + 7_500_000)
    (sample,) = zone.read()
    assert (sample.at_s, sample.span_s, sample.power_w) == (100.5, 0.5, 15.0)
    assert sample.counter_wh == pytest.approx(7.5 / 3600)


def test_the_counter_begins_anew(machine: Powercap) -> None:
    """A counter that has begun anew goes on where it was."""
    machine.count("intel-rapl:0", RANGE_UJ - 1_000_000)
    zone = machine.open()
    machine.now_s += 1
    machine.count("intel-rapl:0", 2_000_000)
    (sample,) = zone.read()
    assert sample.power_w == pytest.approx(3.0)
    machine.now_s += 1
    machine.count("intel-rapl:0", 5_000_000)
    assert zone.read()[0].counter_wh == pytest.approx(6 / 3600)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (130e9, 2e3),  # in the middle of its range, as after a sleep
        (1e6, 0),  # just begun
        (RANGE_UJ - 1e9, 50e9),  # a fall that 1 kW does not explain
        (2e6, 131e9),  # a leap
    ],
)
def test_a_counter_that_starts_again_is_a_lost_sample(
    machine: Powercap, before: float, after: float
) -> None:
    """What the processor cannot have drawn is no power; the next sample says that one is lost."""
    machine.count("intel-rapl:0", int(before))
    zone = machine.open()
    machine.now_s += 0.1
    machine.count("intel-rapl:0", int(after))
    assert zone.read() == []
    machine.now_s += 0.1
    machine.count("intel-rapl:0", int(after) + 2_000_000)
    (sample,) = zone.read()
    assert (sample.power_w, sample.lost) == (pytest.approx(20.0), 1)


def test_a_fall_after_a_long_time_is_no_wrap(machine: Powercap) -> None:
    """In an hour the counter may have been full several times, so its fall tells nothing."""
    machine.count("intel-rapl:0", 130_000_000_000)
    zone = machine.open()
    machine.now_s += 3600
    machine.count("intel-rapl:0", 1_000_000)
    assert zone.read() == []


def test_a_socket_that_may_draw_more_than_1_kw_is_believed(machine: Powercap) -> None:
    """The rated power follows the zone's own limits, where these are higher."""
    (machine.folder / "intel-rapl:0" / "constraint_1_max_power_uw").write_text("764000000\n")
    assert machine.open().sampling.most_w == 1528.0
    assert machine.open("package-1").sampling.most_w == 1000.0


def test_no_time_is_no_sample(machine: Powercap) -> None:
    """Two looks at the same moment give no power."""
    assert machine.open().read() == []


@pytest.mark.parametrize(("address", "model"), [("", "package-0"), ("core", "core")])
def test_a_zone_has_a_name(machine: Powercap, address: str, model: str) -> None:
    """Without a name the first package measures; a sub-zone is found by its own name."""
    assert machine.open(address).identity.model == f"RAPL {model}"


def test_an_unknown_zone_is_refused_with_those_that_exist(machine: Powercap) -> None:
    """A zone that is not there is told with all that are."""
    with pytest.raises(MeterMismatch, match="'psys'; there are core, package-0, package-1"):
        machine.open("psys")


def test_a_machine_without_counters_says_so(tmp_path: Path) -> None:
    """A folder without a zone says that there is no RAPL."""
    with pytest.raises(MeterUnreachable, match="no energy counter"):
        RaplZone(Resource("rapl", "", {"folder": str(tmp_path)}), Tools())


def test_a_counter_for_root_alone_says_what_to_do(
    machine: Powercap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A counter that this user may not read is a sentence with the command that allows it."""

    def refuse(path: Path, encoding: str | None = None) -> str:
        if path.name == "energy_uj":
            raise PermissionError(13, "Permission denied")
        return original(path, encoding)

    original = Path.read_text
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(MeterRefused, match=r"sudo chmod a\+r .*/intel-rapl:0/energy_uj"):
        machine.open()
    seen = find(machine.folder)
    assert (seen.resources, len(seen.hints)) == ([], 3)


@pytest.mark.parametrize("content", ["", "abc", "1.5"])
def test_a_counter_that_is_no_number_is_an_error(machine: Powercap, content: str) -> None:
    """What is no whole number never becomes an energy."""
    zone = machine.open()
    machine.count("intel-rapl:0", content)
    with pytest.raises(MeterReplyError, match="no number"):
        zone.read()


def test_a_zone_that_goes_away_is_lost(machine: Powercap) -> None:
    """A counter that can no longer be read is a lost meter."""
    zone = machine.open()
    (machine.folder / "intel-rapl:0" / "energy_uj").unlink()
    with pytest.raises(MeterUnreachable):
        zone.read()


def test_zones_are_found(machine: Powercap) -> None:
    """The search lists every zone by its resource string."""
    assert find(machine.folder).resources == ["rapl:package-0", "rapl:package-1", "rapl:core"]


def test_wrong_options_are_refused_before_anything_is_opened() -> None:
    """An option that RAPL does not have is named."""
    with pytest.raises((ValueError, MeterError), match="no option 'channel'"):
        rapl.KIND.open(Resource("rapl", "", {"channel": "1"}), Tools())


@pytest.fixture
def two_sockets(machine: Powercap) -> Powercap:
    """Return a machine whose sockets both have cores, and whose first is shown twice."""
    for zone, name in (
        ("intel-rapl:1:0", "core"),
        ("intel-rapl:0:1", "dram"),
        ("intel-rapl-mmio:0", "package-0"),
    ):
        (machine.folder / zone).mkdir()
        (machine.folder / zone / "name").write_text(name + "\n")
        (machine.folder / zone / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")
        machine.count(zone, 1000)
    return machine


def test_zones_of_two_sockets_are_named_by_their_socket(two_sockets: Powercap) -> None:
    """Each zone is listed once, and its name opens that one."""
    seen = find(two_sockets.folder)
    assert seen.resources == [
        "rapl:package-0",
        "rapl:package-1",
        "rapl:package-0/core",
        "rapl:dram",
        "rapl:package-1/core",
    ]
    for name, zone in (("package-0/core", "intel-rapl:0:0"), ("package-1/core", "intel-rapl:1:0")):
        source = two_sockets.open(name)
        two_sockets.now_s += 1
        two_sockets.count(zone, 3_001_000)
        assert [sample.power_w for sample in source.read()] == [pytest.approx(3.0)]


def test_one_of_two_sockets_is_told(two_sockets: Powercap) -> None:
    """Identity, sampling and the list say that one of two sockets is measured."""
    source = two_sockets.open()
    assert source.identity.firmware.endswith("one of 2 sockets")
    assert source.sampling.machine_parts == 2
    assert "measures one of 2, package-0" in " ".join(find(two_sockets.folder).hints)


def test_a_machine_of_one_socket_says_nothing_of_sockets(tmp_path: Path) -> None:
    """A laptop with the zones of its package and of the whole system has one socket."""
    laptop = Powercap(tmp_path)
    (tmp_path / "intel-rapl:1" / "name").write_text("psys\n")
    assert "socket" not in laptop.open().identity.firmware
    assert find(tmp_path).hints == []


def zone(folder: Path, name: str, label: str) -> None:
    """Add a zone to a folder."""
    (folder / name).mkdir()
    (folder / name / "name").write_text(label + "\n")
    (folder / name / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")
    (folder / name / "energy_uj").write_text("1000\n")


def opened(folder: Path, address: str = "") -> RaplZone:
    """Open a zone of a folder."""
    return RaplZone(Resource("rapl", address, {"folder": str(folder)}), Tools())


def test_dies_with_a_counter_each_are_parts_of_the_machine(tmp_path: Path) -> None:
    """Where each die has a package of its own, one of them measures, and says of how many."""
    for socket, die in ((0, 0), (0, 1), (1, 0), (1, 1)):
        zone(tmp_path, f"intel-rapl:{2 * socket + die}", f"package-{socket}-die-{die}")
    source = opened(tmp_path)
    assert source.identity.model == "RAPL package-0-die-0"
    assert source.identity.firmware.endswith("one of 4 dies")
    assert source.sampling.machine_parts == 4
    assert opened(tmp_path, "package-1-die-1").identity.model == "RAPL package-1-die-1"
    (hint,) = find(tmp_path).hints
    assert "4 dies, and rapl: measures one of 4, package-0-die-0" in hint


def test_packages_of_one_name_are_two(tmp_path: Path) -> None:
    """Two zones of one interface are two counters, even if Linux gives both the same name."""
    zone(tmp_path, "intel-rapl:0", "package-0")
    zone(tmp_path, "intel-rapl:1", "package-0")
    assert find(tmp_path).resources == ["rapl:package-0", "rapl:intel-rapl:1"]
    assert opened(tmp_path).sampling.machine_parts == 2
    assert opened(tmp_path, "intel-rapl:1").sampling.machine_parts == 2


def test_the_second_interface_to_a_package_is_not_taken(machine: Powercap) -> None:
    """Of a package that mapped memory shows, too, the processor's own counter is read."""
    zone(machine.folder, "intel-rapl-mmio:0", "package-0")
    source = machine.open()
    machine.now_s += 1
    machine.count("intel-rapl:0", 5_001_000)
    assert [sample.power_w for sample in source.read()] == [pytest.approx(5.0)]


def test_a_rise_after_a_long_time_is_no_power(machine: Powercap) -> None:
    """The counter may have been full in between, so a small rise in two hours is no mean."""
    machine.count("intel-rapl:0", 100_000_000_000)
    source = machine.open()
    machine.now_s += 7200
    machine.count("intel-rapl:0", 130_000_000_000)
    assert source.read() == []
    machine.now_s += 0.1
    machine.count("intel-rapl:0", 130_002_000_000)
    assert [(sample.power_w, sample.lost) for sample in source.read()] == [(pytest.approx(20.0), 1)]


def test_a_package_whose_counter_stands_still_measures_nothing(machine: Powercap) -> None:
    """A second without a microjoule is an error; a shorter pause is part of the next mean."""
    source = machine.open()
    machine.now_s += 0.5
    assert source.read() == []
    machine.now_s += 0.5
    machine.count("intel-rapl:0", 10_001_000)
    assert [sample.power_w for sample in source.read()] == [pytest.approx(10.0)]
    machine.now_s += 1.1
    with pytest.raises(MeterReplyError, match="has stood at 10001000 for 1.1 s"):
        source.read()


def test_a_part_of_a_package_may_draw_nothing(machine: Powercap) -> None:
    """Graphics that are off draw 0 W, and that is a sample."""
    source = machine.open("core")
    machine.now_s += 2
    assert [sample.power_w for sample in source.read()] == [0.0]
