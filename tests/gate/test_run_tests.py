"""tools/run_tests.py with small programs: counts, skips, and what fails."""

import subprocess
import time

import pytest

import run_tests
from stand_in import program


@pytest.fixture
def rooms(run, write):
    """rooms({room: program text}, rows) -> (exit code, lines)"""

    def go(programs, rows="one 0 library program always things\n", words=()):
        write("rooms.txt", "# rooms\n" + rows)
        for room, text in programs.items():
            write(f"build/dev/test_{room}", text, is_program=True)
        return run("tools/run_tests.py", *words)

    return go


def test_counts_come_last_and_skips_are_listed_with_their_reasons(rooms):
    code, lines = rooms({"one": program(A__a="passed", A__b="skipped", B__c="passed")})
    assert code == 0 and lines[-2:] == ["not run: one: A.b: this processor has no wings", "2 passed, 0 failed"]


def test_a_failing_test_and_a_crash_are_red(rooms):
    code, lines = rooms({"one": program(A__a="failed", A__b="passed")})
    assert code == 1 and lines[-1] == "1 passed, 1 failed" and "failed: one: A.a" in lines
    code, lines = rooms({"one": program(A__a="crash")})
    assert code == 1 and lines[-1] == "0 passed, 1 failed" and "failed: one: exit code -6" in lines


def test_a_room_without_its_program_is_red(rooms):
    code, lines = rooms(
        {"one": program(A__a="passed")}, "one 0 library program always things\ntwo 0 library program always things\n"
    )
    assert code == 1 and lines[-1] == "1 passed, 1 failed" and "failed: two: no program test_two" in lines


def test_a_room_without_a_test_is_red(rooms):
    for tests in ({}, {"A__a": "skipped"}):
        code, lines = rooms({"one": program(**tests)})
        assert code == 1 and lines[-1] == "0 passed, 1 failed" and "failed: one: no test has run" in lines


def test_a_folder_that_is_no_room_is_red(rooms, write):
    write("tests/lost/lost_test.cpp", "")
    code, lines = rooms({"one": program(A__a="passed")})
    assert code == 1 and lines[-1] == "1 passed, 1 failed" and any("lost: not in rooms.txt" in line for line in lines)


def test_a_program_that_hangs_is_ended_and_red(rooms, write, repository):
    runner = (repository / "tools/run_tests.py").read_text()
    write(
        "tools/run_tests.py",
        runner.replace("PROGRAM_SECONDS, PYTEST_SECONDS = 900, 2700", "PROGRAM_SECONDS, PYTEST_SECONDS = 1, 1"),
    )
    code, lines = rooms({"one": program(A__a="hang")})
    assert code == 1 and lines[-1] == "0 passed, 1 failed" and "failed: one: ended after 1 s without an end" in lines


def test_rooms_of_all_run_when_asked_for(rooms):
    programs = {"one": program(A__a="passed"), "two": program(A__a="passed", A__b="passed")}
    rows = "one 0 library program always things\ntwo 0 library program all things\n"
    assert rooms(programs, rows)[1][-1] == "1 passed, 0 failed"
    assert rooms(programs, rows, ["all"])[1][-1] == "3 passed, 0 failed"
    assert rooms(programs, rows, ["two"])[1][-1] == "2 passed, 0 failed"
    code, lines = rooms(programs, rows, ["three"])
    assert code == 2
    assert lines[-1].startswith("test: unknown room three; expected all, train, fuzz:TARGET or some of one, two")


def test_rooms_that_would_end_too_late_are_not_begun(rooms):
    programs = {"one": program(A__a="passed")}
    assert rooms(programs, words=["--until", f"{time.time() + 1000:.0f}"])[1][-1] == "1 passed, 0 failed"
    code, lines = rooms(programs, words=["--until", f"{time.time() + 10:.0f}"])
    assert code == 0 and lines[-2:] == ["not run: one (program): the time is over", "0 passed, 0 failed"]


def test_a_sample_takes_the_nearest_to_the_change(rooms, write, repository):
    rows = "".join(f"{name} 0 library program always things\n" for name in ("one", "two", "three"))
    for name in ("one", "two", "three"):
        write(f"src/{name}/{name}.cpp", f'#include "{name}/{name}.h"\n')
        write(f"src/{name}/{name}.h", "")
        write(f"tests/{name}/{name}_test.cpp", f'#include "{name}/{name}.h"\nTEST(A, a) {{}}\n')
    write("tools/packages.sh", 'build_preset() { echo "built $*"; }\n')
    programs = {name: program(A__a="passed") for name in ("one", "two", "three")}
    rooms(programs, rows)  # writes the files
    for words in (
        ("add", "-A"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all"),
        ("update-ref", "refs/gate/passed", "HEAD"),
    ):
        subprocess.run(["git", *words], cwd=repository, check=True)
    for changed in ("one", "two", "three"):
        write(f"src/{changed}/{changed}.cpp", f'#include "{changed}/{changed}.h"\n// more\n')
        code, lines = rooms(programs, rows, ["--sample", "1", "0"])
        assert code == 0 and f"built test dev test_{changed}" in lines and lines[-1] == "1 passed, 0 failed"
        assert any(line.startswith("not run: a sample of 1") for line in lines)
        write(f"src/{changed}/{changed}.cpp", f'#include "{changed}/{changed}.h"\n')


def test_some_files_of_a_room_may_skip_all_their_tests():
    skipped = [run_tests.Test("one: a", 0, "skipped", "the training half is not built")]
    assert run_tests.with_ending("one", skipped, 0, 1, may_skip_all=True) == skipped
    assert run_tests.with_ending("one", [], 0, 1, may_skip_all=True)[-1].outcome == "failed"
    assert run_tests.with_ending("one", skipped, 0, 1)[-1].outcome == "failed"
