#!/usr/bin/env python3
"""processor.py BINARY: what the program calls this processor, and the levels of kernels that it cannot run, as
`missing: ...`."""

import json
import subprocess
import sys

facts = json.loads(
    subprocess.run([sys.argv[1], "info", "--format", "jsonl"], capture_output=True, text=True, check=True).stdout
)
# names all levels
wrong = subprocess.run([sys.argv[1], "info", "--kernels", "?"], capture_output=True, text=True).stderr
levels = [
    name for name in wrong.partition("expected ")[2].partition(", got")[0].split(", ") if name not in ("auto", "check")
]
missing = [level for level in levels if level not in facts["kernels_available"]]
print(f"{facts['processor']}, {facts['processors']} processors")
if missing:
    print(f"missing: {', '.join(missing)}")
