"""The p-values of docs/records/ablations.md are those of scipy, and its correction that of Holm."""

import random
import sys

import pytest
from scipy import stats

from oracle_runs import ROOT

sys.path.insert(0, str(ROOT / "bench"))
import ablation_tables


@pytest.mark.parametrize("count", [2, 3])
def test_p_values_are_those_of_a_paired_t_test(count):
    dice = random.Random(count)
    for _ in range(100):
        a, b = ([dice.gauss(0, 1) for _ in range(count)] for _ in range(2))
        ours = ablation_tables.p_value([x - y for x, y in zip(a, b)])
        assert ours == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)


def test_claims_are_corrected_for_all_comparisons(monkeypatch):
    """Holm's: the smallest p times the number of comparisons, the next times one less, never falling."""
    differences = {"a": [1, 1.001, 1.002], "b": [1, 1.1, 1.2], "c": [-1, -1.01, -1.02], "d": [1, -1, 1]}
    monkeypatch.setattr(
        ablation_tables, "comparisons", lambda found: [("mean", name, "x", its) for name, its in differences.items()]
    )
    lines = [
        line.split(" | ")
        for line in ablation_tables.verdicts({}).splitlines()
        if line.startswith("| ") and "---" not in line
    ][1:]
    p = sorted(stats.ttest_1samp(its, 0).pvalue for its in differences.values())
    expected, least = [], 0
    for rank, value in enumerate(p):
        least = max(least, min(1, value * (4 - rank)))
        expected.append(least)
    assert [float(line[7]) for line in lines] == [pytest.approx(value, rel=0.05) for value in expected]
    assert {line[0].removeprefix("| "): line[8].removesuffix(" |") for line in lines} == {
        "a": "**win**",
        "c": "**loss**",
        "b": "**win**",
        "d": "no claim",
    }
