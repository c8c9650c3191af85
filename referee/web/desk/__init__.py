# SPDX-License-Identifier: Apache-2.0
"""The operators' console over HTTP."""
