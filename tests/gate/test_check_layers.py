"""tools/check_layers.py in a small house: what a room may not say, and what it may not include."""
import pytest

ROOMS = """base     0  library  program  always  things
text     1  library  program  always  things
rows     5  library  program  always  things
options  5  program  program  always  things
eval     6  library  program  always  things
cli      7  program  program  always  things
"""


@pytest.fixture
def check(run, write):
    """check(file, text) -> (exit code, lines), with that file in the house"""
    def go(name="src/base/one.cpp", text=""):
        write("rooms.txt", ROOMS)
        for room in ("base", "text", "rows", "options", "eval", "cli"):
            write(f"src/{room}/README.md", "")
            write(f"src/{room}/empty.cpp", "")
        write("include/deberta/error.h", "#pragma once\n")
        write(name, text)
        return run("tools/check_layers.py")
    return go


def test_a_house_in_order_is_green(check):
    assert check()[0] == 0


@pytest.mark.parametrize("literal", ['"raise --max-tokens"', '"--stride"', '"say \\"x\\" --y"', 'R"(a\n--b)"', '"give a directory with -m"', '"`deberta info -m DIR`"'])
def test_a_literal_with_an_option_in_the_library_is_red(check, literal):
    code, lines = check("src/text/one.cpp", f"// a comment\nconst char* text = {literal};\n")
    assert code == 1 and len([line for line in lines if line.startswith("src/text/one.cpp:2: a literal names an option")]) == 1


@pytest.mark.parametrize("text", ["// \"it's --cold\"", "/* \"--cold\" */", "x = 1'000 --y;", '"a - b -- c -1 well-known a-b"', "'\"'; --i; '\"'"])
def test_what_is_no_option_or_no_literal_is_green(check, text):
    assert check("src/base/one.cpp", text)[0] == 0


def test_a_room_of_the_library_names_no_option_whatever_its_floor(check):
    for room in ("rows", "eval"):
        code, lines = check(f"src/{room}/one.cpp", '"name it with --input-field"')
        assert code == 1 and lines[0].startswith(f"src/{room}/one.cpp:1: a literal names an option")


def test_rooms_of_the_program_may_name_options(check):
    for room in ("options", "cli"):
        assert check(f"src/{room}/one.cpp", '"--max-tokens"')[0] == 0


@pytest.mark.parametrize("name", ["error_codes.inc", "library.h"])
def test_public_headers_and_the_table_of_codes_name_no_option(check, name):
    code, lines = check(f"include/deberta/{name}", 'DEBERTA_ERROR(kA, "a", 1, "longer than --max-tokens allows", "")\n')
    assert code == 1 and lines[0].startswith(f"include/deberta/{name}:1: a literal names an option")


def test_an_include_that_goes_up_is_red(check):
    code, lines = check("src/base/one.cpp", '#include "text/empty.h"\n')
    assert code == 1 and "src/base/one.cpp:1: base (floor 0) may not include text/empty.h (floor 1)" in lines


def test_a_room_of_the_library_includes_none_of_the_program(check):
    code, lines = check("src/eval/one.cpp", '#include "options/options.h"\n')
    assert code == 1 and "src/eval/one.cpp:1: eval is a room of the library and may not include options/options.h, which is the program's" in lines


def test_a_room_of_the_program_includes_the_library(check):
    assert check("src/cli/one.cpp", '#include "eval/empty.h"\n#include "options/options.h"\n')[0] == 0
