"""Which checkpoint answers a request: seven rules, the first that applies decides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import attrs

from laya_router.decision import RouteDecision
from laya_router.language import ENGLISH as ENGLISH_CODE
from laya_router.language import primary_language
from laya_router.requests import LangGuess, RouteRequest, check_lang_guess
from laya_router.table import (
    ENGLISH,
    MULTILINGUAL,
    TYPED_DECISIONS,
    CheckpointTable,
    asks_for_routing,
    published_sources,
)
from laya_router.workflows import match_workflow

if TYPE_CHECKING:
    from laya_router.detection import Detection

_RETURNS: Final = "it returns a language code, or None to abstain"
_SPELLING: Final = re.compile(r"[\s_-]+")


@attrs.frozen
class RoutingRules:
    """The router's settings that decide, and the decision.

    Args:
        default: the checkpoint for what no rule decides; one of the caller's own also stands in for `english`.
        auto_task_detection: whether question ids that are a workflow's choose `typed-decisions`.
        lang_guess: a language code or a callable on the state, asked when the request has no guess of its own.
    """

    table: CheckpointTable
    default: str
    auto_task_detection: bool
    lang_guess: LangGuess | None = attrs.field(validator=check_lang_guess)

    def check(self, request: RouteRequest) -> None:
        """Refuse a request that names a model or a task nobody has.

        Raises:
            ValueError: the message names it.
        """
        self.asked_for(request)

    def decide(self, request: RouteRequest) -> RouteDecision:
        """The decision for one request; loads nothing."""
        asked = self.asked_for(request)
        if asked is not None:
            return asked
        workflow = match_workflow(request.questions)
        if workflow is not None and self.auto_task_detection:
            return self._choose(TYPED_DECISIONS, f"the question ids are those of {workflow}", workflow)
        return (
            self._by_language(request.lang, "lang", workflow)
            or self._by_guess(request, workflow)
            or self._by_detection(request.state, workflow)
        )

    def settle(self, decision: object, before: RouteDecision) -> RouteDecision:
        """What the route hooks left as a decision: the checkpoint by its own name, `repo` true to it.

        Raises:
            TypeError: it is not a mapping.
            ValueError: it names no checkpoint, or one nobody knows.
        """
        if not isinstance(decision, Mapping):
            raise TypeError(f"a route hook left {decision!r} as the decision; it is a mapping with a model")
        if "model" not in decision:
            raise ValueError("a route hook left a decision without a model")
        settled = decision if isinstance(decision, RouteDecision) else RouteDecision(decision)
        settled["model"] = self.table.resolve(settled["model"])
        if settled["model"] != before.model and settled.get("repo") == before["repo"]:
            settled["repo"] = self.table[settled.model].repo
        return settled

    def asked_for(self, request: RouteRequest) -> RouteDecision | None:
        """The decision that the caller made by `model=` or `task=`, if so.

        Raises:
            ValueError: nobody knows the model or the task.
        """
        if request.model is not None and not asks_for_routing(request.model):
            return self._choose(self.table.resolve(request.model), f"model={request.model!r} was asked for")
        if request.task is not None:
            return self._choose(self._model_of_task(request.task), f"task={request.task!r} was asked for")
        return None

    def _model_of_task(self, task: str) -> str:
        if _SPELLING.sub("", task.lower()) == "typeddecisions":
            return TYPED_DECISIONS
        try:
            return self.table.resolve(task)
        except ValueError as error:
            raise ValueError(f"unknown task {task!r}; it is 'typed_decisions' or a model: {error}") from None

    def _by_language(self, code: str | None, source: str, workflow: str | None) -> RouteDecision | None:
        language = None if code is None else primary_language(code)
        if language is None:
            return None
        if language == ENGLISH_CODE:
            return self._choose(self._english, f"{source}={code!r} names English", workflow)
        return self._choose(MULTILINGUAL, f"{source}={code!r} names a language other than English", workflow)

    def _by_guess(self, request: RouteRequest, workflow: str | None) -> RouteDecision | None:
        for guess in (request.lang_guess, self.lang_guess):
            decision = self._by_language(_guessed(guess, request.state), "lang_guess", workflow)
            if decision is not None:
                return decision
        return None

    def _by_detection(self, state: object, workflow: str | None) -> RouteDecision:
        # Here and not above, as most calls of a router with explicit choices never need the detection's libraries.
        from laya_router.detection import read

        detection, grounds = read(state)
        if detection["is_english"]:
            return self._choose(self._english, grounds, workflow, detection)
        if detection["language_undecided"]:
            return self._choose(self.default, f"{grounds}, so the default", workflow, detection)
        return self._choose(MULTILINGUAL, grounds, workflow, detection)

    @property
    def _english(self) -> str:
        return ENGLISH if self.default in published_sources() else self.default

    def _choose(
        self, model: str, reason: str, workflow: str | None = None, detection: Detection | None = None
    ) -> RouteDecision:
        return RouteDecision(
            model=model,
            repo=self.table[model].repo,
            reason=reason,
            detection=detection,
            workflow=workflow,
        )


def _guessed(guess: LangGuess | None, state: object) -> str | None:
    """The code a guess comes to.

    Raises:
        ValueError: the callable raised.
        TypeError: it returned something else than a code or None.
    """
    if not callable(guess):
        return guess
    try:
        code = guess(state)
    except Exception as error:
        raise ValueError(f"lang_guess {guess!r} raised {type(error).__name__}: {error}; {_RETURNS}") from error
    if code is not None and not isinstance(code, str):
        raise TypeError(f"lang_guess {guess!r} returned {code!r}; {_RETURNS}")
    return code
