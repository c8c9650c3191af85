# SPDX-License-Identifier: Apache-2.0
"""Work with a meter on the bench: record, choose ranges, self-test."""
