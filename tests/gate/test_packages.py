"""tools/packages.sh: missing packages are installed, after asking, where somebody can answer. Scripts stand in for the system's programs."""
import os
import pathlib
import pty
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))
from terminal import parts_of  # noqa: E402

CALL = f". {ROOT}/tools/packages.sh; install_packages run here missing more"


@pytest.fixture
def system(write, tmp_path):
    """system(user, with_sudo) -> the environment of a machine that has one package; sudo and apt-get log their arguments to a file."""
    def make(user, with_sudo=True):
        write("bin/id", f"#!/bin/sh\necho {user}\n", is_program=True)
        write("bin/dpkg-query", '#!/bin/sh\nfor name; do :; done\n[ "$name" != here ] || printf "install ok installed"\n', is_program=True)
        write("bin/apt-get", f'#!/bin/sh\necho "apt-get $*" >>{tmp_path}/asked\n', is_program=True)
        if with_sudo:
            write("bin/sudo", f'#!/bin/sh\necho "sudo $*" >>{tmp_path}/asked\n', is_program=True)
        for name in ("sh", "bash"):
            (tmp_path / "bin" / name).symlink_to(f"/bin/{name}")
        return {"PATH": str(tmp_path / "bin")}
    return make


def asked(tmp_path):
    path = tmp_path / "asked"
    return path.read_text().splitlines() if path.exists() else []


def in_terminal(environment, answer):
    """(exit code, what the user sees on the terminal)"""
    main, worker = pty.openpty()
    process = subprocess.Popen(["/bin/bash", "-c", CALL], stdin=worker, stdout=worker, stderr=worker, env=environment)
    os.close(worker)
    os.write(main, answer.encode())
    seen = b"".join(parts_of(main))
    os.close(main)
    return process.wait(timeout=60), seen.decode()


def test_root_installs_what_is_missing_and_says_so(system, tmp_path):
    done = subprocess.run(["/bin/bash", "-c", CALL], env=system(0), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "run: installing Debian packages: missing more\n"
    assert asked(tmp_path) == ["apt-get update -qq", "apt-get install -y -qq --no-install-recommends missing more"]


def test_nothing_is_asked_where_nobody_can_answer(system, tmp_path):
    done = subprocess.run(["/bin/bash", "-c", CALL], env=system(1000), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "run: installing Debian packages: missing more\n"
    assert asked(tmp_path)[0] == "sudo apt-get update -qq"


@pytest.mark.parametrize("answer", ["\n", "y\n", "yes\n"])
def test_a_terminal_is_asked_once(system, tmp_path, answer):
    code, seen = in_terminal(system(1000), answer)
    assert code == 0 and seen.count("install these Debian packages with sudo? missing more [Y/n]") == 1
    assert len(asked(tmp_path)) == 2


def test_no_is_an_answer(system, tmp_path):
    code, seen = in_terminal(system(1000), "n\n")
    assert code == 1 and "run: install by hand: missing more" in seen and asked(tmp_path) == []


def test_without_sudo_the_packages_are_named(system, tmp_path):
    done = subprocess.run(["/bin/bash", "-c", CALL], env=system(1000, with_sudo=False), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "run: not root and no sudo; install by hand: missing more\n" and asked(tmp_path) == []


def test_nothing_is_said_when_nothing_is_missing(system, tmp_path):
    call = f". {ROOT}/tools/packages.sh; install_packages run here"
    done = subprocess.run(["/bin/bash", "-c", call], env=system(1000), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and asked(tmp_path) == []
