"""Typed questions: what callers write, validated once, and the texts the model reads."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Final

from attrs import field, frozen

from laya_hooks.suggestions import closest, did_you_mean, not_questions

from .config import QUESTION_TYPES, QuestionType

_NO_TEXT: Final = "no, the statement does not hold"
_YES_TEXT: Final = "yes, the statement holds"
_LONGEST_SHOWN: Final = 60


def text_of(value: object) -> str:
    """A string as it is, anything else as JSON: how instructions, criteria and states become text.

    Raises:
        ValueError: JSON cannot hold it.
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, TypeError, ValueError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"this {type(value).__name__} cannot be written as JSON: {reason}") from error


def _check_instructions(_: object, __: object, value: Any) -> None:
    if value is None:
        raise ValueError("instructions are missing; say in words what is asked")
    if value == [] or value == {} or (isinstance(value, str) and not value.strip()):
        raise ValueError("instructions are empty; say in words what is asked")


def _as_labels(criteria: Any) -> Any:
    if isinstance(criteria, list | tuple):
        return dict.fromkeys(_distinct(criteria))
    return dict(criteria) if isinstance(criteria, Mapping) else criteria


def _distinct(labels: Sequence[object]) -> list[Hashable]:
    seen: list[Hashable] = []
    for label in labels:
        if not isinstance(label, str | int | float):
            raise ValueError(
                f"the label {label!r} must be a text or a number; give structured options as {{label: description}}"
            )
        if isinstance(label, float) and not math.isfinite(label):
            raise ValueError(f"the label {label!r} is no number that JSON can hold; write it as a text")
        if label in seen:
            raise ValueError(
                f"the label {label!r} appears twice (1, 1.0 and True count as the same); labels must be distinct"
            )
        seen.append(label)
    return seen


def _check_choice(_: object, __: object, criteria: Any) -> None:
    if not isinstance(criteria, Mapping):
        raise ValueError(f"criteria must be {{label: description}} or a list of labels, {_but(criteria)}")
    if not criteria:
        raise ValueError("criteria are empty; a choice needs at least one label")
    _distinct(list(criteria))


def _check_levels(_: object, __: object, criteria: Any) -> None:
    if not isinstance(criteria, tuple):
        raise ValueError(f"criteria must be a list of levels from lowest to highest, {_but(criteria)}")
    if not criteria:
        raise ValueError("criteria are empty; a score needs at least one level")
    for index, level in enumerate(criteria):
        if level is None:
            raise ValueError(f"level {index} of the criteria is null; describe every level")


def _as_descriptions(criteria: Any) -> Any:
    return _by_truth_value("criteria", criteria)


def _by_truth_value(what: str, value: Any) -> Any:
    """The mapping with its keys read as text and lower-cased: `True`, "True" and "true" are the same."""
    if not isinstance(value, Mapping):
        return value
    converted: dict[str, object] = {}
    for key, entry in value.items():
        name = str(key).lower()
        if name not in ("true", "false"):
            raise ValueError(f"{what} of a noul question take the keys 'true' and 'false', not {key!r}")
        if name in converted:
            raise ValueError(f"{what} give {name!r} twice")
        converted[name] = entry
    return converted


def _check_statement(_: object, __: object, criteria: Any) -> None:
    if criteria is not None and not isinstance(criteria, Mapping):
        raise ValueError(f"criteria of a noul question must be {{'true': …, 'false': …}}, not {_kind(criteria)}")


def _as_words(labels: Any) -> Any:
    labels = _by_truth_value("labels", labels)
    if not isinstance(labels, Mapping):
        return labels
    return {key: value.strip() if isinstance(value, str) else value for key, value in labels.items()}


def _check_words(_: object, __: object, labels: Any) -> None:
    if labels is None:
        return
    if not isinstance(labels, Mapping) or set(labels) != {"true", "false"}:
        raise ValueError("labels must give a word for both 'true' and 'false'")
    if not all(isinstance(word, str) and word for word in labels.values()):
        raise ValueError(f"labels must be words, not {dict(labels)!r}")
    if labels["true"] == labels["false"]:
        raise ValueError(f"labels for true and false are both {labels['true']!r}; they must differ")


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _but(given: object) -> str:
    return "and are missing" if given is None else f"not {_kind(given)}"


