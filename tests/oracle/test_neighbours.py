"""300 of the neighbours of the published folders, drawn at random (NEIGHBOURS_SEED); all of them: tools/long_checks
neighbours."""

import collections
import os
import random

import both_sides
from neighbour_rules import GOOD
from neighbours import HOSTILE_NUMBERS, all_neighbours, run
from oracle_runs import needs_program

pytestmark = needs_program
COUNT, HOSTILE_COUNT = 300, 60


def judge(chosen, folder, monkeypatch):
    """How often each verdict was given; all must be good."""
    monkeypatch.chdir(folder)  # undone afterwards: the runs change the working directory
    both_sides.torch.set_num_threads(1)
    told = list(run(sorted(chosen, key=lambda one: one.case), folder, jobs=1))
    assert len(told) == len(chosen)
    bad = [f"{verdict}: {neighbour}\n    {detail}" for neighbour, verdict, detail in told if verdict not in GOOD]
    assert not bad, f"{len(bad)} of {len(told)}\n" + "\n".join(bad[:40])
    return collections.Counter(verdict for _, verdict, _ in told)


def sample(some, count):
    return random.Random(os.environ.get("NEIGHBOURS_SEED", "14")).sample(some, count)


def test_neighbours_of_published_folders_answer_as_transformers_or_are_refused(tmp_path, monkeypatch):
    counts = judge(sample(all_neighbours(tmp_path), COUNT), tmp_path, monkeypatch)
    assert counts["equal"] > COUNT / 6  # the comparison really compares answers


def test_numbers_that_32_bits_do_not_hold(tmp_path, monkeypatch):
    """A sample of replacements for every number in every file."""
    hostile = [one for one in all_neighbours(tmp_path) if one.name in HOSTILE_NUMBERS]
    counts = judge(sample(hostile, HOSTILE_COUNT), tmp_path, monkeypatch)
    assert counts["equal"] > 0 and counts["refused by both"] > 0, counts


def test_each_exception_has_a_reason_and_each_verdict_a_meaning():
    assert all(GOOD.values())
