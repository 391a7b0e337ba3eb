"""tools/check_layers.py in a small repository: what a room may not say, and what it may not include."""

import pathlib

import pytest

ROOMS = (
    """base     0  library  program  always  things
text     1  library  program  always  things
rows     5  library  program  always  things
options  5  program  program  always  things
serve    5  server   both     always  things
eval     6  library  program  always  things
cli      7  program  program  always  things
"""
    + "".join(
        line
        for line in (pathlib.Path(__file__).resolve().parents[2] / "rooms.txt").read_text().splitlines(keepends=True)
        if line.startswith("train/")
    )
    + """
python/deberta 0 python  pytest   always  things
"""
)


@pytest.fixture
def check(run, write, repository):
    """check(file, text) -> (exit code, lines), with that file in the repository"""

    def go(name="src/base/one.cpp", text=""):
        write("rooms.txt", ROOMS)
        for room in ("base", "text", "rows", "options", "serve", "eval", "cli"):
            write(f"src/{room}/README.md", f"# {room}: a room\n")
            write(f"src/{room}/empty.cpp", "")
        write("include/deberta/error.h", "#pragma once\n")
        write(name, text)
        if name.startswith(("train/", "python/")):
            (repository / name).with_name("README.md").write_text(f"# {name.rpartition('/')[0]}: a room\n")
        return run("tools/check_layers.py")

    return go


def test_a_house_in_order_is_green(check):
    assert check()[0] == 0


@pytest.mark.parametrize(
    "literal",
    [
        '"raise --max-tokens"',
        '"--stride"',
        '"say \\"x\\" --y"',
        'R"(a\n--b)"',
        '"give a directory with -m"',
        '"`deberta info -m DIR`"',
    ],
)
def test_a_literal_with_an_option_in_the_library_is_red(check, literal):
    code, lines = check("src/text/one.cpp", f"// a comment\nconst char* text = {literal};\n")
    assert code == 1
    assert len([line for line in lines if line.startswith("src/text/one.cpp:2: a literal names an option")]) == 1


@pytest.mark.parametrize(
    "text",
    ['// "it\'s --cold"', '/* "--cold" */', "x = 1'000 --y;", '"a - b -- c -1 well-known a-b"', "'\"'; --i; '\"'"],
)
def test_what_is_no_option_or_no_literal_is_green(check, text):
    assert check("src/base/one.cpp", text)[0] == 0


def test_variables_of_a_style_sheet_are_no_options(check):
    assert check("src/text/one.cpp", 'R"css(a { color: var(--ink); --paper: #fff; })css"')[0] == 0


def test_a_room_of_the_library_names_no_option_whatever_its_floor(check):
    for room in ("rows", "eval"):
        code, lines = check(f"src/{room}/one.cpp", '"name it with --input-field"')
        assert code == 1 and lines[0].startswith(f"src/{room}/one.cpp:1: a literal names an option")


def test_rooms_of_the_program_and_of_the_server_may_name_options(check):
    for room in ("options", "serve", "cli"):
        assert check(f"src/{room}/one.cpp", '"--max-tokens"')[0] == 0


@pytest.mark.parametrize("text", ["x = 2 * c.hidden_size * c.intermediate_size;", "x = hidden_size *\n    vocab_size;"])
def test_sizes_of_a_model_are_multiplied_in_the_room_cost_alone(check, text):
    code, lines = check("src/rows/one.cpp", f"\n{text}\n")
    assert code == 1
    assert [line for line in lines if line.startswith("src/rows/one.cpp:2: a count of weights or operations")]
    assert (
        check("src/rows/one.cpp", "f(hidden_size * 2, intermediate_size); x = hidden_size; y = 2 * vocab_size;")[0] == 0
    )


@pytest.mark.parametrize("name", ["error_codes.inc", "library.h"])
def test_public_headers_and_the_table_of_codes_name_no_option(check, name):
    code, lines = check(f"include/deberta/{name}", 'DEBERTA_ERROR(kA, "a", 1, "longer than --max-tokens allows", "")\n')
    assert code == 1 and lines[0].startswith(f"include/deberta/{name}:1: a literal names an option")


