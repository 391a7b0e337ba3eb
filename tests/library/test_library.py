"""The library as its users meet it: installed into an empty prefix, found by CMake from an outside project, compiled,
linked and run."""

import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import urllib.request

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from clean_environment import clean_environment
from models import ROOT, make_model, read_safetensors

BINARY = pathlib.Path(os.environ.get("DEBERTA_BINARY", str(ROOT / "build/dev/deberta")))
BUILD = BINARY.parent
LIBRARIES = ("libdeberta", "libdeberta_serve")
HEADERS = sorted(path.name for path in (ROOT / "include/deberta").glob("*.h"))
TEXTS = ["a gorgeous , witty , seductive movie .", "Caf\u00e9 \u65e5\u672c"]


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300, **more)


def checked(*words, **more):
    done = run(*words, **more)
    assert done.returncode == 0, f"{shlex.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout


def cached(name):
    """A value of the build's CMake cache."""
    found = re.search(rf"^{name}:[A-Z]+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)
    return found.group(1) if found else ""


@pytest.fixture(scope="session")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix")
    checked("cmake", "--install", BUILD, "--component", "program", "--prefix", folder)
    return folder


def library_of(prefix, name):
    return next(prefix.glob(f"lib*/**/{name}.so"))


def build_project(source, build, prefix):
    """An outside project with nothing of ours but the prefix (and the sanitizer, which must cover a whole program)."""
    sanitize = cached("DEBERTA_SANITIZE")
    checked(
        "cmake",
        "-S",
        source,
        "-B",
        build,
        "-G",
        "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={cached('CMAKE_CXX_COMPILER')}",
        f"-DCMAKE_CXX_FLAGS={'-fsanitize=' + sanitize if sanitize else ''}",
    )
    checked("cmake", "--build", build)
    return build


@pytest.fixture(scope="session")
def outside(prefix, tmp_path_factory):
    """outside(what, model, texts...) -> (exit code, lines without the version)."""
    source = tmp_path_factory.mktemp("outside")
    shutil.copytree(ROOT / "tests/library/project", source, dirs_exist_ok=True)
    build = build_project(source, source / "build", prefix)

    def ask(*words):
        done = run(build / "outside", *words)
        lines = done.stdout.splitlines()
        assert lines and lines[0] == "version " + checked(BINARY, "--version").split()[-1], done.stderr
        return done.returncode, lines[1:]

    return ask


@pytest.fixture(scope="session")
def examples(prefix, tmp_path_factory):
    return build_project(ROOT / "examples", tmp_path_factory.mktemp("examples"), prefix)


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    make = {
        "sequence": {},
        "span": {"seed": 6},
        "token": {"labels": ("O", "B-PER", "I-PER")},
        "lm": {"seed": 2},
        "rtd": {"seed": 3},
    }
    found = {head: make_model(tmp_path_factory.mktemp(head), head, **more) for head, more in make.items()}
    found["score"] = make_model(tmp_path_factory.mktemp("score"), "sequence", seed=5, labels=("score",))
    found["nli"] = make_model(
        tmp_path_factory.mktemp("nli"), "sequence", seed=4, labels=("contradiction", "neutral", "entailment")
    )
    return found


def answers_of_program(verb, model, *texts):
    """The rows that the program prints, parsed from JSON."""
    clean = clean_environment()
    return [
        json.loads(line)
        for line in checked(BINARY, verb, "-m", model, "--format", "jsonl", *texts, env=clean).splitlines()
    ]


def bits(number):
    return struct.pack("<f", numpy.float32(number))


def assert_same(lines, expected):
    """lines: `name hexadecimal`; expected: [(name, number)]. Equal to the last bit."""
    seen = [line.rsplit(" ", 1) for line in lines]
    assert [name for name, _ in seen] == [name for name, _ in expected]
    for (name, number), (_, wanted) in zip(seen, expected):
        assert bits(float.fromhex(number)) == bits(wanted), name


def test_labels_are_the_programs_to_the_last_bit(outside, models):
    code, lines = outside("classify", models["sequence"], *TEXTS)
    assert code == 0 and len(lines) == len(TEXTS)
    assert_same(
        lines, [(row["label"], row["score"]) for row in answers_of_program("classify", models["sequence"], *TEXTS)]
    )


def test_entailment_is_the_programs(outside, models):
    code, lines = outside("nli", models["nli"], *TEXTS)
    rows = tuple(json.dumps({"text": TEXTS[0], "text_pair": TEXTS[1]}).splitlines())
    done = run(
        BINARY,
        "nli",
        "-m",
        models["nli"],
        "--input-format",
        "jsonl",
        "--input-field",
        "text,text_pair",
        "--format",
        "jsonl",
        input="\n".join(rows) + "\n",
    )
    assert code == 0 and done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert_same(lines, [(name, row[name]) for name in ("entailment", "neutral", "contradiction")])


def test_entities_are_the_programs_with_offsets_in_code_points(outside, models):
    code, lines = outside("ner", models["token"], *TEXTS)
    rows = answers_of_program("ner", models["token"], *TEXTS)
    assert code == 0
    assert_same(
        lines, [(f"{e['entity_group']} {e['start']} {e['end']}", e["score"]) for row in rows for e in row["entities"]]
    )


def test_masked_words_are_the_programs(outside, models):
    code, lines = outside("fill", models["lm"], "a [MASK] movie")
    (row,) = answers_of_program("fill", models["lm"], "a [MASK] movie")
    assert code == 0
    assert_same(lines, [(str(t["token"]), t["score"]) for t in row["masks"][0]["tokens"]])


def test_vectors_are_the_programs(outside, models):
    code, lines = outside("embed", models["sequence"], *TEXTS)
    rows = answers_of_program("embed", models["sequence"], *TEXTS)
    assert code == 0
    assert_same(lines, [("value", value) for row in rows for value in row["embedding"]])


def test_replaced_tokens_are_the_programs(outside, models):
    code, lines = outside("detect", models["rtd"], *TEXTS)
    rows = answers_of_program("detect", models["rtd"], *TEXTS)
    assert code == 0
    assert_same(lines, [(str(t["token"]), t["score"]) for row in rows for t in row["tokens"]])


def test_zero_shot_labels_are_the_programs(outside, models):
    code, lines = outside("zero-shot", models["nli"], "the match ended", "sports", "art")
    (row,) = answers_of_program("zero-shot", models["nli"], "--labels", "sports,art", "the match ended")
    assert code == 0
    assert_same(lines, list(zip(row["labels"], row["scores"])))


def test_ranks_choices_answers_and_text_scores_are_the_programs(outside, models):
    texts = ("a question ?", "a context with words in it", "one", "two")
    _, lines = outside("rerank", models["score"], *texts)
    assert_same(
        lines,
        [(str(r["index"]), r["score"]) for r in answers_of_program("rerank", models["score"], *texts)[0]["results"]],
    )
    _, lines = outside("choose", models["score"], *texts)
    row = answers_of_program("choose", models["score"], *texts)[0]
    assert_same(lines, [(str(row["index"]), score) for score in row["scores"]])
    _, lines = outside("qa", models["span"], *texts[:2])
    row = answers_of_program("qa", models["span"], *texts[:2])[0]
    assert_same(lines, [(f"{row['answer']} {row['start']}", row["score"])])
    _, lines = outside("score", models["lm"], texts[1])
    row = answers_of_program("score", models["lm"], "--tokens", texts[1])[0]
    assert_same(lines, [(str(t["token"]), t["log_probability"]) for t in row["tokens"]])


def test_an_error_crosses_the_border_with_code_place_and_message(outside, models, tmp_path):
    code, lines = outside("classify", tmp_path / "none", "x")
    assert (code, lines[0], lines[1]) == (3, "code file-not-found", f"where {tmp_path / 'none'}")
    assert lines[2].startswith("message no such model directory")
    assert outside("classify", models["lm"], "x") == (3, ["code task", "where classify", lines_of_task(models)])


def lines_of_task(models):
    done = run(BINARY, "classify", "-m", models["lm"], "x")
    return "message " + done.stderr.strip().split("classify: ", 1)[1]


def test_text_that_is_not_utf8_or_has_no_token_is_an_error(outside, models):
    code, lines = outside("classify", models["sequence"], os.fsdecode(b"a \xff b"))
    assert (code, lines) == (3, ["code input", "where text", "message expected valid UTF-8"])


def test_threads_may_share_one_directory(outside, models):
    assert outside("threads", models["sequence"], *TEXTS) == (0, ["same 20"] * 4)


@pytest.mark.parametrize("header", HEADERS)
def test_each_header_compiles_alone(header, prefix):
    checked(
        cached("CMAKE_CXX_COMPILER"),
        "-std=c++20",
        "-fsyntax-only",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Wconversion",
        "-Wshadow",
        "-Werror",
        "-x",
        "c++",
        f"-I{prefix / 'include'}",
        "-include",
        f"deberta/{header}",
        "/dev/null",
    )


def test_the_umbrella_has_every_header_but_that_of_the_server():
    text = (ROOT / "include/deberta/deberta.h").read_text()
    assert set(re.findall(r'"deberta/(\w+\.h)"', text)) == set(HEADERS) - {"deberta.h", "server.h"}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_shows_only_what_its_headers_declare(prefix, library):
    declared = " ".join(
        re.findall(r"[A-Za-z_]\w*", " ".join((ROOT / "include/deberta" / name).read_text() for name in HEADERS))
    ).split()
    lines = checked("nm", "-D", "--defined-only", "-C", library_of(prefix, library)).splitlines()
    names = [line.split(" ", 2)[2] for line in lines]
    assert len(names) > 50
    assert any(name.startswith("deberta::Server::") for name in names) == (library == "libdeberta_serve")
    for name in names:
        plain = re.sub(r"^(typeinfo|typeinfo name|vtable) for ", "", name)
        plain = re.sub(r"\[abi:\w+\]", "", plain)
        # A function template's or operator's return type stands before its name; ours have neither.
        found = re.match(r"deberta::(\w+)(?:::(~?\w+|operator=))?", plain)
        assert found and found.group(1) in declared, name
        assert (found.group(2) or "x").lstrip("~") in [*declared, "x", "operator="], name
        assert "State::" not in plain, name


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_says_its_version_in_its_name(prefix, library):
    version = checked(BINARY, "--version").split()[-1]
    major_minor = ".".join(version.split(".")[:2])
    path = library_of(prefix, library)
    assert path.resolve().name == f"{library}.so.{version}"
    assert f"SONAME               {library}.so.{major_minor}" in checked("objdump", "-p", path)


def test_another_minor_version_is_not_taken(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\nfind_package(deberta 0.2 REQUIRED)\n"
    )
    done = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert done.returncode != 0 and "0.1.0" in done.stderr


def test_a_program_links_one_of_the_libraries(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES CXX)\nfind_package(deberta 0.1 REQUIRED)\n"
        "add_executable(p main.cpp)\ntarget_link_libraries(p PRIVATE deberta::deberta deberta::serve)\n"
    )
    (tmp_path / "main.cpp").write_text("int main() {}\n")
    done = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert done.returncode != 0 and "DEBERTA_LIBRARY" in done.stderr, done.stderr


