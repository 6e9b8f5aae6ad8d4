"""Narrows choices that have too many options for one row: groups of options meet, their winners meet again.

All groups of a round are questions of one call, so they share its passes; questions that need no narrowing are asked
in the first round. Who leaves in a round has probability 0 in the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from laya_hooks.protocols import Result

Request: TypeAlias = dict[str, Any]
Ask: TypeAlias = Callable[[list[Request]], list[Result]]
"""Answers requests of `Router.predict_batch`'s form, in order."""


@attrs.frozen
class Tournament:
    """Asks requests in rounds where a choice has more than `group` options.

    Args:
        group: options of a group; 0 asks everything as it is.
    """

    group: int

    def ask(self, requests: list[Request], ask: Ask) -> list[Result]:
        """The results of the requests, each as if it had been asked at once."""
        if not self.group:
            return ask(requests)
        brackets = [_Bracket(request, self.group) for request in requests]
        if not any(bracket.contests for bracket in brackets):
            return ask(requests)
        playing = brackets
        while playing:
            results = ask([bracket.request() for bracket in playing])
            for bracket, result in zip(playing, results, strict=True):
                bracket.take(result)
            playing = [bracket for bracket in playing if not bracket.done]
        return [bracket.result() for bracket in brackets]


@attrs.define
class _Contest:
    """One choice on its way to a decision; options are positions in the caller's criteria."""

    qid: str
    question: Mapping[str, Any]
    group: int
    left: list[int]
    ids: list[str] = attrs.field(factory=list)  # of the round
    used: set[str] = attrs.field(factory=set)  # of all rounds
    rounds: int = 0
    answer: dict[str, Any] | None = None

    def groups(self) -> list[list[int]]:
        """The options left, in groups of nearly equal size, so that no group is won without a contest."""
        count = -(-len(self.left) // self.group)
        base, larger = divmod(len(self.left), count)
        sizes = [base + 1] * larger + [base] * (count - larger)
        starts = [sum(sizes[:index]) for index in range(count)]
        return [self.left[start : start + size] for start, size in zip(starts, sizes, strict=True)]

    def questions(self, taken: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The questions of this round, under ids of their own; the first keeps the caller's."""
        self.ids = []
        for number, options in enumerate(self.groups()):
            qid = self.qid if number == 0 else _free_id(f"{self.qid}#{number}", taken)
            taken.add(qid)
            self.ids.append(qid)
            self.used.add(qid)
            yield qid, _among(self.question, options)

    def take(self, answers: Mapping[str, Any]) -> None:
        """Keep the winner of each group, or the answer of the last one."""
        self.rounds += 1
        groups = self.groups()
        if len(groups) == 1:
            self.answer = answers[self.ids[0]]
            return
        labels = list(self.question["criteria"])
        self.left = [
            next(option for option in options if labels[option] == answers[qid]["choice"])
            for qid, options in zip(self.ids, groups, strict=True)
        ]

    def final_answer(self) -> dict[str, Any]:
        """The answer of the last round over all options."""
        assert self.answer is not None
        reached: Mapping[Any, float] = self.answer["probabilities"]
        labels = list(self.question["criteria"])
        finalists = [labels[option] for option in self.left]
        probabilities = {label: reached.get(label, 0.0) for label in labels}
        report = {"finalists": finalists, "rounds": self.rounds}
        return {**self.answer, "probabilities": probabilities, "x_tournament": report}


class _Bracket:
    """One request in its rounds."""

    def __init__(self, request: Request, group: int) -> None:
        self._request = request
        self._questions: dict[str, Any] = request["questions"]
        self.contests = {
            qid: _Contest(qid, question, group, list(range(len(question["criteria"]))))
            for qid, question in self._questions.items()
            if _needs_rounds(question, group)
        }
        self._results: list[Result] = []

    @property
    def done(self) -> bool:
        return bool(self._results) and all(contest.answer is not None for contest in self.contests.values())

    def request(self) -> Request:
        """What to ask in this round."""
        taken = set(self._questions)
        questions: dict[str, Any] = {}
        for qid, question in self._questions.items():
            contest = self.contests.get(qid)
            if contest is None:
                if not self._results:
                    questions[qid] = question
            elif contest.answer is None:
                questions.update(contest.questions(taken))
        if not self._results:
            return {**self._request, "questions": questions}
        # The checkpoint that the first round was routed to answers all of them.
        routed = {key: value for key, value in self._request.items() if key not in ("task", "lang_guess")}
        return {**routed, "model": self._results[0]["routing"]["model"], "questions": questions}

    def take(self, result: Result) -> None:
        """Learn the answers of a round."""
        self._results.append(result)
        for contest in self.contests.values():
            if contest.answer is None:
                contest.take(result["answers"])

    def result(self) -> Result:
        """The first round's result with the final answers and the tokens of all rounds."""
        if not self.contests:
            return self._results[0]
        first = self._results[0]
        answers = {
            qid: self.contests[qid].final_answer() if qid in self.contests else first["answers"][qid]
            for qid in self._questions
        }
        return {**first, "answers": answers, "usage": self._usage()}

    def _usage(self) -> dict[str, Any]:
        usages = [result.get("usage") or {} for result in self._results]
        usage = dict(usages[0])
        for key in ("input_tokens", "output_tokens"):
            usage[key] = sum(one.get(key, 0) for one in usages)
        if "truncated" in usage:
            truncated = {qid for one in usages for qid in one.get("truncated_questions", ())}
            originals = {asked: contest.qid for contest in self.contests.values() for asked in contest.used}
            named = {originals.get(qid, qid) for qid in truncated}
            usage["truncated_questions"] = [qid for qid in self._questions if qid in named]
            usage["truncated"] = bool(named)
            usage["state_tokens_dropped"] = max(one.get("state_tokens_dropped", 0) for one in usages)
        if "options" in usage:
            usage["options"] = {qid: cut for qid, cut in usage["options"].items() if qid in self._questions}
        return usage


def _needs_rounds(question: Any, group: int) -> bool:
    """Whether a question is a choice with too many options; a malformed one is left to the core to refuse."""
    if not isinstance(question, dict) or question.get("type") != "choice":
        return False
    criteria = question.get("criteria")
    if not isinstance(criteria, list | dict) or len(criteria) <= group:
        return False
    if isinstance(criteria, list):
        hashable = all(isinstance(label, str | int | float) for label in criteria)
        return hashable and len(set(criteria)) == len(criteria) and _is_order(question.get("option_order"), criteria)
    return _is_order(question.get("option_order"), criteria)


def _is_order(order: Any, criteria: Sequence[Any] | Mapping[Any, Any]) -> bool:
    if order is None:
        return True
    whole = isinstance(order, list) and all(isinstance(slot, int) and not isinstance(slot, bool) for slot in order)
    return whole and sorted(order) == list(range(len(criteria)))


def _among(question: Mapping[str, Any], options: Sequence[int]) -> dict[str, Any]:
    """The question with some of its options."""
    criteria = question["criteria"]
    labels = list(criteria)
    kept = [labels[option] for option in options]
    narrowed = dict(question)
    narrowed["criteria"] = kept if isinstance(criteria, list) else {label: criteria[label] for label in kept}
    if question.get("option_order") is not None:
        narrowed["option_order"] = [options.index(slot) for slot in question["option_order"] if slot in options]
    return narrowed


def _free_id(wanted: str, taken: set[str]) -> str:
    while wanted in taken:
        wanted += "'"
    return wanted
