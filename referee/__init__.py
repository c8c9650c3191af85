# SPDX-License-Identifier: Apache-2.0
"""The referee of the Low-Power Image Recognition Challenge: mAP per watt-hour, measured."""

__version__ = "1.0.0"