def _kind(value: object) -> str:
    """The type of a value, and of a text or number what it says."""
    if value is None:
        return "None"
    return f"{type(value).__name__} {_shown(value)}" if isinstance(value, str | int | float) else type(value).__name__


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


class Question:
    """What the three question types share. `kind` is the wire name of the type."""

    kind: ClassVar[QuestionType]
    instructions: Any
    option_order: tuple[int, ...] | None

    def option_texts(self) -> tuple[str, ...]:
        """One text per option as the model reads it, in the caller's order."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The plain dict of the wire format; fields that were not given are left out."""
        raise NotImplementedError

    @property
    def head_text(self) -> str:
        """The text before the options: the type and the instructions."""
        return f"{self.kind} question: {text_of(self.instructions)}"

    def __attrs_post_init__(self) -> None:
        if self.option_order is None:
            return
        count = len(self.option_texts())
        whole = all(isinstance(slot, int) and not isinstance(slot, bool) for slot in self.option_order)
        if not whole or sorted(self.option_order) != list(range(count)):
            raise ValueError(f"option_order must name each of 0 … {count - 1} once, not {list(self.option_order)!r}")

    def _given(self, **fields: object) -> dict[str, Any]:
        optional = {"option_order": None if self.option_order is None else list(self.option_order)}
        given = {name: value for name, value in {**fields, **optional}.items() if value is not None}
        return {"type": self.kind, "instructions": self.instructions, **given}


def _check_order(_: object, __: object, order: Any) -> None:
    if order is not None and not isinstance(order, tuple):
        raise ValueError(f"option_order must be a list of option numbers, not {_kind(order)}")


@frozen(eq=True, hash=False)
class Choice(Question):
    """Pick one label. `criteria` is `{label: description or None}` or a list of labels (texts or numbers).

    Raises:
        ValueError: instructions or criteria are empty or malformed, labels collide, or the order is no permutation.
    """

    kind: ClassVar[QuestionType] = "choice"
    instructions: Any = field(validator=_check_instructions)
    criteria: Mapping[Any, Any] = field(converter=_as_labels, validator=_check_choice)
    option_order: tuple[int, ...] | None = field(
        default=None, converter=_as_tuple, validator=_check_order, kw_only=True
    )

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The caller's own label objects, in order."""
        return tuple(self.criteria)

    def option_texts(self) -> tuple[str, ...]:
        return tuple(
            str(label) if described is None or described == "" else f"{label}: {text_of(described)}"
            for label, described in self.criteria.items()
        )

    def to_dict(self) -> dict[str, Any]:
        bare = all(described is None for described in self.criteria.values())
        return self._given(criteria=list(self.criteria) if bare else dict(self.criteria))


@frozen(eq=True, hash=False)
class Score(Question):
    """Place the state on a scale. `criteria` lists the levels from lowest (0) to highest.

    Raises:
        ValueError: instructions or levels are empty or malformed, or the order is no permutation.
    """

    kind: ClassVar[QuestionType] = "score"
    instructions: Any = field(validator=_check_instructions)
    criteria: tuple[Any, ...] = field(converter=_as_tuple, validator=_check_levels)
    option_order: tuple[int, ...] | None = field(
        default=None, converter=_as_tuple, validator=_check_order, kw_only=True
    )

    @property
    def levels(self) -> tuple[str, ...]:
        """The text of each level, lowest first."""
        return tuple(text_of(level) for level in self.criteria)

    def option_texts(self) -> tuple[str, ...]:
        return tuple(f"level {index}: {level}" for index, level in enumerate(self.levels))

    def to_dict(self) -> dict[str, Any]:
        return self._given(criteria=list(self.criteria))


