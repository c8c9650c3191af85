# SPDX-License-Identifier: Apache-2.0
"""Score a file of detections against ground truth, offline.

For example:

  referee score --ground-truth annotations.json --detections detections.json
"""

from referee.commands.score.command import run
from referee.commands.score.options import add_arguments

__all__ = ["add_arguments", "run"]
