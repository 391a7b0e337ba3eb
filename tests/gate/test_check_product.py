"""tools/check_product.py: a program built as a release is; and one built without each part of that in turn."""

import platform
import subprocess

import pytest

from check_product import weaknesses

FLAGS = {
    "-D_FORTIFY_SOURCE=3": "_FORTIFY_SOURCE",
    "-fstack-protector-strong": "-fstack-protector-strong",
    "-Wl,-z,relro": "-z relro",
    "-Wl,-z,now": "-z now",
    "-Wl,-z,noexecstack": "-z noexecstack",
    "-pie": "position independence (-pie)",
}
OPPOSITES = {
    "-D_FORTIFY_SOURCE=3": "-U_FORTIFY_SOURCE",
    "-fstack-protector-strong": "-fno-stack-protector",
    "-Wl,-z,relro": "-Wl,-z,norelro",
    "-Wl,-z,now": "-Wl,-z,lazy",
    "-Wl,-z,noexecstack": "-Wl,-z,execstack",
    "-pie": "-no-pie",
    "-fcf-protection=full": "-fcf-protection=none",
}
if platform.machine() == "x86_64":
    FLAGS["-fcf-protection=full"] = "-fcf-protection"
FUNCTIONS = "".join(
    f"int f{n}(int a) {{ return a * {n} + 1; }}\n" for n in range(1000)
)  # more code than the start files
SOURCE = f"""#include <cstdio>
#include <cstring>
{FUNCTIONS}
int main(int count, char** words) {{
  char text[64];
  strcpy(text, words[0]);
  return printf("%s %s\\n", text, __FILE__) + f1(count);
}}
"""


@pytest.fixture
def built(tmp_path):
    """built(a flag that is turned round, others...) -> the program"""

    def build(without="", *more):
        (tmp_path / "main.cpp").write_text(SOURCE)
        flags = [OPPOSITES[flag] if flag == without else flag for flag in FLAGS]
        source = tmp_path / "main.cpp"
        words = ["g++", "-O1", "-fPIC", "-U_FORTIFY_SOURCE", *flags, *more, source, "-o", tmp_path / "program"]
        subprocess.run(words, check=True)
        return tmp_path / "program"

    return build


def test_a_program_that_has_everything_lacks_nothing(built):
    assert weaknesses(built()) == []


@pytest.mark.parametrize("flag", FLAGS)
def test_each_part_is_missed(built, flag):
    program = built(flag)
    assert f"{program}: expected {FLAGS[flag]}, got none" in weaknesses(program)


def test_places_of_the_build_are_found(built, tmp_path):
    program = built("", f"-Wl,-rpath,{tmp_path}")
    (path, place) = weaknesses(program, (tmp_path,))
    assert path == f"{program}: expected libraries of the system or beside it, got a path to {tmp_path}"
    assert place == f"{program}: names a folder of its build: {tmp_path}"
    assert weaknesses(built("", f"-ffile-prefix-map={tmp_path}=.", "-Wl,-rpath,$ORIGIN/../lib"), (tmp_path,)) == []
