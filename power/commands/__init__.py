# SPDX-License-Identifier: Apache-2.0
"""One module for each command of `python -m power`: `add_parser` and a function that runs it."""
