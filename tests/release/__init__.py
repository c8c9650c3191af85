# SPDX-License-Identifier: Apache-2.0
"""A release: built twice from the commit, tried in empty environments, listed and summed."""
