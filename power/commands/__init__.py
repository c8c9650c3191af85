# SPDX-License-Identifier: Apache-2.0
"""The commands of `python -m power`, one module each: `add_parser`, and `run` to run it."""
