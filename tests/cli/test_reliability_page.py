"""docs/records/long-checks.md has a row for each part of the long checks, in their order."""

import re
import subprocess

from models import ROOT


def test_each_part_of_the_long_checks_has_its_row():
    parts = subprocess.run(
        [ROOT / "tools/long_checks", "--list"], capture_output=True, text=True, check=True
    ).stdout.split()
    rows = re.findall(
        r"^\| (\w+) \| `tools/long_checks (\w+)` \|", (ROOT / "docs/records/long-checks.md").read_text(), re.MULTILINE
    )
    assert rows == [(part, part) for part in parts]


def test_an_unknown_part_is_refused_before_anything_runs():
    done = subprocess.run([ROOT / "tools/long_checks", "tidi"], capture_output=True, text=True)
    assert done.returncode == 2 and "unknown part tidi; expected some of tidy clang clang19 asan" in done.stderr
