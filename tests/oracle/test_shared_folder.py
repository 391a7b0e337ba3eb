"""Says once that these comparisons used less data: without ../shared the texts, vocabularies and weights are made-up or
recorded ones."""

import pytest

from oracle_runs import SHARED


@pytest.mark.skipif(
    not SHARED.exists(),
    reason="no ../shared: tokens, folders, pipelines and metrics are compared on made texts, vocabularies and weights "
    "alone",
)
def test_the_shared_data_is_whole():
    assert all(
        (SHARED / name).is_dir()
        for name in ("data", "reference/models", "reference/tokenizers", "reference/published", "reference/configs")
    )
