# SPDX-License-Identifier: Apache-2.0
"""Judge the energy of a run: pure rules over readings."""
