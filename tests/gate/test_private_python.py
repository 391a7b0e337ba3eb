"""The private environment has what was requested and nothing left over from another version. The lists here name no
package."""

import os
import platform
import subprocess
import sys


def test_a_room_adds_its_packages_and_a_changed_list_starts_anew(repository, write):
    def python(*rooms):
        done = subprocess.run(
            [sys.executable, repository / "tools/private_python.py", *rooms], capture_output=True, text=True, check=True
        )
        assert done.stdout == f"{repository}/.venv/bin/python\n"
        return [line.split("packages of ")[1] for line in done.stderr.splitlines()]

    write("tests/requirements.txt", "# none\n")
    write("tests/one/requirements.txt", "# none of one\n")
    assert python() == ["tests/requirements.txt into .venv"]
    assert python("two") == []  # this room has no list
    assert python("one") == ["tests/one/requirements.txt into .venv"]
    assert python() == [] == python("one")
    write("tests/one/requirements.txt", "# none of one, changed\n")
    assert python() == ["tests/requirements.txt into .venv"]


def test_where_there_is_no_wheel_one_message_says_so_and_nothing_counts_as_installed(repository, write):
    write("train/requirements.txt", "torch==2.11.0\n")
    done = subprocess.run(
        [sys.executable, repository / "tools/private_python.py", "--only", "train"],
        capture_output=True,
        text=True,
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""},
    )
    assert (done.returncode, done.stdout) == (1, "")
    last = done.stderr.splitlines()[-1]
    wanted = (
        f"{repository}/train/requirements.txt: expected packages for Python "
        f"{sys.version_info.major}.{sys.version_info.minor} on {platform.system()}"
    )
    assert last.startswith(
        f"private_python: {wanted} {platform.machine()}, got code 1 from {repository}/.venv/bin/pip; "
    )
    assert last.endswith("elsewhere build without the training half (-DDEBERTA_TRAIN=OFF)")
    assert not (repository / ".venv/installed.sha256").exists()
    assert not list(repository.glob(".venv/lib/python3*/site-packages/torch"))
