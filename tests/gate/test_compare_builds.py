"""The comparison of two builds, with scripts standing in for the programs."""

import compare_builds

SCRIPT = "#!/bin/sh\necho {answer}\necho {message} in $1 >&2\n[ $1 = none ] || echo {file} >$1\nexit {code}\n"
SAME = {"answer": "positive", "message": "done", "file": "vector", "code": 0}


def compared(write, capsys, words=("OUT",), **change):
    old = write("old", SCRIPT.format(**SAME), is_program=True)
    new = write("new", SCRIPT.format(**SAME | change), is_program=True)
    differ = compare_builds.compare([compare_builds.Run("classify", words)], old, new)
    return differ, capsys.readouterr().out.splitlines()[-1]


def test_equal_builds_do_not_differ(write, capsys):
    assert compared(write, capsys) == ([], "1 runs: 0 differ; messages of 0 differ")


def test_an_answer_a_file_and_an_exit_code_count(write, capsys):
    for change in ({"answer": "negative"}, {"file": "other"}, {"code": 1}):
        assert compared(write, capsys, **change) == (["classify"], "1 runs: 1 differ; messages of 0 differ")
    assert compared(write, capsys, words=("none",), file="other")[0] == []


def test_other_words_are_counted_and_are_no_other_answer(write, capsys):
    assert compared(write, capsys, message="ready") == ([], "1 runs: 0 differ; messages of 1 differ: classify")


def test_a_run_that_both_refuse_shows_nothing(write, capsys):
    old = write("old", SCRIPT.format(**SAME | {"code": 2}), is_program=True)
    differ = compare_builds.compare([compare_builds.Run("classify", ("none",))], old, old)
    assert differ == ["classify: done in none"]
    assert "tells nothing: classify" in capsys.readouterr().out


def test_times_are_ratios_of_rounds(write, capsys):
    busy = write(
        "old",
        SCRIPT.format(**SAME).replace("exit 0", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"),
        is_program=True,
    )
    slow = write("new", busy.read_text().replace("20000", "40000"), is_program=True)
    compare_builds.time_runs([compare_builds.Run("classify", ("none",))], busy, slow, 3)
    assert "time of classify: new / old " in capsys.readouterr().out
