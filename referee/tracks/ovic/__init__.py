# SPDX-License-Identifier: Apache-2.0
"""OVIC's rules for a model and for its input; pure, without LiteRT."""
