# SPDX-License-Identifier: Apache-2.0
"""Formats of answers, ground truth and lists: one grammar for posts and for files.

The package exports nothing. Import `ground_truth.read_ground_truth`,
`detections_file.read_detections`, `image_ids`, `truth_file.GroundTruthFile` for files, and
`answers` for posts.
"""
