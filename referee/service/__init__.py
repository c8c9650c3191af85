# SPDX-License-Identifier: Apache-2.0
"""Use cases: what contestants, operators and the clock can make the referee do."""
