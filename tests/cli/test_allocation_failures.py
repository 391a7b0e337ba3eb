"""One in 211 of every verb's allocations fails; tools/long_checks allocations tries all of them."""

import os
import random

import allocation_failures

EVERY = 211


def test_a_request_for_memory_that_fails_is_a_clean_error(tmp_path):
    phase = random.Random(os.environ.get("ALLOCATIONS_SEED", "15")).randrange(EVERY)
    problems, tried = allocation_failures.try_all(tmp_path, EVERY, phase)
    assert not problems, "\n".join(problems)
    assert tried > 200
