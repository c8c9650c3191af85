# SPDX-License-Identifier: Apache-2.0
"""A `Meter` out of a device that only measures power: what a driver gives, what becomes of it."""