def test_an_include_that_goes_up_is_red(check):
    code, lines = check("src/base/one.cpp", '#include "text/empty.h"\n')
    assert code == 1 and "src/base/one.cpp:1: base (floor 0) may not include text/empty.h (floor 1)" in lines


def test_a_room_of_the_library_includes_none_of_the_program(check):
    code, lines = check("src/eval/one.cpp", '#include "options/options.h"\n')
    assert code == 1
    assert (
        "src/eval/one.cpp:1: eval is a room of the library and may not include options/options.h, which is the "
        "program's"
    ) in lines


def test_the_library_includes_none_of_the_server_and_the_server_none_of_the_program(check):
    code, lines = check("src/eval/one.cpp", '#include "serve/empty.h"\n')
    assert (code, lines) == (
        1,
        ["src/eval/one.cpp:1: eval is a room of the library and may not include serve/empty.h, which is the server's"],
    )
    assert check("src/eval/one.cpp")[0] == 0
    code, lines = check("src/serve/one.cpp", '#include "cli/empty.h"\n')
    assert code == 1
    assert check("src/serve/one.cpp", '#include "text/empty.h"\n')[0] == 0


def test_a_room_of_the_program_includes_the_library_and_the_server(check):
    includes = "".join(f'#include "{name}"\n' for name in ("eval/empty.h", "serve/empty.h", "options/options.h"))
    assert check("src/cli/one.cpp", includes)[0] == 0


@pytest.mark.parametrize("header", ["torch/torch.h", "ATen/ATen.h", "c10/core/Device.h"])
def test_torch_is_for_train_alone(check, header):
    code, lines = check("src/eval/one.cpp", f"#include <{header}>\n")
    assert code == 1 and lines == [f"src/eval/one.cpp:1: {header} may only be included in train/"]
    assert check("src/eval/one.cpp")[0] == 0
    assert check("train/ops/one.h", f"#include <{header}>\n")[0] == 0


@pytest.mark.parametrize(
    "header, home",
    [
        ("boost/asio.hpp", "src/serve/http_server.cpp, src/serve/listener.h"),
        ("zstd.h", "src/data/decompressor.cpp"),
        ("bzlib.h", "src/data/decompressor.cpp"),
        ("zlib.h", "src/base/zip_reader.cpp, src/data/decompressor.cpp, train/data/token_file.cpp"),
        ("nanobind/nanobind.h", "python/"),
    ],
)
def test_a_heavy_library_has_its_files(check, header, home):
    code, lines = check("src/eval/one.cpp", f"#include <{header}>\n")
    assert code == 1 and lines == [f"src/eval/one.cpp:1: {header} may only be included in {home}"]


def test_the_trainer_sees_of_the_engine_its_public_headers(check, write):
    write("include/deberta/model.h", "#pragma once\n")
    assert check("train/model/one.cpp", '#include "deberta/model.h"\n')[0] == 0
    code, lines = check("train/model/one.cpp", '#include "engine/pass.h"\n')
    assert (
        code == 1
        and "train/model/one.cpp:1: engine/pass.h may only be included in src/, train/model/trained_computation.cpp"
        in lines
    )


def test_torch_is_no_part_of_a_public_header(check):
    code, lines = check("include/deberta/error.h", "#include <torch/torch.h>\n")
    assert code == 1 and lines[0].startswith("include/deberta/error.h:1: a public header includes only ")


