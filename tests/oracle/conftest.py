"""The trainer, started once for all tests of this folder."""

import sys

import pytest

from oracle_runs import BINARY, ROOT

sys.path.append(str(ROOT / "tests/cli"))
from started_once import started_once


@pytest.fixture(scope="session", autouse=True)
def one_trainer(tmp_path_factory):
    if not (BINARY.resolve().parent / "deberta-train").exists():
        yield
        return
    with started_once(BINARY, tmp_path_factory.mktemp("once")) as settings, pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        yield
