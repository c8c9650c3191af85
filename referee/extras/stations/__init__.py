# SPDX-License-Identifier: Apache-2.0
"""The joint board of several stations: it follows their feeds, and reads copied bundles."""
