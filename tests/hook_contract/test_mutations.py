"""The properties notice every known way to get the contract wrong."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from .machine import HookContract
from .mutations import MUTATIONS

pytestmark = pytest.mark.timeout(900)

QUICKLY = settings(
    max_examples=150,
    stateful_step_count=15,
    derandomize=True,
    deadline=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_the_hook_contract_notices(mutation):
    with mutation(), pytest.raises(AssertionError):
        run_state_machine_as_test(HookContract, settings=QUICKLY)
