# SPDX-License-Identifier: Apache-2.0
"""Read the referee's frames with a camera: in photographs, or in a whole session.

python -m client_sample.camera read photo.jpg
python -m client_sample.camera run --user me --password practice --model detector.tflite
"""

from __future__ import annotations

import argparse
import sys
from typing import List, Optional

from client_sample.client import INTERRUPTED, ClientError, say
from client_sample.escapes import print_escapes


def main(argv: Optional[List[str]] = None) -> int:
    """Run one of the two commands and return its exit code."""
    print_escapes()
    try:
        from client_sample.camera import live, read_command
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("cv2", "numpy"):
            raise
        say(
            f"{error.name} is missing. A camera needs it: "
            "pip install 'opencv-python-headless<5' numpy (the extra 'camera')"
        )
        return 2
    parser = argparse.ArgumentParser(
        prog="python -m client_sample.camera",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in (("read", read_command), ("run", live)):
        help_text = (module.__doc__ or "").partition("\n")[0]
        command = commands.add_parser(name, help=help_text, description=help_text)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    args = parser.parse_args(argv)
    try:
        return int(args.run(args))
    except (ClientError, KeyboardInterrupt) as error:
        say(str(error) or INTERRUPTED)
        return int(getattr(error, "exit_code", 1))


if __name__ == "__main__":
    sys.exit(main())
