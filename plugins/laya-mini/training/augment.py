"""Variations of an example whose answer stays known: other wording, other options, other question types."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from training.examples import Example, shuffled

Variation = Callable[[Example, random.Random], Example]


def augment(example: Example, rng: random.Random) -> Example:
    """A random variation of `example`. Options of choices are always shuffled, the rest happens at times."""
    example = _applied(_TYPE_CHANGES[example.type], example, rng)
    example = _applied(_VARIATIONS[example.type], example, rng)
    return _applied(_STATE_VARIATIONS, example, rng)


def _applied(variations: Sequence[tuple[float, Variation]], example: Example, rng: random.Random) -> Example:
    for chance, vary in variations:
        if rng.random() < chance:
            example = vary(example, rng)
    return example


def _with(example: Example, gold: Any = None, **fields: Any) -> Example:
    return replace(example, question={**example.question, **fields}, gold=example.gold if gold is None else gold)


def _criteria(example: Example) -> dict[str, Any]:
    criteria = example.question["criteria"]
    return dict(criteria) if isinstance(criteria, dict) else dict.fromkeys(criteria, "")


# Choices


def shuffle_options(example: Example, rng: random.Random) -> Example:
    return _with(example, criteria=dict(shuffled(list(_criteria(example).items()), rng)))


def drop_distractors(example: Example, rng: random.Random) -> Example:
    """Keeps the right option and at least one wrong one."""
    criteria = _criteria(example)
    wrong = [label for label in criteria if label != example.gold]
    kept = {example.gold, *rng.sample(wrong, rng.randint(1, len(wrong)))}
    return _with(example, criteria={label: text for label, text in criteria.items() if label in kept})


def drop_descriptions(example: Example, rng: random.Random) -> Example:
    """Leaves bare labels, where every label is made of words that can carry the meaning."""
    criteria = _criteria(example)
    if all(re.search(r"[a-z]{4}", label) for label in criteria):
        return _with(example, criteria=dict.fromkeys(criteria, ""))
    return example


def hide_labels(example: Example, rng: random.Random) -> Example:
    """Replaces labels by codes that mean nothing; what they said moves into the descriptions."""
    criteria = _criteria(example)
    codes = rng.choice((_letters, _numbers, _option_names))(len(criteria))
    recoded = {
        code: (text if text and rng.random() < 0.5 else f"{_spaced(label)}: {text}" if text else _spaced(label))
        for code, (label, text) in zip(codes, criteria.items(), strict=True)
    }
    return _with(example, gold=codes[list(criteria).index(str(example.gold))], criteria=recoded)


def restyle_labels(example: Example, rng: random.Random) -> Example:
    """Writes labels with spaces, or in snake_case, where that keeps them distinct."""
    criteria = _criteria(example)
    style = rng.choice((_spaced, _snake))
    restyled = {style(label): text for label, text in criteria.items()}
    if len(restyled) < len(criteria):
        return example
    return _with(example, gold=style(str(example.gold)), criteria=restyled)


def choice_to_noul(example: Example, rng: random.Random) -> Example:
    """Asks whether the right answer, or a wrong one, is the answer; at times with both described."""
    criteria = _criteria(example)
    holds = rng.random() < 0.5
    wrong = rng.choice([name for name in criteria if name != example.gold])
    asked, other = (str(example.gold), wrong) if holds else (wrong, str(example.gold))
    text = criteria[asked]
    answer = str(text) if text and rng.random() < 0.5 else _spaced(asked)
    question = {
        "type": "noul",
        "instructions": rng.choice(_ANSWER_IS).format(question=_question(example), answer=answer),
    }
    if rng.random() < 0.5:
        question["criteria"] = {
            "true": str(criteria[asked] or _spaced(asked)),
            "false": str(criteria[other] or _spaced(other)),
        }
    return replace(example, question=question, gold=holds)


_ANSWER_IS = (
    "{question} Answer: {answer}",
    'The answer to "{question}" is: {answer}',
    "{question} Is it {answer}?",
    'Asked "{question}", one would say "{answer}".',
)


# Scores


def reverse_scale(example: Example, rng: random.Random) -> Example:
    levels = [str(level) for level in example.question["criteria"]]
    if any(re.fullmatch(r"[\W\d]*", level) for level in levels):
        return example
    return _with(example, gold=len(levels) - 1 - int(example.gold), criteria=levels[::-1])


def score_to_choice(example: Example, rng: random.Random) -> Example:
    levels = [str(level) for level in example.question["criteria"]]
    if len(set(levels)) < len(levels):
        return example
    question = {**example.question, "type": "choice", "criteria": shuffled(levels, rng)}
    return replace(example, question=question, gold=levels[int(example.gold)])


# Statements


def drop_criteria(example: Example, rng: random.Random) -> Example:
    return _with(example, criteria=None)


def reword_statement(example: Example, rng: random.Random) -> Example:
    instructions = str(example.question["instructions"])
    return _with(example, instructions=rng.choice(_STATEMENT_FRAMES).format(instructions))


def negate_statement(example: Example, rng: random.Random) -> Example:
    """Denies a statement. Questions, and statements with criteria of their own, stay."""
    instructions = str(example.question["instructions"])
    if instructions.rstrip().endswith("?") or example.question.get("criteria"):
        return example
    return _with(example, gold=not example.gold, instructions=rng.choice(_DENIALS).format(instructions))


def name_truth_values(example: Example, rng: random.Random) -> Example:
    no, yes = rng.choice((("no", "yes"), ("wrong", "right"), ("does not hold", "holds"), ("reject", "accept")))
    return _with(example, labels={"false": no, "true": yes})


def noul_to_choice(example: Example, rng: random.Random) -> Example:
    if example.question.get("criteria"):
        return example
    no, yes = rng.choice((("no", "yes"), ("false", "true"), ("not supported", "supported")))
    question = {
        "type": "choice",
        "instructions": example.question["instructions"],
        "criteria": shuffled([no, yes], rng),
    }
    return replace(example, question=question, gold=yes if example.gold else no)


_STATEMENT_FRAMES = (
    "Is it true? {}",
    "According to the text: {}",
    "True or false: {}",
    "Check this claim. {}",
    "Does this hold: {}",
    "Claim: {}",
)
_DENIALS = ("It is not true that: {}", "This is wrong: {}", "The following does not hold: {}")


# States


def flatten_state(example: Example, rng: random.Random) -> Example:
    """Writes structured states as lines of text."""
    return replace(example, state=_as_lines(example.state))


def wrap_state(example: Example, rng: random.Random) -> Example:
    """Puts a text into a JSON object, or a message list."""
    if not isinstance(example.state, str):
        return example
    key = rng.choice(("text", "message", "body", "content", "input", "description"))
    wrapped = rng.choice(({key: example.state}, [{"role": "user", "content": example.state}]))
    return replace(example, state=wrapped)


def _as_lines(state: Any) -> Any:
    if isinstance(state, dict):
        return "\n".join(f"{_spaced(str(key))}: {_inline(value)}" for key, value in state.items())
    if isinstance(state, list) and all(isinstance(turn, dict) and "content" in turn for turn in state):
        return "\n".join(f"{turn.get('role', 'user')}: {turn['content']}" for turn in state)
    return state


def _inline(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _spaced(label: str) -> str:
    return label.replace("_", " ").strip() or label


def _snake(label: str) -> str:
    return label.replace(" ", "_").lower()


def _question(example: Example) -> str:
    text = str(example.question["instructions"]).strip()
    return text if text.endswith(("?", ".", ":", "!")) else f"{text}."


def _letters(count: int) -> list[str]:
    return [chr(ord("A") + i % 26) * (1 + i // 26) for i in range(count)]


def _numbers(count: int) -> list[str]:
    return [str(i + 1) for i in range(count)]


def _option_names(count: int) -> list[str]:
    return [f"option_{name.lower()}" for name in _letters(count)]


_TYPE_CHANGES: dict[str, list[tuple[float, Variation]]] = {
    "choice": [(0.25, choice_to_noul)],
    "score": [(0.15, score_to_choice)],
    "noul": [(0.05, noul_to_choice)],
}
_VARIATIONS: dict[str, list[tuple[float, Variation]]] = {
    "choice": [
        (1.0, shuffle_options),
        (0.15, drop_distractors),
        (0.15, drop_descriptions),
        (0.08, hide_labels),
        (0.15, restyle_labels),
    ],
    "score": [(0.2, reverse_scale)],
    "noul": [
        (0.3, drop_criteria),
        (0.08, negate_statement),
        (0.15, reword_statement),
        (0.1, name_truth_values),
    ],
}
_STATE_VARIATIONS: list[tuple[float, Variation]] = [(0.3, flatten_state), (0.07, wrap_state)]
