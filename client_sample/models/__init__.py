# SPDX-License-Identifier: Apache-2.0
"""A detector from a model's file: ONNX or TensorFlow Lite, by its shapes and its metadata."""
