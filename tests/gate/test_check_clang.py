"""tools/check_clang.py in a stand-in repository: the syntax of sources that no early build compiles."""

import re
import shutil

import pytest

import checks
from conftest import ROOT

GOOD = '#include "fuzz.h"\n#include "one/thing.h"\nint main() { return one::thing(); }\n'


@pytest.fixture
def late(run, write):
    """late() -> (exit code, lines) of the check, over a fuzz target and an example"""
    if shutil.which("clang++-14") is None:
        pytest.skip("needs clang++-14")
    write("cmake/warnings.cmake", (ROOT / "cmake/warnings.cmake").read_text())
    write("src/one/thing.h", "#pragma once\nnamespace one {\nint thing();\n}\n")
    write("fuzz/fuzz.h", "#pragma once\n")
    write("fuzz/target.cpp", GOOD)
    write("examples/classify.cpp", "int main() {}\n")
    return lambda: run("tools/checks.py", "syntax")


def test_a_target_that_compiles_has_no_finding(late):
    assert late() == (0, ["", "clang: 2 sources, 0 with findings", "1 passed, 0 failed"])


@pytest.mark.parametrize(
    "old, new, wrong",
    [
        ("one::thing()", "two::thing()", "use of undeclared identifier 'two'"),
        ("{ return", "{ int shadow = 1.5; return", "implicit conversion"),
        ('#include "one/thing.h"', '#include "one/things.h"', "file not found"),
    ],
)
def test_a_name_that_has_changed_and_a_warning_are_red(late, write, old, new, wrong):
    write("fuzz/target.cpp", GOOD.replace(old, new))
    code, lines = late()
    assert code == 1 and "clang: 2 sources, 1 with findings" in lines and wrong in "\n".join(lines), lines


@pytest.mark.parametrize(
    "line, findings",
    [
        ("values.erase(std::ranges::unique(values).begin(), values.end());", 1),
        ("for (int value : std::views::reverse(values)) use(value);", 1),
        ("values.erase(std::unique(values.begin(), values.end()), values.end());", 0),
        ("std::ranges::unique_copy(values, other.begin());", 0),
    ],
)
def test_views_are_found_in_sources_that_only_g_plus_plus_compiles_early(late, write, line, findings):
    write("src/one/thing.cpp", f"\n{line}\n")
    code, lines = late()
    assert code == (findings > 0) and f"clang: 2 sources, {findings} with findings" in lines, lines
    assert (findings > 0) == any(found.startswith("src/one/thing.cpp:2: std::") for found in lines), lines


def test_every_source_is_compiled_early_or_checked():
    """bench/ alone is neither: it needs a library of its own."""
    early = r"(src|train|python/src)/.*|tests/(train/)?\w+/\w+_test\.cpp|tests/support/.*|bench/.*"
    named = {check.name: check for check in checks.CHECKS}
    sources = checks.listed_files()
    assert [name for name in sources if name.endswith(".cpp") and not re.fullmatch(early, name)] == [
        name for name in sources if re.fullmatch(named["syntax"].files, name)
    ]