def test_the_program_is_installed_with_its_documents(prefix):
    assert checked(prefix / "bin/deberta", "--version") == checked(BINARY, "--version")
    assert (prefix / "share/doc/deberta/reference/library.md").exists()
    assert (prefix / "share/man/man1/deberta.1").read_text() == checked(BINARY, "help", "--man")


def test_example_classify(examples, models):
    lines = checked(examples / "classify", models["sequence"], *TEXTS).splitlines()
    rows = answers_of_program("classify", models["sequence"], *TEXTS)
    assert [line.split("\t")[0] for line in lines] == [row["label"] for row in rows]
    assert [bits(line.split("\t")[1]) for line in lines] == [bits(row["score"]) for row in rows]
    done = run(examples / "classify", "/no/such/folder", "x")
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("error: /no/such/folder: ")


def test_example_answer(examples, models):
    lines = checked(examples / "answer", models["span"], "who is it ?", TEXTS[0]).splitlines()
    (row,) = answers_of_program("qa", models["span"], "--top-k", "3", "who is it ?", TEXTS[0])
    assert [line.split("\t")[0] for line in lines] == [a["answer"] for a in row["answers"]]
    assert [bits(line.split("\t")[1]) for line in lines] == [bits(a["score"]) for a in row["answers"]]


def test_example_fill(examples, models):
    lines = checked(examples / "fill", models["lm"], "a [MASK] movie").splitlines()
    (row,) = answers_of_program("fill", models["lm"], "a [MASK] movie")
    assert [line.split("\t")[2] for line in lines] == [t["sequence"] for t in row["masks"][0]["tokens"][:3]]


