# SPDX-License-Identifier: Apache-2.0
"""The judging of one TensorFlow Lite model: validated, benchmarked, its accuracy computed."""