@pytest.mark.parametrize(
    "name, target",
    [
        ("train/ops/one.cpp", "text/empty.h"),
        ("train/ops/one.cpp", "deberta/error.h"),
        ("train/model/one.cpp", "train/ops/one.h"),
        ("train/data/one.cpp", "rows/empty.h"),
        ("train/run/one.cpp", "eval/empty.h"),
        ("train/finetune/one.cpp", "train/step/one.h"),
        ("train/cli/one.cpp", "options/options.h"),
        ("train/cli/one.cpp", "train/replay/one.h"),
        ("python/deberta/one.cpp", "deberta/error.h"),
        ("python/deberta/one.cpp", "eval/empty.h"),
    ],
)
def test_what_the_rooms_of_the_other_halves_may_include(check, name, target):
    assert check(name, f'#include "{target}"\n')[0] == 0


@pytest.mark.parametrize(
    "name, target, why",
    [
        ("train/ops/one.cpp", "rows/empty.h", "train/ops may not include rows/empty.h (src/rows)"),
        ("train/model/one.h", "eval/empty.h", "train/model may not include eval/empty.h (src/eval)"),
        ("train/run/one.cpp", "options/options.h", "train/run may not include options/options.h (src/options)"),
        (
            "train/finetune/one.cpp",
            "train/pretrain/one.h",
            "train/finetune (floor 6) may not include train/pretrain/one.h (floor 6)",
        ),
        (
            "python/deberta/one.cpp",
            "cli/help.h",
            "python/deberta may include the library, and cli/verbs.h, program/parquet_files.h and program/program.h, "
            "not cli/help.h",
        ),
        ("python/deberta/one.cpp", "train/ops/one.h", "nothing outside train/ may include train/ops/one.h"),
        ("src/cli/one.cpp", "python/deberta/one.h", "nothing outside python/ may include python/deberta/one.h"),
        ("train/cli/one.cpp", "cli/verbs.h", "train/cli may not include cli/verbs.h (src/cli)"),
        ("train/ops/one.cpp", "train/model/one.h", "train/ops (floor 0) may not include train/model/one.h (floor 1)"),
        ("train/cli/one.cpp", "train/hall/one.h", "train/hall/one.h is in no room of train"),
        ("src/cli/one.cpp", "train/ops/one.h", "nothing outside train/ may include train/ops/one.h"),
        (
            "include/deberta/error.h",
            "train/ops/one.h",
            "train/ops/one.h is no public header of this floor (0) or below",
        ),
    ],
)
def test_what_crosses_the_border_of_a_half_is_red(check, name, target, why):
    code, lines = check(name, f'#include "{target}"\n')
    assert code == 1 and lines == [f"{name}:1: {why}"]


def test_a_folder_of_train_that_is_no_room_is_red(check):
    code, lines = check("train/hall/one.cpp")
    assert code == 1 and lines == ["train/hall/one.cpp: hall is no room of train"]


def test_a_room_of_train_says_what_of_src_it_includes(check, run, write):
    check()
    write("rooms.txt", ROOMS + "train/hall 3 train program always things\n")
    assert run("tools/check_layers.py") == (1, ["tools/check_layers.py: no row in OF_SRC for train/hall"])
    write("rooms.txt", "".join(line for line in ROOMS.splitlines(keepends=True) if not line.startswith("train/step")))
    assert run("tools/check_layers.py") == (1, ["tools/check_layers.py: OF_SRC has train/step, which is no room"])


def test_the_rooms_of_train_but_its_cli_name_no_option(check):
    code, lines = check("train/ablation/one.cpp", '"raise --max-steps"')
    assert code == 1 and lines[0].startswith("train/ablation/one.cpp:1: a literal names an option")
    assert check("train/ablation/one.cpp")[0] == 0 and check("train/cli/one.cpp", '"raise --max-steps"')[0] == 0


def test_a_room_has_a_readme_that_begins_with_its_name(check, run, repository, write):
    check("train/ops/one.cpp")
    write("train/ops/README.md", "#ops(floor 1)")
    assert run("tools/check_layers.py") == (1, ["train/ops/README.md: expected it to begin `# train/ops`"])
    (repository / "train/ops/README.md").unlink()
    assert run("tools/check_layers.py") == (1, ["train/ops: no README.md"])
