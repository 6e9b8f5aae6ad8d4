"""The router: picks a checkpoint for each request and asks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

from laya_hooks.chain import HookChain
from laya_hooks.context import PredictContext, new_run_id
from laya_hooks.errors import HubUnreachable
from laya_hooks.protocols import (
    AgentLike,
    CallablesArgument,
    HooksArgument,
    LoadOptions,
    MinConfidence,
    Questions,
    Result,
    Source,
)
from laya_hooks.scope import current_scope
from laya_router import unreachable
from laya_router.calls import BatchItem, answer_one, answer_together, given
from laya_router.checkpoints import CheckpointHost
from laya_router.decision import RouteDecision
from laya_router.language import primary_language
from laya_router.requests import LangGuess, RouteRequest, naming, parse_requests
from laya_router.rules import RoutingRules
from laya_router.table import ENGLISH, CheckpointTable


class Router(CheckpointHost):
    """Routes requests to checkpoints and answers them; safe to call from many threads.

    Args:
        models: names to add or to point somewhere else, {name: directory, Hub id or (Hub id, subfolder)}.
        device, token: passed on to every checkpoint that is built.
        max_loaded: how many checkpoints stay in memory; the least recently used goes first.
        default: the checkpoint for what no rule decides; one of your own also stands in for `english`.
        auto_task_detection: choose `typed-decisions` when the question ids are those of a workflow.
        standalone_repos: load the published checkpoints from a Hub repo each, not from subfolders of one.
        preload: build all checkpoints now, or those named.
        lang_guess: a language code, or a callable that reads a state and returns one or None.
        hooks, on_predict_start, on_predict_end: hooks to install.
        hooks_raise, hooks_concurrent, hooks_timeout: how they run; the timeout is in seconds.
        load_options: further keyword arguments for every checkpoint that is built.

    Raises:
        TypeError, ValueError: an argument is of the wrong type or range, or names an unknown checkpoint.
    """

    def __init__(
        self,
        models: Mapping[str, Source] | None = None,
        device: str | None = None,
        token: str | None = None,
        max_loaded: int = 2,
        default: str = ENGLISH,
        auto_task_detection: bool = False,
        standalone_repos: bool = False,
        preload: bool | Sequence[str] = False,
        lang_guess: LangGuess | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool = True,
        hooks_concurrent: bool = True,
        hooks_timeout: float | None = None,
        load_options: LoadOptions | None = None,
    ) -> None:
        self._init_hooks(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_concurrent, hooks_timeout)
        table = CheckpointTable.for_router({} if models is None else models, standalone_repos)
        options: LoadOptions = {"device": device, "token": token, **(load_options or {})}
        self._init_checkpoints(table, max_loaded, options, default)
        self._rules = RoutingRules(table, self.default, auto_task_detection, lang_guess)
        if preload:
            self.preload(None if preload is True else preload)

    def route(
        self,
        state: Any,
        questions: Questions | None = None,
        model: str | None = None,
        task: str | None = None,
        lang: str | None = None,
        lang_guess: LangGuess | None = None,
        hooks: HooksArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
    ) -> RouteDecision:
        """Decide which checkpoint would answer, without loading any.

        Args:
            model: a checkpoint's name or alias; decides alone.
            task: `typed_decisions`, or a checkpoint's name.
            lang: the language of the state, as a code.
            lang_guess: a code or a callable on the state, asked before the router's own.

        Raises:
            TypeError, ValueError: the request cannot be read, or names a model or task nobody knows.
        """
        request = RouteRequest(state, {} if questions is None else questions, model, task, lang, lang_guess)
        chain = self.hook_chain(hooks, hooks_raise=hooks_raise, hooks_timeout=hooks_timeout)
        return self._settled(self._rules.decide(request), request, chain, _call_id())

    def route_batch(
        self,
        requests: Sequence[Mapping[str, Any]],
        hooks: HooksArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
    ) -> list[RouteDecision]:
        """Decide for every request of a batch, in order, without loading any checkpoint.

        Raises:
            TypeError, ValueError: a request cannot be routed; the message names its index.
        """
        parsed = self._parse(requests)
        chain = self.hook_chain(hooks, hooks_raise=hooks_raise, hooks_timeout=hooks_timeout)
        return self._route_all(parsed, chain, _batch_ids(len(parsed)))

    def predict(
        self,
        state: Any,
        questions: Questions,
        model: str | None = None,
        task: str | None = None,
        lang: str | None = None,
        lang_guess: LangGuess | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_len: int | None = None,
        head_max_len: int | None = None,
        min_confidence: MinConfidence | None = None,
    ) -> Result:
        """Answer questions about one state with the checkpoint that fits it.

        Args:
            state: a text or a JSON value.
            questions: {id: question}.
            model, task, lang, lang_guess: see `route`; `lang` also goes to the checkpoint.
            max_len, head_max_len: token budgets of a row and of its question.
            min_confidence: mark answers below this confidence, in [0, 1].

        Raises:
            TypeError, ValueError: the request cannot be read; nothing is loaded then.
        """
        request = RouteRequest(state, questions, model, task, lang, lang_guess, max_len, head_max_len)
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        ctx, agent = self._open(request, chain)
        controls = given(lang=_language_of(request), min_confidence=min_confidence)

        def ask(ctx: PredictContext) -> Result:
            budgets = given(max_len=ctx.max_len, head_max_len=ctx.head_max_len)
            return agent.system_one(ctx.states[0], ctx.questions, **budgets, **controls)

        return answer_one(chain, ctx, ask)

    system_one = predict

    def predict_long(
        self,
        state: Any,
        questions: Questions,
        model: str | None = None,
        task: str | None = None,
        lang: str | None = None,
        lang_guess: LangGuess | None = None,
        window: int | None = None,
        stride: int | None = None,
        aggregate: str = "auto",
        batch_size: int | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
    ) -> Result:
        """Answer questions about a long state: route it whole, then scan it window by window.

        Args:
            state, questions, model, task, lang, lang_guess: see `predict`.
            window, stride: in tokens of the state.
            aggregate: how the answers of the windows become one.
            batch_size: rows in one pass.

        Raises:
            TypeError, ValueError: the request cannot be read; nothing is loaded then.
        """
        request = RouteRequest(state, questions, model, task, lang, lang_guess)
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        ctx, agent = self._open(request, chain)
        controls = given(window=window, stride=stride, batch_size=batch_size, lang=_language_of(request))

        def ask(ctx: PredictContext) -> Result:
            budgets = given(max_len=ctx.max_len, head_max_len=ctx.head_max_len)
            setter = given(on_predict_start=partial(_set_budgets, budgets) if budgets else None)
            return agent.predict_long(ctx.states[0], ctx.questions, aggregate=aggregate, **controls, **setter)

        return answer_one(chain, ctx, ask)

    def predict_batch(
        self,
        requests: Sequence[Mapping[str, Any]],
        batch_size: int | None = None,
        hooks_timeout: float | None = None,
        min_confidence: MinConfidence | None = None,
        sort_by_length: bool = False,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
    ) -> list[Result]:
        """Answer many requests, sharing passes between those of one checkpoint; results come in request order.

        Args:
            requests: mappings with state, questions and, as `predict` takes them, model, task, lang,
                lang_guess, max_len, head_max_len.
            batch_size: rows in one pass.
            min_confidence: mark answers below this confidence, in [0, 1].
            sort_by_length: put states of similar length into the same pass.

        Raises:
            TypeError, ValueError: a request cannot be read; the message names its index, nothing is loaded.
        """
        parsed = self._parse(requests)
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        run_ids = _batch_ids(len(parsed))
        decisions = self._route_all(parsed, chain, run_ids)
        controls = given(batch_size=batch_size, min_confidence=min_confidence, sort_by_length=sort_by_length)
        results: dict[int, Result] = {}
        for indexes in _indexes_by_model(decisions).values():
            first = indexes[0]
            agent = self._agent_of(decisions[first], parsed[first], chain, run_ids[first])
            items = [
                BatchItem(
                    partial(self._context, parsed[index], decisions[index], agent, run_ids[index]),
                    _language_of(parsed[index]),
                )
                for index in indexes
            ]
            results.update(zip(indexes, answer_together(chain, items, agent, controls), strict=True))
        return [results[index] for index in range(len(parsed))]

    def _parse(self, requests: Sequence[Mapping[str, Any]]) -> list[RouteRequest]:
        parsed = parse_requests(requests)
        for index, request in enumerate(parsed):
            with naming(index):
                self._rules.check(request)
        return parsed

    def _settled(self, decision: RouteDecision, request: RouteRequest, chain: HookChain, run_id: str) -> RouteDecision:
        """A decision as the route hooks leave it."""
        if not chain.handles("on_route"):
            return decision
        before = RouteDecision(decision)
        ctx = PredictContext([request.state], _questions(request), run_id=run_id, decision=decision, router=self)
        chain.dispatch("on_route", ctx)
        return self._rules.settle(ctx.decision, before)

    def _route_all(
        self, requests: Sequence[RouteRequest], chain: HookChain, run_ids: Sequence[str]
    ) -> list[RouteDecision]:
        decisions = []
        for index, (request, run_id) in enumerate(zip(requests, run_ids, strict=True)):
            with naming(index):
                decision = self._rules.decide(request)
            decisions.append(self._settled(decision, request, chain, run_id))
        return decisions

    def _open(self, request: RouteRequest, chain: HookChain) -> tuple[PredictContext, AgentLike]:
        run_id = _call_id()
        decision = self._settled(self._rules.decide(request), request, chain, run_id)
        agent = self._agent_of(decision, request, chain, run_id)
        ctx = self._context(request, decision, agent, run_id)
        scope = current_scope()
        if scope is not None:
            ctx.timings = scope.timings
        return ctx, agent

    def _agent_of(self, decision: RouteDecision, request: RouteRequest, chain: HookChain, run_id: str) -> AgentLike:
        try:
            return self._resident(decision.model, chain, run_id)
        except HubUnreachable as error:
            routed = self._rules.asked_for(request) is None
            raise unreachable.of_request(error, decision, routed, self._table, self.default) from error.__cause__

    def _context(self, request: RouteRequest, decision: RouteDecision, agent: AgentLike, run_id: str) -> PredictContext:
        return PredictContext(
            [request.state],
            _questions(request),
            run_id=run_id,
            decision=decision,
            model=decision.model,
            agent=agent,
            router=self,
            max_len=request.max_len,
            head_max_len=request.head_max_len,
        )


def _call_id() -> str:
    """The run id of a single call: the request's own id where a server gave it one."""
    scope = current_scope()
    return new_run_id() if scope is None or scope.request_id is None else scope.request_id


def _batch_ids(count: int) -> list[str]:
    scope = current_scope()
    if scope is None or scope.request_id is None:
        return [new_run_id() for _ in range(count)]
    return [f"{scope.request_id}-{index}" for index in range(count)]


def _indexes_by_model(decisions: Sequence[RouteDecision]) -> dict[str, list[int]]:
    indexes: dict[str, list[int]] = {}
    for index, decision in enumerate(decisions):
        indexes.setdefault(decision.model, []).append(index)
    return indexes


def _language_of(request: RouteRequest) -> str | None:
    return None if request.lang is None else primary_language(request.lang)


def _questions(request: RouteRequest) -> dict[str, Any]:
    # The caller's own mapping: an edit in place is the caller's to see, as with an agent.
    return cast("dict[str, Any]", request.questions)


def _set_budgets(budgets: Mapping[str, int], ctx: PredictContext) -> None:
    ctx.max_len = budgets.get("max_len", ctx.max_len)
    ctx.head_max_len = budgets.get("head_max_len", ctx.head_max_len)
