# SPDX-License-Identifier: Apache-2.0
"""Score logs of AIoTBench: valid images per second (VIPS) and valid operations per second (VOPS).

For example:

  referee aiotbench score board.csv
  referee aiotbench score board.csv --configuration board.toml --chart board.svg
  referee aiotbench score part1.csv part2.csv --json

'python -m client_sample.aiotbench' writes such logs on a board. docs/aiotbench.md shows both.
"""

from referee.extras.aiotbench.commands.aiotbench.command import run
from referee.extras.aiotbench.commands.aiotbench.options import add_arguments

__all__ = ["add_arguments", "run"]
