"""tools/release in a small stand-in of the repository: what it publishes, that it is the same bytes wherever it is
built, and what it refuses. tools/long_checks release makes the real one twice."""

import hashlib
import os
import shutil
import subprocess

import pytest

from conftest import ROOT

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(deberta VERSION 0.2.0 LANGUAGES CXX)
add_executable(deberta main.cpp)
target_compile_options(deberta PRIVATE -O1 -fPIC -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
                       -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(deberta PRIVATE -fcf-protection=full)
endif()
target_link_options(deberta PRIVATE -pie -Wl,-z,relro,-z,now,-z,noexecstack)
file(WRITE ${PROJECT_BINARY_DIR}/deberta.cdx.json "{}")
install(TARGETS deberta)
install(FILES page.md TYPE DOC)
set(CPACK_PACKAGE_CONTACT nobody)
set(CPACK_DEBIAN_FILE_NAME deberta.deb)
include(CPack)
"""
PRESETS = """{"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja",
"binaryDir": "${sourceDir}/build/release", "cacheVariables": {"CMAKE_BUILD_TYPE": "Release"}}]}"""
CHANGES = "# Changes\n\n## 0.2.0 (not released yet)\n\n- A word.\n\n## 0.1.0\n\n- The first.\n"
MAIN = """#include <cstdio>
#include <cstring>
int main(int, char** words) {
  char text[64];
  strcpy(text, words[0]);
  return std::printf("%s %s", text, __FILE__);
}
"""


@pytest.fixture
def checkout(write, repository):
    for name in ("release", "check_product.py"):
        shutil.copy(ROOT / "tools" / name, repository / "tools" / name)
    for name, text in (
        ("CMakeLists.txt", PROJECT),
        ("CMakePresets.json", PRESETS),
        ("CHANGELOG.md", CHANGES),
        ("main.cpp", MAIN),
        ("page.md", "a page\n"),
    ):
        write(name, text)
    commit(repository)
    return repository


def commit(folder):
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    when = {"GIT_AUTHOR_DATE": "@1700000000 +0000", "GIT_COMMITTER_DATE": "@1700000000 +0000"}
    for words in ["add", "-A"], [*who, "commit", "-qm", "all"]:
        subprocess.run(["git", *words], cwd=folder, check=True, env=os.environ | when)


def made(checkout, out, *words, place=None):
    place = place or out.parent
    place.mkdir(exist_ok=True)
    return subprocess.run(
        [checkout / "tools/release", out, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"TMPDIR": str(place), "PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_it_publishes_packages_components_notes_and_sums_and_the_same_bytes_again(checkout, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out")
    for out, place in ("first", "a"), ("second", "another_longer_place"):
        done = made(checkout, folder / out, "--parts", "program", place=folder / place)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "0.2.0 no date: this is a candidate" in done.stdout
    first, second = ({path.name: path.read_bytes() for path in (folder / out).iterdir()} for out in ("first", "second"))
    assert first == second
    archive = next(name for name in first if name.endswith(".tar.gz"))
    assert set(first) == {archive, "deberta.deb", "deberta-0.2.0.cdx.json", "NOTES.md", "SHA256SUMS"}
    assert first["NOTES.md"].decode() == "## 0.2.0 (not released yet)\n\n- A word.\n"
    for line in first["SHA256SUMS"].decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(first[name]).hexdigest() == digest
    listed = subprocess.run(
        ["tar", "-tvf", folder / "first" / archive, "--utc"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert all(" 0/0 " in line and " 2023-11-14 22:13 " in line for line in listed) and len(listed) > 3
    names = [line.split()[-1] for line in listed]
    assert names == sorted(names) and any(name.endswith("/bin/deberta") for name in names)


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("page.md", "made in @PLACE@\n", "page.md: names a folder of its build: "),
        ("CMakeLists.txt", PROJECT.replace("-z,now", "-z,lazy"), "bin/deberta: expected -z now, got none"),
    ],
)
def test_what_names_the_build_or_is_not_hardened_is_not_published(checkout, write, tmp_path_factory, name, text, said):
    folder = tmp_path_factory.mktemp("out")
    write(name, text.replace("@PLACE@", str(checkout)))
    commit(checkout)
    done = made(checkout, folder / "out", "--parts", "program")
    assert done.returncode == 1 and said in done.stderr and not (folder / "out").exists()


def test_it_refuses_changed_files_full_folders_versions_without_notes_and_unknown_parts(
    checkout, write, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("out")
    (folder / "file").touch()
    assert "expected a new or empty folder, got one with files" in made(checkout, folder).stderr
    done = made(checkout, folder / "out", "--parts", "program,plugin")
    assert done.returncode == 2 and "expected some of program, trainer, wheel, models, got plugin" in done.stderr
    write("CHANGELOG.md", "# Changes\n")
    assert "expected a clean checkout, got changed files" in made(checkout, folder / "out").stderr
    commit(checkout)
    assert "expected a section ## 0.2.0, got none" in made(checkout, folder / "out").stderr
