"""The other side of a pseudo-terminal."""
import os


def parts_of(main):
    """What a program writes to its terminal, as it comes, until it has closed it."""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            return
        if not part:
            return
        yield part
