"""`Router.predict_batch` answers as N calls of `Router.predict` do, on real checkpoints, whatever a batch mixes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laya_core import Agent
from laya_router import Router

# Rows that share a pass are padded to one width, which moves float32 sums by their last bits.
TOLERANCE = 2e-4

REFUND = {"type": "noul", "instructions": "Does the customer want money back?"}
TEAM = {
    "type": "choice",
    "instructions": "Which team takes it?",
    "criteria": {"billing": "payments", "technical": "errors", "other": None},
}
URGENCY = {"type": "score", "instructions": "How urgent is it?", "criteria": ["can wait", "today", "now"]}

states = st.sampled_from(
    [
        "I was charged twice",
        "Wo bleibt denn mein Paket? Ich warte seit zwei Wochen darauf.",
        "Здравствуйте, верните деньги за заказ",
        "12:30",
        "The app crashes whenever I open the settings page. " * 12,
        {"subject": "Refund", "items": [{"sku": "A-1", "qty": 2}], "message": "Please send my money back."},
        ["first message", "second message"],
    ]
)
questions = st.sampled_from(
    [{"refund": REFUND}, {"team": TEAM, "urgency": URGENCY}, {"urgency": URGENCY, "team": TEAM}, {}]
)
requests = st.fixed_dictionaries(
    {"state": states, "questions": questions},
    optional={
        "model": st.sampled_from(["modernbert", " BERT ", "auto"]),
        "lang": st.sampled_from(["de", "en_US", "und"]),
        "lang_guess": st.sampled_from(["fr", None]),
        "max_len": st.sampled_from([64, 128]),
        "head_max_len": st.just(48),
    },
)


class PinsNumbers:
    """A route hook that chooses by alias, as the batch has to resolve it before it groups."""

    def on_route(self, ctx: Any) -> None:
        if ctx.states == ["12:30"]:
            ctx.decision = {**ctx.decision, "model": "ML", "reason": "pinned"}


@pytest.fixture(scope="module")
def router(parity_checkpoints: Path) -> Router:
    paths = {"english": "modernbert", "multilingual": "bert", "bert": "bert", "modernbert": "modernbert"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the checkpoints hold a temperature that is clamped
        agents = {
            folder: Agent(parity_checkpoints / folder, device="cpu", precision="float32")
            for folder in set(paths.values())
        }
    router = Router(hooks=PinsNumbers())
    for name, folder in paths.items():
        router.attach(name, agents[folder])
    return router


@given(
    batch=st.lists(requests, max_size=8),
    batch_size=st.sampled_from([None, 1, 3]),
    sort_by_length=st.booleans(),
    min_confidence=st.sampled_from([None, 0.5]),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_batch_is_as_many_single_calls(
    router: Router, batch: list[dict[str, Any]], batch_size: int | None, sort_by_length: bool, min_confidence: Any
) -> None:
    together = router.predict_batch(
        batch, batch_size=batch_size, sort_by_length=sort_by_length, min_confidence=min_confidence
    )
    alone = [router.predict(**request, min_confidence=min_confidence) for request in batch]
    assert [difference for pair in zip(together, alone, strict=True) for difference in differences(*pair)] == []


def differences(batched: Any, single: Any, where: str = "") -> Iterator[str]:
    """Every field in which two results differ by more than rounding."""
    if isinstance(single, dict) and isinstance(batched, dict) and batched.keys() == single.keys():
        for key in single:
            yield from differences(batched[key], single[key], f"{where}/{key}")
    elif isinstance(single, float) and isinstance(batched, float):
        if abs(batched - single) > TOLERANCE:
            yield f"{where}: {batched} instead of {single}"
    elif type(batched) is not type(single) or batched != single:
        yield f"{where}: {batched!r} instead of {single!r}"
