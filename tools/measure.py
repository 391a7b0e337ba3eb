#!/usr/bin/env python3
"""measure.py COMMAND...: runs the command and prints its time and peak memory."""

import resource
import subprocess
import sys
import time

begin = time.monotonic()
code = subprocess.run(sys.argv[1:]).returncode
seconds = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(
    f"{seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processor, peak {used.ru_maxrss / 2**20:.2f} GiB",
    file=sys.stderr,
)
sys.exit(code)
