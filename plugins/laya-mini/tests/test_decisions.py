from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from laya_mini import CHECKPOINT

laya_core = pytest.importorskip("laya_core")


@pytest.fixture(scope="module")
def agent() -> Iterator[Any]:
    with laya_core.Agent(str(CHECKPOINT), device="cpu", precision="float32") as agent:
        yield agent


@pytest.mark.parametrize(
    ("state", "topic"),
    [
        ("The parcel still has not arrived, and tracking has shown nothing for a week.", "delivery"),
        ("I was charged twice on my credit card for the same invoice.", "payment"),
        ("I forgot my password and cannot log in to my account.", "login"),
    ],
)
def test_plain_complaints_go_to_their_topic(agent: Any, state: str, topic: str) -> None:
    criteria = {"delivery": "shipping of parcels", "payment": "invoices and money", "login": "access to the account"}
    question = {"type": "choice", "instructions": "What is the message about?", "criteria": criteria}
    assert agent.predict(state, {"topic": question})["answers"]["topic"]["choice"] == topic


def test_order_of_options_does_not_change_the_choice(agent: Any) -> None:
    state = "The soup was cold and the waiter was rude."
    labels = ["restaurant", "garden", "traffic", "school"]
    asked = [
        {"type": "choice", "instructions": "Where does this happen?", "criteria": order}
        for order in (labels, labels[::-1])
    ]
    answers = [agent.predict(state, {"place": question})["answers"]["place"] for question in asked]
    assert answers[0]["choice"] == answers[1]["choice"] == "restaurant"


def test_acting_is_always_advised_because_nothing_else_is_priced(agent: Any) -> None:
    answer = agent.predict("It rains.", {"wet": {"type": "noul", "instructions": "It is raining."}})["answers"]["wet"]
    assert answer["action"]["act_probability"] == 1.0
