# SPDX-License-Identifier: Apache-2.0
"""A recording as it happens: a page with the curve, a picture in the terminal, and metrics."""
