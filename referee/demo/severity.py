# SPDX-License-Identifier: Apache-2.0
"""How bad the photographs of a screen are: what the simulated camera draws its numbers from.

All sizes refer to a photograph of 1280x960 pixels.
"""

from __future__ import annotations

from dataclasses import dataclass

Range = tuple[float, float]


@dataclass(frozen=True)
class Severity:
    """How bad a photograph is; each pair is a range from which every photograph draws its own.

    `fill` is the share of the photograph's width or height that the screen takes. `tilt_degrees`
    turn the camera away from the screen's axis, `roll_degrees` around it. `distortion` is the
    displacement in the photograph's corner, as a share of its distance from the middle; its sign is
    drawn too. `blur_px` is a Gaussian's sigma. `noise` is the standard deviation as a share of
    white. `cast` changes the gain of each colour by at most this share. `glare_spots` have a
    diameter of `glare_px` and add `glare` times white. `banding` is the depth of the dark bands of
    a flickering screen. `samples` are taken a pixel and axis: 1 aliases.
    """

    name: str
    fill: Range
    tilt_degrees: Range
    roll_degrees: Range
    distortion: Range
    blur_px: Range
    noise: Range
    gamma: Range
    cast: float
    gain: Range
    glare_spots: tuple[int, int]
    glare_px: Range
    glare: Range
    banding: Range
    samples: int
    jpeg_quality: tuple[int, int]


MILD = Severity(
    name="mild",
    fill=(0.78, 0.93),
    tilt_degrees=(0, 8),
    roll_degrees=(0, 3),
    distortion=(0, 0.02),
    blur_px=(0.4, 0.8),
    noise=(0.003, 0.012),
    gamma=(0.9, 1.1),
    cast=0.05,
    gain=(0.85, 1.05),
    glare_spots=(0, 1),
    glare_px=(40, 90),
    glare=(0.1, 0.4),
    banding=(0, 0.04),
    samples=2,
    jpeg_quality=(85, 95),
)
MEDIUM = Severity(
    name="medium",
    fill=(0.7, 0.92),
    tilt_degrees=(3, 18),
    roll_degrees=(0, 8),
    distortion=(0, 0.05),
    blur_px=(0.7, 1.2),
    noise=(0.01, 0.028),
    gamma=(0.82, 1.2),
    cast=0.12,
    gain=(0.65, 1.1),
    glare_spots=(0, 2),
    glare_px=(60, 130),
    glare=(0.3, 1.0),
    banding=(0, 0.1),
    samples=2,
    jpeg_quality=(68, 85),
)
HARD = Severity(
    name="hard",
    fill=(0.62, 0.9),
    tilt_degrees=(5, 28),
    roll_degrees=(0, 15),
    distortion=(0.01, 0.09),
    blur_px=(1.0, 1.8),
    noise=(0.025, 0.05),
    gamma=(0.7, 1.4),
    cast=0.2,
    gain=(0.5, 1.25),
    glare_spots=(1, 3),
    glare_px=(90, 190),
    glare=(0.6, 2.0),
    banding=(0.02, 0.2),
    samples=1,
    jpeg_quality=(50, 65),
)
SEVERITIES = {severity.name: severity for severity in (MILD, MEDIUM, HARD)}
