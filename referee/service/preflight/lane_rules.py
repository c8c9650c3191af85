# SPDX-License-Identifier: Apache-2.0
"""The rules about a lane: its meter as configured and as connected, and its display."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta

from power.emulated import is_emulated
from power.errors import MeterRefused
from power.meter import Identity
from power.wt310.models import model_of, require_settable, require_settable_by_any
from referee.service.preflight.finding import CheckResult, fail, note, ok, warn
from referee.service.preflight.surroundings import LaneFacts
from referee.service.setup.lane_config import MeterSection
from referee.service.setup.lane_words import display_path, of_lane

_CALIBRATED_FOR = timedelta(days=365)


def meter_findings(facts: LaneFacts, mode: str, today: date) -> Iterator[CheckResult]:
    """Judge a lane's meter as it is configured and connected."""
    meter = facts.meter

    def item(name: str) -> str:
        return of_lane(name, facts.name)

    if meter.resource == "none":
        remedy = "Set [meter] resource; without energy there is no score."
        yield warn("meter", item("link"), "no meter is configured", remedy)
        return
    yield from _link(facts, item("link"))
    if meter.other_kind:
        yield _not_official(meter, item("official"), mode)
        return
    yield _ranges(meter, facts.identity, item("ranges"))
    if is_emulated(meter.resource, facts.identity):
        yield _emulated(meter, facts.identity, item("emulated"), mode)
    if meter.emulated:
        return
    yield _calibration(meter.calibrated, item("calibration"), today)
    yield _room(meter.ambient_c, item("room"))


def identity_text(identity: Identity) -> str:
    """Return maker, model, serial number and firmware in one line."""
    return (
        f"{identity.maker} {identity.model}, serial {identity.serial}, firmware {identity.firmware}"
    )


def shared_meter_findings(lanes: Sequence[LaneFacts]) -> Iterator[CheckResult]:
    """Judge whether one meter answers in several lanes; one address can be spelled in many ways.

    A meter is known by its model and its serial number. Each lane of such a meter fails.
    """
    of_meter: defaultdict[tuple[str, str], list[LaneFacts]] = defaultdict(list)
    for facts in lanes:
        known = facts.identity
        if known is not None and known.serial:
            of_meter[known.model, known.serial].append(facts)
    for (model, serial), sharing in of_meter.items():
        if len(sharing) == 1:
            continue
        places = " and ".join(f"lane '{lane.name}' ({lane.meter.resource})" for lane in sharing)
        text = f"one meter answers in {places}: {model}, serial {serial}"
        remedy = (
            "Give each [[lane]] the resource of a meter of its own, and start the referee again if "
            "it runs. 'python -m power identify' tells which meter answers at an address."
        )
        for facts in sharing:
            item = of_lane("own meter", facts.name)
            yield replace(fail("meter", item, text, remedy), lane=facts.lane)


def unasked_meter_findings(lanes: Sequence[LaneFacts]) -> Iterator[CheckResult]:
    """Judge, before a referee runs, lanes whose meter nobody has asked: it may be another lane's.

    While one runs, the link of such a meter fails by itself.
    """
    real = [one for one in lanes if one.meter.resource not in ("none", "emulated")]
    for facts in real:
        others = [
            f"lane '{other.name}' ({other.meter.resource})"
            for other in real
            if other is not facts and other.meter.other_kind == facts.meter.other_kind
        ]
        if facts.identity is not None or not others:
            continue
        text = (
            f"{facts.meter.resource} was not asked which meter it is: it may be that of "
            f"{' or '.join(others)}"
        )
        remedy = "Switch the meters on, and run 'referee check' without --quick."
        item = of_lane("own meter", facts.name)
        yield replace(fail("meter", item, text, remedy), lane=facts.lane)


def display_finding(facts: LaneFacts, *, runs: bool) -> CheckResult:
    """Judge the display of a lane; only a running referee has a page that can be asked."""
    item, display = of_lane("screen", facts.name), facts.display
    page = display_path(facts.lane)
    if not runs:
        remedy = (
            f"Start 'referee serve', open the console's page {page} on the second monitor, and "
            "check again."
        )
        return note("display", item, "the referee does not run", remedy)
    if display is None:
        remedy = "Restart the referee: it runs with another track than this configuration."
        return fail("display", item, "the referee has no display", remedy)
    if display.fault:
        remedy = f"Open the console's page {page} on the second monitor, and click on it."
        return fail("display", item, display.fault, remedy)
    return ok("display", item, display.text)


