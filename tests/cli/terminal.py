"""The other side of a pseudo-terminal."""

import os


def parts_of(main):
    """Yields what a program writes to its terminal, as it arrives, until the program closes it."""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            return
        if not part:
            return
        yield part
