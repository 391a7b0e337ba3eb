"""tools/mutate with a script as the test program: what kills a mutation, and what fails."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import time

import pytest

from stand_in import program

CMAKE = """cmake_minimum_required(VERSION 3.20)
project(stand_in NONE)
add_custom_command(OUTPUT test_one DEPENDS src/one.py
  COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/src/one.py test_one)
add_custom_target(all_tests ALL DEPENDS test_one)
"""
PRESETS = {
    "version": 6,
    "configurePresets": [{"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}],
}


@pytest.fixture
def mutate(run, write):
    """mutate({test: outcome}, row) -> (exit code, lines); the outcomes are those of the unchanged program, and the row
    changes them."""

    def go(outcomes, *words, name="broken", old="'passed'", new="'failed'", tests=("test_one",), page="", **more):
        write("rooms.txt", "")
        write("CMakeLists.txt", CMAKE)
        write("CMakePresets.json", json.dumps(PRESETS))
        write("src/one.py", program(**outcomes), is_program=True)
        row = {"file": "src/one.py", "old": old, "new": new, "why": "It is broken.", **more}
        lines = [f"{key} = {json.dumps(value)}" for key, value in (row | {"tests": list(tests)}).items()]
        write("tools/mutations/one.toml", "\n".join([f"[{name}]", *lines, ""]))
        write("docs/records/mistakes.md", page)
        return run("tools/mutate", *words)

    return go


def test_a_named_assertion_kills(mutate):
    code, lines = mutate({"A__a": "passed"})
    assert code == 0 and lines[-1] == "1 passed, 0 failed" and lines[-2].split() == ["broken", "killed", "by", "A.a"]


def test_a_survivor_is_red(mutate):
    code, lines = mutate({"A__a": "passed"}, old="sys.exit(", new="sys.exit(0 * ")
    assert code == 1 and lines[-1] == "0 passed, 1 failed" and lines[-2].endswith("SURVIVED")


def test_one_that_survives_now_and_then_is_red_where_each_run_must_kill_it(mutate):
    at_first = "'passed' if os.path.exists('run') else open('run', 'w').close() or 'failed'"
    assert mutate({"A__a": "passed"}, new=at_first)[0] == 0
    code, lines = mutate({"A__a": "passed"}, "--times", "3", new=at_first)
    assert code == 1 and lines[-2].endswith("SURVIVED run 2")
    assert mutate({"A__a": "passed"}, "--times", "3")[0] == 0


def test_an_exit_code_is_no_kill_and_a_crash_only_where_the_row_says_so(mutate):
    code, lines = mutate({"A__a": "passed"}, new="'crash'")
    assert code == 1 and lines[-2].endswith("ended by a crash in A.a, expected by an assertion")
    code, lines = mutate({"A__a": "passed"}, new="'crash'", ends="crash")
    assert code == 0 and lines[-2].endswith("killed by A.a (crash)")
    code, lines = mutate({"A__a": "passed"}, old="if failed else 0)", new="if True else 0)")
    assert code == 1 and "ended by a crash" in lines[-2]


def test_a_hang_is_ended(mutate, write, repository):
    write("tools/mutate", (repository / "tools/mutate").read_text().replace("limit = 60 + 10", "limit = 5 + 10"))
    code, lines = mutate({"A__a": "passed"}, new="'hang'")
    assert code == 1 and lines[-2].endswith("ended by a timeout in A.a, expected by an assertion")


def test_the_unchanged_tree_must_pass_and_the_filter_choose_a_test_that_runs(mutate):
    code, lines = mutate({"A__a": "passed", "A__b": "failed"})
    assert code == 1 and "mutate: the unchanged tree does not pass" in lines and lines[-1] == "0 passed, 1 failed"
    for outcomes, tests in (
        ({"A__a": "passed"}, "test_one B.*"),
        ({"A__a": "passed", "B__b": "skipped"}, "test_one B.*"),
    ):
        code, lines = mutate(outcomes, tests=[tests])
        assert code == 1 and "test_one: no test that runs is named B.*" in lines


def test_old_text_must_be_there_once(mutate):
    code, lines = mutate({"A__a": "passed", "A__b": "passed"})
    assert code == 1 and lines == ["broken: does not apply: src/one.py holds the old text 2 times, expected once"]
    assert mutate({"A__a": "passed"}, "--check") == (0, ["mutate: 1 rows"])


def test_the_page_of_mistakes_names_mutations_and_tests_that_are_there(mutate, write):
    write("tests/a_test.cpp", "TEST(A, A) {\nTEST(A, B) {\n")
    assert mutate({"A__A": "passed"}, "--check", page="| a | `broken` by `A.A` |", tests=("test_one A.A",)) == (
        0,
        ["mutate: 1 rows"],
    )
    for page, error in (
        ("`lost`", "no mutation lost"),
        ("of `A.C`", "no test A.C"),
        ("`broken` by `A.B`", "broken is not tested by A.B"),
    ):
        assert mutate({"A__A": "passed"}, "--check", page=page, tests=("test_one A.A",)) == (
            1,
            [f"docs/records/mistakes.md: {error}"],
        )


def test_what_the_processor_lacks_is_not_run(mutate):
    code, lines = mutate({"A__a": "passed"}, needs="wings")
    assert code == 0 and lines[-2:] == ["not run: broken: this processor has no wings", "0 passed, 0 failed"]


def test_rows_that_are_not_in_the_sample_or_that_the_time_does_not_do_for_are_counted_as_not_run(mutate):
    told = "not run: mutations: 0 of 1 rows: a sample, drawn by the commit; tools/long_checks mutations runs every row"
    code, lines = mutate({"A__a": "passed"}, "--sample", "5", "--until", f"{time.time() + 1000:.0f}")
    assert code == 0 and lines[-2:] == [told, "1 passed, 0 failed"]
    code, lines = mutate({"A__a": "passed"}, "--sample", "5", "--until", f"{time.time() - 1:.0f}")
    assert code == 0 and lines[-3:] == ["not run: mutations: 1 of 1 rows: the time is over", told, "0 passed, 0 failed"]


def test_the_sample_begins_with_what_the_change_touches(mutate, repository, write):
    mutate({"A__a": "passed"}, "--check")
    rows = {
        name: f'[{name}]\nwhy = "It is."\nfile = "src/one.py"\nold = "{old}"\nnew = "{new}"\ntests = ["test_one"]\n'
        for name, old, new in (("first", "'passed'", "'failed'"), ("second", "if failed else 0)", "if True else 1)"))
    }
    other = rows["second"].replace("src/one.py", "src/two.py").replace("[second]", "[third]")
    write("src/two.py", (repository / "src/one.py").read_text())
    for words in (("add", "-A"), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=repository, check=True)
    subprocess.run(["git", "update-ref", "refs/gate/passed", "HEAD"], cwd=repository, check=True)
    write("src/one.py", (repository / "src/one.py").read_text() + "# more\n")
    write("tools/mutations/one.toml", rows["first"] + rows["second"] + other)
    loader = importlib.machinery.SourceFileLoader("mutate_of_the_stand_in", str(repository / "tools/mutate"))
    module = sys.modules[loader.name] = importlib.util.module_from_spec(
        importlib.util.spec_from_loader(loader.name, loader)
    )
    loader.exec_module(module)
    assert [row.name for row in module.sample(module.load(repository / "tools/mutations"), 2)] == ["first", "second"]
