#!/usr/bin/env python3
"""Fails when the program is larger than 15 MB or links Python or torch."""

import pathlib
import subprocess
import sys

MAX_BYTES = 15_000_000


def main() -> int:
    binary = pathlib.Path(sys.argv[1])
    size = binary.stat().st_size
    needs = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout
    # without the addresses, whose digits may look like a name
    libraries = [line.split()[0] for line in needs.splitlines()]
    wrong = [name for name in libraries if "python" in name or "torch" in name or "c10" in name]
    if size > MAX_BYTES:
        wrong.append(f"{binary}: expected at most {MAX_BYTES} bytes, got {size}")
    print("\n".join(wrong) or f"product: {size / 1e6:.1f} MB, links no Python and no torch")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
