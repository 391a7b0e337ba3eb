"""tools/packages.sh: missing packages are installed, after asking, where somebody can answer. Scripts stand in for the
system's programs."""

import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))
from terminal import parts_of  # noqa: E402

CALL = f". {ROOT}/tools/packages.sh; install_packages run here missing more"


@pytest.fixture
def system(write, tmp_path):
    """system(user, with_sudo) -> the environment of a machine that has one package; sudo and apt-get log their
    arguments to a file."""

    def make(user, with_sudo=True):
        write("bin/id", f"#!/bin/sh\necho {user}\n", is_program=True)
        write(
            "bin/dpkg-query",
            '#!/bin/sh\nfor name; do :; done\n[ "$name" != here ] || printf "install ok installed"\n',
            is_program=True,
        )
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
    done = subprocess.run(
        ["/bin/bash", "-c", CALL], env=system(0), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr == "run: installing Debian packages: missing more\n"
    assert asked(tmp_path) == ["apt-get update -qq", "apt-get install -y -qq --no-install-recommends missing more"]


def test_nothing_is_asked_where_nobody_can_answer(system, tmp_path):
    done = subprocess.run(
        ["/bin/bash", "-c", CALL], env=system(1000), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
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
    done = subprocess.run(
        ["/bin/bash", "-c", CALL],
        env=system(1000, with_sudo=False),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == "run: not root and no sudo; install by hand: missing more\n"
    assert asked(tmp_path) == []


def test_nothing_is_said_when_nothing_is_missing(system, tmp_path):
    call = f". {ROOT}/tools/packages.sh; install_packages run here"
    done = subprocess.run(
        ["/bin/bash", "-c", call], env=system(1000), stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr == "" and asked(tmp_path) == []


def test_a_build_is_reported_when_it_begins():
    """Not at its end, when a pipe is full: it takes minutes."""
    call = f'. {ROOT}/tools/packages.sh; show_build "run: building"'
    with subprocess.Popen(["bash", "-c", call], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdin.write("ninja: Entering directory\n[1/9] Building CXX object a.o\n")
        process.stdin.flush()
        assert process.stderr.readline() == "run: building\n"
        process.stdin.write("[2/9] Building CXX object b.o\n")
        process.stdin.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def build(checkout):
    """What build_preset says, and what it builds, in a small project with real tools."""
    done = subprocess.run(
        ["bash", "-c", f". {ROOT}/tools/packages.sh; build_preset run release all"],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr, (checkout / "build/release/made").read_text()


@pytest.mark.parametrize("is_moved", [False, True])
def test_a_checkout_that_was_copied_or_moved_builds_in_its_own_place(tmp_path, is_moved):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    (first / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(small NONE)\n"
        "add_custom_command(OUTPUT made COMMAND ${CMAKE_COMMAND} -E copy "
        "${CMAKE_SOURCE_DIR}/source made DEPENDS ${CMAKE_SOURCE_DIR}/source)\n"
        "add_custom_target(all_of_it ALL DEPENDS made)\n"
    )
    (first / "CMakePresets.json").write_text(
        json.dumps(
            {
                "version": 3,
                "configurePresets": [
                    {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}
                ],
            }
        )
    )
    (first / "source").write_text("first")
    assert build(first)[1] == "first" and "configur" not in build(first)[0]
    (shutil.move if is_moved else shutil.copytree)(first, second)
    (second / "source").write_text("second")
    said, made = build(second)
    assert made == "second"
    assert f"build/release was configured in {first}, before this checkout was copied or moved" in said
    assert "configured in" not in build(second)[0]
    (tmp_path / "link").symlink_to(second)
    assert "configured in" not in build(tmp_path / "link")[0]  # another name of the same place
    assert is_moved or (first / "build/release/made").read_text() == "first"
