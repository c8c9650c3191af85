# SPDX-License-Identifier: Apache-2.0
"""The OVIC track: validate, benchmark and score a TensorFlow Lite model."""
