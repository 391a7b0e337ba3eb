"""tools/gate.py with small parts: what fails, and what the last lines say."""

import os
import re
import shutil
import time

import pytest

import gate

BUSY = "python3 -c 'import time; end = time.process_time() + 0.5\nwhile time.process_time() < end: pass'"
LESS = 0.25 / 60  # minutes


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """run((name, command, budget in minutes, or None for what fills the gate's time)..., more) -> (tally, lines
    printed)"""
    monkeypatch.setattr(gate, "compile_seconds", lambda: gate.REFERENCE_SECONDS)  # whatever else this machine does

    def go(*rows, **limits):
        parts = [gate.Part(name, command, 0 if budget is None else None) for name, command, budget in rows]
        tally = gate.run_parts(
            parts, {name: budget for name, _, budget in rows if budget is not None}, tmp_path, **limits
        )
        return tally, capsys.readouterr().out.splitlines()

    return go


def test_the_speed_of_the_machine_is_measured(tmp_path, monkeypatch):
    """With a compiler that only reads the program: the gate itself compiles it in every run."""
    (tmp_path / "g++").write_text(f'#!/bin/sh\nexec {shutil.which("g++")} -fsyntax-only "$@"\n')
    (tmp_path / "g++").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert 0.1 < gate.compile_seconds() < 600


def test_the_last_line_counts_every_part(run):
    tally, lines = run(
        ("tests", "echo '12 passed, 0 failed'", 1),
        ("format", "true", 1),
        ("mutations", "echo killed; echo '3 passed, 0 failed'", 1),
    )
    assert lines[-1] == "16 passed, 0 failed" and tally.failed == 0


def test_a_surviving_mutation_is_red(run):
    _tally, lines = run(
        ("tests", "echo '12 passed, 0 failed'", 1), ("mutations", "echo '2 passed, 1 failed'; exit 1", 1)
    )
    assert lines[-1] == "14 passed, 1 failed" and any("failed: mutations" in line for line in lines)


def test_a_failure_is_red_whatever_the_exit_code_or_the_counts_say(run):
    assert run(("tests", "echo '12 passed, 2 failed'", 1))[1][-1] == "12 passed, 2 failed"
    assert run(("tests", "echo '12 passed, 0 failed'; exit 3", 1))[1][-1] == "12 passed, 1 failed"
    assert run(("format", "echo words; exit 1", 1))[1][-1] == "0 passed, 1 failed"


def test_a_part_over_its_budget_of_the_processor_is_red(run):
    _tally, lines = run(("tests", BUSY, LESS))
    assert lines[-1] == "1 passed, 1 failed" and any("OVER BUDGET" in line for line in lines)
    assert run(("tests", "sleep 1", LESS), slack=1)[0].failed == 0, "waiting is no work"


def test_a_budget_grows_with_the_slowness_of_the_machine_and_never_shrinks(run, monkeypatch):
    monkeypatch.setattr(gate, "compile_seconds", lambda: 100 * gate.REFERENCE_SECONDS)
    tally, lines = run(("tests", BUSY, LESS))
    assert tally.failed == 0 and any("100.00 times as long" in line for line in lines)
    monkeypatch.setattr(gate, "compile_seconds", lambda: gate.REFERENCE_SECONDS / 100)
    assert run(("tests", BUSY, LESS))[0].failed == 1


def test_a_hang_is_ended_with_all_that_it_started_and_is_red(run, tmp_path):
    begin = time.monotonic()
    _tally, lines = run(
        ("tests", f"(trap '' TERM; sleep 600; touch {tmp_path}/late) | cat", 0), ("format", "true", 1), slack=1 / 60
    )
    assert time.monotonic() - begin < 30
    assert lines[-1] == "1 passed, 1 failed" and any("ended after" in line for line in lines)


def test_the_whole_ends_after_its_minutes(run):
    _tally, lines = run(("tests", "sleep 600", 1), ("format", "true", 1), limit=1 / 60)
    assert lines[-1] == "0 passed, 2 failed"
    assert any(re.match(r"not run: format: \S+ minutes are over", line) for line in lines)


def test_a_part_that_skips_all_it_should_run_is_red(run):
    _tally, lines = run(("tests", "echo 'not run: a: no wings'; echo '0 passed, 0 failed'", 1))
    assert lines[-1] == "0 passed, 1 failed" and any("ran nothing" in line for line in lines)


def test_what_was_not_run_is_listed_at_the_end(run):
    said = "not run: kernels: Level/amx: this processor has no amx"
    _tally, lines = run(
        ("tests", f"echo '{said}'; seq 100; echo '2 passed, 0 failed'", 1),
        ("asan", f"echo '{said}'; echo '1 passed, 0 failed'", 1),
    )
    assert lines[-2:] == [said, "3 passed, 0 failed"]


def test_cheap_parts_run_after_a_failure_and_dear_ones_do_not(run):
    _tally, lines = run(
        ("format", "false", 1), ("tests", "echo '5 passed, 1 failed'; false", 1), ("mutations", "true", None)
    )
    assert lines[-2:] == ["not run: mutations: after failures of format, tests", "5 passed, 2 failed"]


def test_what_fills_the_time_is_told_its_end_and_may_run_nothing(run):
    begin = time.time()
    tally, lines = run(
        ("format", "true", 1), ("asan", "echo {until}; echo '0 passed, 0 failed'", None), whole_minutes=3
    )
    until = next(float(line) for line in lines if line.isdigit())
    assert tally.failed == 0 and begin + 179 <= until <= time.time() + 181
    tally, lines = run(("format", "true", 1), ("asan", "true", None), whole_minutes=0)
    assert tally.failed == 0
    assert lines[-2:] == ["not run: asan: the gate's time is over: 0 minutes are left", "1 passed, 0 failed"]


def test_a_part_that_would_show_nothing_in_time_is_not_begun(run, monkeypatch):
    monkeypatch.setattr(gate, "slowness_now", lambda: 2)
    part = gate.Part("asan", "true", leaves=1, needs=3)
    assert gate.reason_against(part, 6, []) == ""
    assert gate.reason_against(part, 5.9, []) == "the gate's time is over: 6 minutes are left"
    assert gate.reason_against(gate.Part("asan", "true", leaves=7, needs=3), 6.5, []) != "", (
        "nothing may be begun in what it leaves"
    )
    assert gate.reason_against(part, 6, ["tests"]) == "after failures of tests"


def test_budgets_name_every_part_and_stay_within_the_hour():
    parts = [gate.Part("tests", "true"), gate.Part("format", "true")]
    assert gate.budget_error({"tests": 1, "format": 2}, parts) == ""
    assert "every part" in gate.budget_error({"tests": 1}, parts)
    assert "within" in gate.budget_error({"tests": gate.BUDGET_MINUTES, "format": 1}, parts)
    assert gate.budget_error(gate.load_budgets((gate.ROOT / ".ci/budget.txt").read_text()), gate.PARTS) == ""
