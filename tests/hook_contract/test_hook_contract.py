"""The hook contract on the fakes and on the real runtimes, against the reference model."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from .machine import CHECKPOINTS, HookContract

pytestmark = pytest.mark.timeout(900)  # seconds alone, minutes on a machine that does other things too


def _keep_the_contract(machine: type[HookContract], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=20,
            derandomize=True,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )


def test_the_fakes_keep_the_hook_contract():
    _keep_the_contract(HookContract, examples=60)


def test_the_real_router_keeps_the_hook_contract():
    from laya_router import Router

    class OnTheRouter(HookContract):
        make_router = staticmethod(lambda **arguments: Router(models={name: name for name in CHECKPOINTS}, **arguments))

    _keep_the_contract(OnTheRouter, examples=40)


@pytest.mark.filterwarnings("ignore:.*temperature:RuntimeWarning")
@pytest.mark.parametrize("batching", [None, True], ids=["alone", "in shared passes"])
def test_the_real_agent_keeps_the_hook_contract(parity_checkpoints, batching):
    laya_core = pytest.importorskip("laya_core")
    checkpoint = laya_core.Agent(
        parity_checkpoints / "bert", device="cpu", precision="float32", continuous_batching=batching
    )

    class OnTheAgent(HookContract):
        make_agent = staticmethod(lambda: _without_hooks(checkpoint))
        failing_state = None

    with checkpoint:
        _keep_the_contract(OnTheAgent, examples=25)
        if batching:
            assert checkpoint.init_continuous_batching().stats().finished > 0


def _without_hooks(agent):
    agent._init_hooks()
    return agent
