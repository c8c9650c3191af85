# SPDX-License-Identifier: Apache-2.0
"""The teams of an event: registration, running order, attempts and slips."""
