# SPDX-License-Identifier: Apache-2.0
"""The contestants' protocol over HTTP."""