def test_example_embed(examples, models):
    first, second = (numpy.array(row["embedding"]) for row in answers_of_program("embed", models["sequence"], *TEXTS))
    cosine = first @ second / numpy.linalg.norm(first) / numpy.linalg.norm(second)
    assert checked(examples / "embed", models["sequence"], *TEXTS) == f"16 values, cosine {cosine:.6f}\n"


def test_example_tokenize(examples, models):
    *lines, text = checked(examples / "tokenize", models["sequence"], TEXTS[1]).splitlines()
    (row,) = answers_of_program("tokenize", models["sequence"], TEXTS[1])
    assert [int(line.split("\t")[0]) for line in lines] == row["ids"]
    assert lines[-2].split("\t")[2].split("..")[1] == "7" and lines[-2].split("\t")[3].split("..")[1] == "12"
    assert text == TEXTS[1]


def test_example_attention(examples, models):
    lines = checked(examples / "attention", models["sequence"], TEXTS[0]).splitlines()
    assert lines[0].endswith("2 heads") and len(lines) == 2 + 2 + 1
    assert all(float(cell) > 0 for line in lines[2:4] for cell in line.split("\t")[1:])
    assert lines[-1].split() == ["30", "31", "32", "33", "34"]


def test_example_tensors(examples, models, tmp_path):
    lines = checked(examples / "tensors", models["sequence"], tmp_path / "one.safetensors").splitlines()
    whole = read_safetensors(models["sequence"] / "model.safetensors")
    assert lines[0] == "2 layers" and len(lines) == 1 + len(whole)
    name = lines[1].split("\t")[0]
    written = read_safetensors(tmp_path / "one.safetensors")
    assert list(written) == [name]
    assert written[name].tobytes() == whole.get(name, whole.get("deberta." + name)).tobytes()


