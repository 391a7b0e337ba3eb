"""tools/checks.py in a stand-in repository: what is checked, and what fails."""


def test_each_named_check_counts_and_a_failing_one_is_red(run, write):
    write("run.sh", "echo fine\n")
    assert run("tools/checks.py", "shell") == (0, ["shell: no problem", "1 passed, 0 failed"])
    write("broken.sh", "if true\n")
    code, lines = run("tools/checks.py", "shell", "shell")
    assert code == 1 and lines[-1] == "0 passed, 2 failed" and any("broken.sh" in line for line in lines)


def test_an_unknown_check_is_refused(run):
    code, lines = run("tools/checks.py", "spelling")
    assert code == 2 and lines[-1].startswith("checks: unknown check spelling; expected some of format, layers")
