"""Schemas of what a client sends."""

from __future__ import annotations

from laya_serve.limits import Limits
from laya_serve.openapi.shapes import (
    Schema,
    anything,
    array,
    constant,
    either,
    flag,
    mapping,
    nullable,
    number,
    record,
    reference,
    share,
    text,
    whole,
)
from laya_serve.settings import Settings

_WORDS = r"\S"


def request_schemas(settings: Settings, limits: Limits) -> dict[str, Schema]:
    """The components that requests are made of."""
    contract = settings.jev_strict == "contract"
    return {
        "State": _state(limits),
        "Instructions": _instructions(),
        "Choice": _choice(limits),
        "Score": _score(limits),
        "Noul": _noul(needs_instructions=not contract),
        "Question": {
            "oneOf": [reference(name) for name in ("Choice", "Score", "Noul")],
            "discriminator": {
                "propertyName": "type",
                "mapping": {name.lower(): f"#/components/schemas/{name}" for name in ("Choice", "Score", "Noul")},
            },
        },
        "Questions": mapping(
            reference("Question"),
            "Questions by an id of your own; answers come under the same ids.",
            minProperties=1 if contract else 0,
            maxProperties=limits.questions,
            propertyNames={"type": "string", "pattern": _WORDS},
        ),
        "SystemOneRequest": record(
            {"state": reference("State"), "questions": reference("Questions"), **_controls(settings)},
            ["state", "questions"],
        ),
        "BatchRequest": record(
            {
                "states": array(
                    reference("State"), "What the questions are about.", minItems=1, maxItems=limits.states
                ),
                "questions": reference("Questions"),
                **_controls(settings),
                "batch_size": nullable(whole("States in one forward pass.", minimum=1)),
                "sort_by_length": nullable(flag("Put states of similar length into the same pass.")),
            },
            ["states", "questions"],
        ),
    }


def _state(limits: Limits) -> Schema:
    return {
        "type": ["string", "number", "boolean", "array", "object"],
        "maxLength": limits.state_characters,
        "description": f"What a question is about: text or JSON, {limits.state_characters} characters when serialised.",
    }


def _instructions() -> Schema:
    return either(
        text(pattern=_WORDS),
        number(),
        flag(),
        array(anything(), minItems=1),
        {"type": "object", "minProperties": 1},
        description="What is asked, as text or JSON.",
    )


def _order() -> Schema:
    return nullable(array(whole(minimum=0), "The order in which the model sees the options: each number once."))


def _choice(limits: Limits) -> Schema:
    labels = array(either(text(), number(), flag()), minItems=1, maxItems=limits.choice_options, uniqueItems=True)
    described = mapping(anything(), minProperties=1, maxProperties=limits.choice_options)
    return record(
        {
            "type": constant("choice"),
            "instructions": reference("Instructions"),
            "criteria": either(described, labels, description="{label: description or null}, or a list of labels."),
            "option_order": _order(),
            "labels": {"type": "null"},
        },
        ["type", "instructions", "criteria"],
        "Pick one label.",
    )


def _score(limits: Limits) -> Schema:
    level: Schema = {"type": ["string", "number", "boolean", "array", "object"]}
    return record(
        {
            "type": constant("score"),
            "instructions": reference("Instructions"),
            "criteria": array(level, "The levels, lowest first.", minItems=1, maxItems=limits.score_levels),
            "option_order": _order(),
            "labels": {"type": "null"},
        },
        ["type", "instructions", "criteria"],
        "Place the state on a scale.",
    )


def _noul(needs_instructions: bool) -> Schema:
    truths = record(
        {"true": anything(), "false": anything()}, [], "What true and false mean.", additionalProperties=False
    )
    words = record({"true": text(pattern=_WORDS), "false": text(pattern=_WORDS)}, additionalProperties=False)
    instructions = reference("Instructions")
    return record(
        {
            "type": constant("noul"),
            "instructions": instructions if needs_instructions else nullable(instructions),
            "criteria": nullable(truths),
            "labels": nullable(words),
            "option_order": _order(),
        },
        ["type", "instructions"] if needs_instructions else ["type"],
        "Does the statement hold?",
    )


def _controls(settings: Settings) -> dict[str, Schema]:
    budget = settings.max_token_budget
    bands = mapping(share(), minProperties=1, description="Thresholds by `<type>:<options>`, and `default`.")
    return {
        "model": nullable(
            text("A checkpoint's name, alias or published Hub id; convaiinnovations/laya lets the router choose.")
        ),
        "task": nullable(text("`typed_decisions`, or a checkpoint's name.")),
        "lang": nullable(text("The language of the state, as a code.")),
        "lang_guess": nullable(text("A guess at the language, which the router asks before its own.")),
        "max_len": nullable(whole("Tokens of a row.", minimum=1, maximum=budget)),
        "head_max_len": nullable(whole("Tokens of a question with its options.", minimum=1, maximum=budget)),
        "min_confidence": nullable(either(share(), bands, description="Mark answers below this confidence.")),
    }