def test_example_serve(examples, models):
    process = subprocess.Popen(
        [examples / "serve", models["sequence"]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        request = urllib.request.Request(
            process.stdout.readline().strip() + "/predict",
            json.dumps({"inputs": [[text] for text in TEXTS]}).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=300) as response:
            answer = json.load(response)
        rest, log = process.communicate(timeout=300)
    finally:
        process.kill()
    rows = answers_of_program("classify", models["sequence"], *TEXTS)
    assert [labels[0]["label"] for labels in answer] == [row["label"] for row in rows]
    assert [bits(labels[0]["score"]) for labels in answer] == [bits(row["score"]) for row in rows]
    assert (process.returncode, rest, log) == (0, "", "POST /predict 200\n")
    done = run(examples / "serve", "/no/such/folder")
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("error: /no/such/folder: ")


def test_code_in_the_documents_is_that_of_the_examples():
    compiled = "\n".join(
        path.read_text()
        for folder in ("examples", "tests/library/project")
        for path in sorted((ROOT / folder).iterdir())
    )
    squeezed = " ".join(compiled.split())
    for name in ("docs/reference/library.md", "README.md"):
        for block in re.findall(r"```(?:cpp|cmake)\n(.*?)```", (ROOT / name).read_text(), re.S):
            assert " ".join(block.split()) in squeezed, f"{name}: not compiled anywhere:\n{block}"


@pytest.mark.parametrize(
    "flags, is_error", [([], False), (["-DDEBERTA_DEVELOPER=ON"], True), (["-DDEBERTA_WERROR=ON"], True)]
)
def test_a_warning_is_an_error_for_developers_alone(tmp_path, flags, is_error):
    checked("cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", *flags)
    assert ("-Werror" in (tmp_path / "build.ninja").read_text()) == is_error


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """What `cpack` makes of the build, compressed the fast way (tools/long_checks packages: as they are published):
    {ending: unpacked folder}, and the fields of the Debian package."""
    folder = tmp_path_factory.mktemp("packages")
    for generator, *more in ("TZST",), ("DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=zstd"):
        checked(
            "cpack",
            "-G",
            generator,
            "--config",
            BUILD / "CPackConfig.cmake",
            "-D",
            "CPACK_COMPONENTS_ALL=program",
            *more,
            "-B",
            folder,
        )
    (archive,) = folder.glob("*.tar.zst")
    (package,) = folder.glob("*.deb")
    for made in (archive, package):
        (folder / made.suffix).mkdir()
    checked("cmake", "-E", "tar", "xf", archive, cwd=folder / ".zst")
    (top,) = (folder / ".zst").iterdir()
    checked("dpkg-deb", "-x", package, folder / ".deb")
    return {"tar": top, "deb": folder / ".deb/usr"}, checked("dpkg-deb", "-f", package)


@pytest.mark.parametrize("ending", ["tar", "deb"])
def test_a_package_answers_from_any_folder(packages, tmp_path, ending):
    moved = tmp_path / "elsewhere"
    shutil.copytree(packages[0][ending], moved, symlinks=True)
    model = make_model(tmp_path / "model", "sequence")
    words = ("classify", "-m", model, TEXTS[0])
    assert checked(moved / "bin/deberta", *words) == checked(BINARY, *words)
    assert (moved / "share/man/man1/deberta.1").is_file() and (moved / "share/doc/deberta/LICENSE").is_file()
    for shell, place in (
        ("bash", "bash-completion/completions/deberta"),
        ("fish", "fish/vendor_completions.d/deberta.fish"),
    ):
        assert (moved / "share" / place).read_text() == checked(moved / "bin/deberta", "completion", shell)
    assert (moved / "share/doc/deberta/examples/classify.cpp").is_file()
    assert "deberta serve" in (moved / "lib/systemd/system/deberta.service").read_text()


def test_the_debian_package_names_the_libraries_that_it_needs(packages):
    fields = dict(line.split(": ", 1) for line in packages[1].splitlines() if ": " in line)
    assert fields["Package"] == "deberta" and fields["Version"].startswith("0.")
    for library in ("libfmt9", "liblzma5", "libzstd1", "zlib1g", "libbz2-1.0", "libstdc++6", "libc6"):
        assert library in fields["Depends"]
