"""./run wheel says what it does, and why it failed."""

import pytest

import wheel


def test_what_runs_is_told_and_its_output_is_kept(tmp_path, capfd):
    wheel.run(
        "building ./python", ["bash", "-c", "echo '[1/2] Building'; echo warning >&2"], tmp_path / "logs/build.log"
    )
    said = capfd.readouterr()
    assert said.err == "run wheel: building ./python\n" and said.out == ""
    assert (tmp_path / "logs/build.log").read_text() == "[1/2] Building\nwarning\n"


def test_a_command_that_fails_shows_the_end_of_its_output(tmp_path):
    log = tmp_path / "build.log"
    with pytest.raises(SystemExit) as ended:
        wheel.run("building ./python", ["bash", "-c", "seq 100; exit 3"], log)
    lines = str(ended.value.code).splitlines()
    assert lines == [*map(str, range(41, 101)), f"run wheel: building ./python: failed; all of it: {log}"]
