"""./test --changed: which test files a change can break, in which order, and since which commit."""

import subprocess

import pytest

import draw
import gate
import reach

ROOMS = "one 0 library program always things\ncli 1 program pytest always verbs\n"
FILES = {
    "rooms.txt": ROOMS,
    "src/one/thing.h": "int thing();\n",
    "src/one/thing.cpp": '#include "one/thing.h"\n',
    "src/one/thing_part.cpp": '#include "one/thing.h"\n',  # without a header of its own: it implements what it includes
    "src/one/other.h": "int other();\n",
    "src/one/other.cpp": '#include "one/other.h"\n#include "one/thing.h"\n',
    "src/one/alone.h": "int alone();\n",
    "src/cli/verb.cpp": '#include "one/other.h"\n',
    "src/cli/page.html": "<p>\n",
    "src/cli/pages.cpp": "",
    "tests/one/thing_test.cpp": '#include "one/thing.h"\nTEST(Thing, Is) {}\n',
    "tests/one/other_test.cpp": '#include "one/other.h"\nTEST(Other, Is) {}\n',
    "tests/one/alone_test.cpp": '#include "one/alone.h"\n',
    "tests/cli/test_verb.py": 'from helper import run\nrun("verb")\n',
    "tests/cli/helper.py": "",
    "tests/cli/conftest.py": "",
    "python/src/texts.cpp": "",
    "python/deberta/_pipeline.py": "",
    "tests/python/src/test_arrow.py": "import deberta\n",
    "tests/cli/test_page.py": 'PAGE = (ROOT / "docs/page.md").read_text() + (ROOT / "README.md").read_text()\n',
    "tests/golden/words/a.txt": "",
    "tests/one/words_test.cpp": 'golden("words/a.txt")\nTEST(Words, Are) {}\n',
    "fuzz/thing.cpp": '#include "one/other.h"\n#include "fuzz.h"\n',
    "fuzz/fuzz.h": '#include "one/thing.h"\n',
    "docs/page.md": "",
    "README.md": "",
    "docs/unread.md": "",
    "tools/mutations/one.toml": (
        '[broken]\nfile = "src/one/far.cpp"\nold = "a"\nnew = "b"\nwhy = "It is."\ntests = ["test_one Words.*"]\n'
    ),
    "src/one/far.cpp": "a\n",
}


@pytest.fixture
def tree(repository, write):
    for name, text in FILES.items():
        write(name, text)
    return reach.Tree(repository)


def broken(tree, *changed):
    """{test: steps}"""
    return {
        name.rpartition("/")[2]: steps for name, steps in tree.distances(list(changed)).items() if reach.is_test(name)
    }


def test_a_source_breaks_the_tests_of_its_header_and_of_all_that_is_built_on_it(tree):
    assert broken(tree, "src/one/thing.cpp") == {"thing_test.cpp": 1, "other_test.cpp": 2, "test_verb.py": 3}
    assert broken(tree, "src/one/thing_part.cpp") == broken(tree, "src/one/thing.cpp")
    assert broken(tree, "src/one/thing.h") == {"thing_test.cpp": 1, "other_test.cpp": 2, "test_verb.py": 3}
    assert broken(tree, "src/one/other.cpp") == {"other_test.cpp": 1, "test_verb.py": 2}
    assert broken(tree, "src/one/alone.h") == {"alone_test.cpp": 1}
    assert broken(tree, "src/cli/verb.cpp") == {"test_verb.py": 1}


def test_a_test_breaks_itself_and_its_helpers_break_it(tree):
    assert broken(tree, "tests/one/thing_test.cpp") == {"thing_test.cpp": 0}
    assert broken(tree, "tests/cli/helper.py") == {"test_verb.py": 1}
    assert broken(tree, "tests/cli/conftest.py") == {"test_verb.py": 1, "test_page.py": 1}


def test_data_and_pages_break_the_tests_that_name_them(tree):
    assert broken(tree, "docs/page.md") == broken(tree, "README.md") == {"test_page.py": 1}
    assert broken(tree, "docs/unread.md") == {}
    assert broken(tree, "tests/golden/words/a.txt") == {"words_test.cpp": 1}
    assert tree.distances(["src/cli/page.html"])["src/cli/pages.cpp"] == 1


def test_the_package_breaks_its_tests_whatever_they_import_of_it(tree):
    assert broken(tree, "python/src/texts.cpp") == {"test_arrow.py": 1}
    assert broken(tree, "python/deberta/_pipeline.py") == {"test_arrow.py": 1}


def test_a_mutation_names_the_tests_of_its_file(tree):
    assert broken(tree, "src/one/far.cpp") == {"words_test.cpp": 1}


def test_a_file_that_is_gone_breaks_what_still_wants_it(tree, repository):
    (repository / "docs/page.md").unlink()
    assert broken(reach.Tree(repository, ("docs/page.md",)), "docs/page.md") == {"test_page.py": 1}


@pytest.fixture
def commits(repository, tree, run):
    """list_changed(words...) -> lines; commit(message) -> hash, of all that is there"""

    def git(*words):
        return subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=repository,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout.strip()

    def commit(message):
        git("add", "-A")
        git("commit", "-qm", message)
        return git("rev-parse", "HEAD")

    return git, commit, lambda *words: run("tools/changed.py", "--list", *words)


def test_what_changed_is_counted_from_the_commit_that_passed_or_from_main(commits, write):
    git, commit, listed = commits
    first = commit("first")
    write("src/one/thing.cpp", '#include "one/thing.h"\n// more\n')
    second = commit("second")
    write("README.md", "words\n")
    code, lines = listed(first)
    assert code == 0
    assert lines[0] == f"test: 2 files changed since {first[:12]}; 5 checks and 4 test files can fail"
    assert lines[1:3] == ["README.md", "src/one/thing.cpp"]
    assert [line.split()[-1] for line in lines if " steps " in line] == [
        "tests/one/thing_test.cpp",
        "tests/cli/test_page.py",
        "tests/one/other_test.cpp",
        "tests/cli/test_verb.py",
    ]
    git("update-ref", "refs/remotes/origin/main", first)
    assert f"since {first[:12]};" in listed()[1][0]
    git("update-ref", "refs/gate/passed", second)
    assert f"since {second[:12]};" in listed()[1][0], "README.md is not committed"
    commit("third")
    assert f"since {second[:12]};" in listed()[1][0]
    code, lines = listed("nowhere")
    assert code == 2 and lines == ["test: --changed: expected a commit, got nowhere"]


def test_a_fuzz_target_is_checked_where_it_includes_what_changed(commits, write):
    _git, commit, listed = commits
    first = commit("first")
    write("src/one/alone.h", "int other();\n")
    assert "check: syntax" not in listed(first)[1]
    write("src/one/thing.h", "int other();\n")
    assert "check: syntax" in listed(first)[1], "fuzz.h includes it"


def test_a_green_gate_is_remembered_where_all_that_it_tested_is_committed(commits, write, repository):
    git, commit, _ = commits
    first = commit("first")
    write("README.md", "more\n")
    gate.remember(repository)
    assert git("for-each-ref", "refs/gate") == ""
    git("checkout", "-q", "README.md")
    gate.remember(repository)
    assert git("rev-parse", draw.PASSED) == first


def test_on_main_alone_the_change_is_the_work_of_the_last_hours(commits, monkeypatch, repository):
    _git, commit, _ = commits
    hashes = []
    for hours in (0, 10, 12, 15):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{1_700_000_000 + hours * 3600} +0000")
        (repository / "README.md").write_text(str(hours))
        hashes.append(commit(str(hours)))
    assert draw.base(repository) == hashes[0]
