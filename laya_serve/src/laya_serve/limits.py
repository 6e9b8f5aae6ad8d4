"""The guard rails of a request, checked before anything is tokenised; each refusal names the limit."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from laya_serve.refused import Refused

_TOURNAMENT_OPTIONS: Final = 255


@attrs.frozen
class Limits:
    """How large a request may be."""

    body_bytes: int = 2 * 1024 * 1024
    questions: int = 64
    state_characters: int = 50_000
    choice_options: int = 100
    score_levels: int = 32
    total_options: int = 512
    states: int = 64

    @classmethod
    def with_tournament(cls, group: int) -> Limits:
        """The limits where choices are narrowed in groups, if `group` is not 0."""
        return cls(choice_options=_TOURNAMENT_OPTIONS) if group else cls()

    def check_questions(self, questions: Mapping[str, Any]) -> None:
        """Refuse too many questions, options or levels.

        Raises:
            Refused: 413.
        """
        if len(questions) > self.questions:
            raise Refused(413, f"{len(questions)} questions; at most {self.questions} in a request", ["questions"])
        total = 0
        for qid, question in questions.items():
            kind, count = _options_of(question)
            most, what = (
                (self.score_levels, "levels of a score")
                if kind == "score"
                else (self.choice_options, "options of a choice")
            )
            if count > most:
                raise Refused(
                    413, f"question {qid!r} has {count} {what}; at most {most}", ["questions", qid, "criteria"]
                )
            total += count
        if total > self.total_options:
            raise Refused(
                413, f"the questions have {total} options together; at most {self.total_options}", ["questions"]
            )

    def check_state(self, state: object, where: Sequence[str | int] = ("state",)) -> None:
        """Refuse a state that is too long when it is serialised.

        Raises:
            Refused: 413.
        """
        count = len(state) if isinstance(state, str) else len(json.dumps(state, ensure_ascii=False))
        if count > self.state_characters:
            most = f"at most {self.state_characters} of serialised state"
            raise Refused(413, f"{_place(where)} has {count} characters; {most}", where)

    def check_states(self, states: Sequence[object]) -> None:
        """Refuse too many states, or one that is too long.

        Raises:
            Refused: 413.
        """
        if len(states) > self.states:
            raise Refused(413, f"{len(states)} states; at most {self.states} in a batch", ["states"])
        for index, state in enumerate(states):
            self.check_state(state, ["states", index])


def _options_of(question: object) -> tuple[str | None, int]:
    if not isinstance(question, Mapping):
        return None, 0
    kind, criteria = question.get("type"), question.get("criteria")
    if kind not in ("choice", "score") or not isinstance(criteria, list | Mapping):
        return None, 0
    return kind, len(criteria)


def _place(where: Sequence[str | int]) -> str:
    first, *rest = where
    return f"{first}{''.join(f'[{index}]' for index in rest)}"