@frozen(eq=True, hash=False)
class Noul(Question):
    """Does the statement hold? `criteria` may describe `true` and `false`; `labels` replaces these two words.

    Raises:
        ValueError: instructions are empty, or criteria, labels or order are malformed.
    """

    kind: ClassVar[QuestionType] = "noul"
    instructions: Any = field(validator=_check_instructions)
    criteria: Mapping[str, Any] | None = field(default=None, converter=_as_descriptions, validator=_check_statement)
    labels: Mapping[str, str] | None = field(default=None, converter=_as_words, validator=_check_words)
    option_order: tuple[int, ...] | None = field(
        default=None, converter=_as_tuple, validator=_check_order, kw_only=True
    )

    def option_texts(self) -> tuple[str, ...]:
        words = self.labels or {"true": "true", "false": "false"}
        described = self.criteria or {}
        return tuple(
            f"{words[key]}: {default if described.get(key) in (None, '') else text_of(described[key])}"
            for key, default in (("false", _NO_TEXT), ("true", _YES_TEXT))
        )

    def to_dict(self) -> dict[str, Any]:
        return self._given(criteria=self.criteria, labels=self.labels)


_CLASSES: Final[Mapping[str, type[Question]]] = {"choice": Choice, "score": Score, "noul": Noul}
_KEYS: Final = ("type", "instructions", "criteria", "option_order", "labels")
_MOST_TOLD: Final = 3


def parse_questions(questions: object) -> dict[Any, Question]:
    """Validate a mapping of question id to question (plain dicts or `Choice`, `Score`, `Noul`), keeping its order.

    Raises:
        TypeError: `questions` is not a mapping.
        ValueError: an id or a question is refused; the message names the id and the fix.
    """
    if not isinstance(questions, Mapping):
        raise TypeError(not_questions(questions))
    return {_checked_id(qid): _parse(qid, question) for qid, question in questions.items()}


def _checked_id(qid: object) -> object:
    if isinstance(qid, bool) or not isinstance(qid, str | int) or (isinstance(qid, str) and not qid.strip()):
        raise ValueError(f"the question id {qid!r} is not usable; give every question a non-empty name")
    return qid


def _parse(qid: object, question: object) -> Question:
    if isinstance(question, Question):
        return question
    if not isinstance(question, Mapping):
        raise ValueError(f"question {qid!r} must be a mapping with 'type' and 'instructions', not {_kind(question)}")
    try:
        return _typed(question)
    except ValueError as error:
        raise ValueError(f"question {qid!r}: {error}{_misspelt(question)}") from None


def _typed(question: Mapping[Any, Any]) -> Question:
    kind = question.get("type")
    known = f"type must be one of {', '.join(QUESTION_TYPES)}"
    if kind is None:
        raise ValueError(f"{known}, and is missing")
    if not isinstance(kind, str) or kind not in _CLASSES:
        raise ValueError(f"{known}, not {_kind(kind)}{did_you_mean(kind, QUESTION_TYPES)}")
    if question.get("labels") is not None and kind != "noul":
        raise ValueError(f"labels are for noul questions; the labels of a {kind} are its criteria")
    fields = ("instructions", "criteria", "option_order", *(("labels",) if kind == "noul" else ()))
    return _CLASSES[kind](**{name: question.get(name) for name in fields})


def _misspelt(question: Mapping[Any, Any]) -> str:
    """The end of a message about a question that lacks a key: the keys it has that nobody knows, which may be it."""
    needed = ("type", "instructions", *(("criteria",) if question.get("type") in ("choice", "score") else ()))
    missing = [name for name in needed if question.get(name) is None]
    unknown = [key for key in question if key not in _KEYS]
    if not missing or not unknown:
        return ""
    by_default = missing[0] if len(missing) == len(unknown) == 1 else None
    told = [_with_hint(key, closest(key, missing) or by_default) for key in unknown[:_MOST_TOLD]]
    more = ", …" if unknown[_MOST_TOLD:] else ""
    return f"; unknown {'key' if len(unknown) == 1 else 'keys'} {', '.join(told)}{more}"


def _with_hint(key: object, meant: str | None) -> str:
    return _shown(key) if meant is None else f"{_shown(key)} (did you mean {meant!r}?)"
