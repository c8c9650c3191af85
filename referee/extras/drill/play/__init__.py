# SPDX-License-Identifier: Apache-2.0
"""A drill of an event: a copy of its configuration, emulated meters, generated teams, faults."""
