"""Schemas of what the server sends, in each wire mode."""

from __future__ import annotations

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

_TYPES = ("ChoiceAnswer", "ScoreAnswer", "NoulAnswer")


def response_schemas(settings: Settings) -> dict[str, Schema]:
    """The components that responses are made of."""
    strict = settings.jev_strict != "0"
    usage = whole(minimum=0)
    result: dict[str, Schema] = {
        "model": text("The name of the decision head."),
        "answers": mapping({"oneOf": [reference(name) for name in _TYPES]}, "By question id."),
        "usage": reference("Usage"),
    }
    return {
        **_answers(settings),
        "Usage": _usage(strict),
        **({} if strict else {"Routing": _routing()}),
        "Result": record(result if strict else {**result, "routing": reference("Routing")}),
        "BatchResult": record(
            {
                "results": array(reference("Result"), "In the order of the states."),
                "total_usage": record({"input_tokens": usage, "output_tokens": usage}),
            }
        ),
        "Error": _error(settings),
        "Health": _health(),
        "Models": _models(),
    }


def _answers(settings: Settings) -> dict[str, Schema]:
    strict = settings.jev_strict != "0"
    common = {} if strict else {"confidence": share(), "answer_confidence": share(), "action": {"type": "object"}}
    chosen = {
        "type": constant("choice"),
        "choice": either(text(), number(), flag()),
        "probabilities": mapping(share()),
        "confidence": share(),
    }
    placed = {
        "type": constant("score"),
        "score": number(minimum=0),
        "legend": mapping(anything("A level.")),
        "probabilities": mapping(share()),
        "confidence": share(),
    }
    optional = {
        "abstention": text("Only with min_confidence.", enum=["passed", "abstained", "unevaluated"]),
        "abstention_threshold": share(),
        "low_confidence": flag(),
        "x_jev_confidence": share("TypeSafe's confidence."),
        "x_tournament": record({"finalists": array(anything()), "rounds": whole(minimum=1)}),
    }
    kinds = {"ChoiceAnswer": chosen, "ScoreAnswer": placed, "NoulAnswer": {"type": constant("noul"), "noul": share()}}
    schemas: dict[str, Schema] = {}
    for name, own in kinds.items():
        required = {**own, **common}
        extra = {} if settings.jev_strict == "1" else optional
        schemas[name] = record({**required, **extra}, list(required))
    return schemas


def _usage(strict: bool) -> Schema:
    count = whole(minimum=0)
    counts = {"input_tokens": count, "output_tokens": count}
    truncation = {
        "state_tokens": count,
        "state_tokens_dropped": count,
        "truncated": flag(),
        "truncated_questions": array(text()),
        "options": mapping({"type": "object"}, "Where option texts had to be cut."),
    }
    # A request without questions reads nothing, so it says nothing of what was cut.
    return record(counts if strict else {**counts, **truncation}, list(counts))


def _routing() -> Schema:
    return record(
        {
            "model": text("The checkpoint that answered."),
            "repo": text("Where it comes from."),
            "reason": text("Why it was chosen."),
            "detection": nullable({"type": "object"}),
            "workflow": nullable(text()),
        },
        ["model"],
    )


def _error(settings: Settings) -> Schema:
    if settings.jev_strict != "contract":
        return record({"detail": text("What was wrong, where, and what to do.")})
    place = either(text(), whole())
    invalid = array(
        record({"loc": array(place), "msg": text(), "type": text()}), "What in the body is wrong.", minItems=1
    )
    return record({"detail": either(invalid, record({"error_type": text(), "message": text()}))})


def _health() -> Schema:
    fallbacks = record({"count": whole(minimum=0), "last_reason": nullable(text())})
    return record(
        {
            "status": constant("ok"),
            "loaded": array(text(), "The checkpoints in memory."),
            "revisions": mapping(nullable(text())),
            "device": text(),
            "device_is_preference": flag(),
            "checkpoint_devices": mapping(text()),
            "cpu_fallbacks": mapping(fallbacks),
            "idle_unload_seconds": number(),
            "idle_seconds": number(),
        },
        ["status"],
        "Without the key of a server that has one: the status alone.",
    )


def _models() -> Schema:
    listed = record(
        {
            "id": text(),
            "object": constant("model"),
            "owned_by": text(),
            "checkpoint": text("What the name stands for."),
            "description": text(),
            "loaded": flag(),
        }
    )
    named = record({"name": text(), "description": text(), "release_date": text()})
    return record({"data": array(listed), "models": array(named, "The same, as TypeSafe's client reads it.")})
