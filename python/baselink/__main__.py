"""The command `baselink`, as the wheel brings it: `python -m baselink` is the same."""

from __future__ import annotations

import os
import signal
import sys

from ._baselink import command


def main() -> int:
    """Does what the command line asks for. Returns the exit status."""
    # Ctrl-C ends the program, not the next line of Python. Where it was ignored, it is ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # No file may get the number of a standard stream that is closed.
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(opened)
    return command(["baselink", *sys.argv[1:]], sys.stdout is None)


if __name__ == "__main__":
    sys.exit(main())
