# SPDX-License-Identifier: Apache-2.0
"""The camera track for contestants: it finds the referee's frame in a photograph and reads it."""
