# SPDX-License-Identifier: Apache-2.0
"""Scores as pure numbers: detection mAP, mAP per watt-hour, and the uncertainty of both."""
