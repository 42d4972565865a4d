"""The command `baselink`, which the wheel installs; `python -m baselink` runs it, too."""

from __future__ import annotations

import os
import signal
import sys

from ._baselink import command


def main() -> int:
    """Runs the command line. Returns the exit status."""
    # Ctrl-C must end the program at once, not at the next line of Python. If it was ignored, it stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # If a standard stream is closed, the next file that is opened would get its number.
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(opened)
    return command(["baselink", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
