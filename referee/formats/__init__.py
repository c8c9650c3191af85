# SPDX-License-Identifier: Apache-2.0
"""How answers, ground truth and lists are written: one grammar for what is posted and for files.

Import from the modules: `ground_truth.read_ground_truth`, `detections_file.read_detections`,
`image_ids`, `truth_file.GroundTruthFile`; `answers` for what is posted.
"""