def _link(facts: LaneFacts, item: str) -> Iterator[CheckResult]:
    if facts.link == "ok" and not facts.link_text:
        known = facts.identity
        yield ok("meter", item, "answers" if known is None else identity_text(known))
    elif facts.link == "none":
        remedy = "Start the referee again with its meter."
        yield warn("meter", item, "the referee runs without a meter", remedy)
    elif facts.link:
        said = facts.link_text or "it does not answer yet"
        remedy = (
            "Look at its cable and its power, and whether another program talks to it. "
            "'python -m power identify' tells more while the referee is stopped."
        )
        yield fail("meter", item, with_address(facts.meter.resource, said), remedy)


def with_address(resource: str, said: str) -> str:
    """Return what is said of the meter with its address, which most of its errors tell already."""
    return said if resource in said else f"{resource}: {said}"


def _ranges(meter: MeterSection, identity: Identity | None, item: str) -> CheckResult:
    """Judge the settings by the model that answers, or by all models while none is known."""
    try:
        if identity is None:
            require_settable_by_any(meter.settings)
        else:
            require_settable(meter.settings, model_of(identity))
    except (MeterRefused, ValueError) as error:
        remedy = (
            "Correct it in [meter] or in its [[lane]]; 'python -m power range' proposes ranges."
        )
        return fail("meter", item, str(error), remedy)
    if meter.voltage_range_v is None or meter.current_range_a is None:
        remedy = "Set voltage_range_v and current_range_a: auto-range loses energy at load steps."
        return warn("meter", item, "auto-range", remedy)
    return ok("meter", item, f"{meter.voltage_range_v:g} V, {meter.current_range_a:g} A")


def _emulated(meter: MeterSection, identity: Identity | None, item: str, mode: str) -> CheckResult:
    text = "EMULATED: a program plays the meter"
    remedy = (
        "No energy will be official. Set resource in [meter] or in its [[lane]] to that of the "
        "real meter."
    )
    if not is_emulated("", identity) and not meter.emulated:
        text = f"EMULATED: {meter.resource} is an address of this machine, where no meter is"
        remedy += (
            " If it is a tunnel or a bridge to a real meter, acknowledge this, and let each energy "
            "stand by a review on the page Results."
        )
    if mode == "practice":
        return ok("meter", item, text)
    return warn("meter", item, text, remedy)


def _not_official(meter: MeterSection, item: str, mode: str) -> CheckResult:
    text = f"{meter.resource} is not an official meter"
    if mode == "practice":
        return ok("meter", item, f"{text}: good enough for a rehearsal")
    remedy = "Each energy will be SUSPECT. Set [meter] resource to that of a WT310."
    if meter.allow_unofficial:
        return warn("meter", item, f"{text}, and [meter] allow_unofficial permits it", remedy)
    return fail("meter", item, text, f"{remedy} Or permit it: allow_unofficial = true.")


def _calibration(calibrated: date | None, item: str, today: date) -> CheckResult:
    limits = "The meter's limits of error hold for 12 months."
    if calibrated is None:
        return warn("meter", item, "not recorded", f"Set [meter] calibrated. {limits}")
    if calibrated > today:
        remedy = "Correct [meter] calibrated, or the laptop's clock."
        return fail("meter", item, f"{calibrated} lies in the future", remedy)
    if today - calibrated > _CALIBRATED_FOR:
        remedy = f"Have it calibrated, or use another one. {limits}"
        return warn("meter", item, f"{calibrated}: longer ago than 12 months", remedy)
    return ok("meter", item, str(calibrated))


def _room(ambient_c: float | None, item: str) -> CheckResult:
    if ambient_c is None:
        remedy = "Set [meter] ambient_c: a warm room makes the energy uncertain."
        return warn("meter", item, "not recorded", remedy)
    return ok("meter", item, f"{ambient_c} °C")
