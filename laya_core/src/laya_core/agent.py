"""The agent: a loaded checkpoint that answers typed questions, with hooks around every call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from time import perf_counter
from types import TracebackType
from typing import Any, Self

import torch

from laya_hooks import HookRegistry, PredictContext, Source, run_call
from laya_hooks.protocols import CallablesArgument, HooksArgument, MinConfidence, Questions, Result

from .backends import choose_backend
from .batching.config import ContinuousBatchingConfig
from .batching.mixin import ContinuousBatching
from .confidence_gate import ConfidenceGate
from .config import CheckpointConfig, Temperatures
from .devices import resolve_device
from .engine import Engine
from .finite import FiniteCheck
from .languages import parse_lang_temperatures, primary_subtag
from .long_documents import LongDocument
from .passes import plan_passes, plan_state_batches
from .precision import resolve_precision
from .prepared import PreparedCall
from .prompt import Row, check_count
from .questions import parse_questions
from .sources import find_checkpoint, verify_digests
from .timings import record_timings


class Agent(ContinuousBatching, HookRegistry):
    """A checkpoint in memory. Many threads may call one agent; `with Agent(...)` frees the model on exit.

    Args:
        model_id_or_path: a directory, a Hub id, (Hub id, subfolder), or a known name such as "mini".
        device: "cpu", "cuda", "cuda:1", "mps" or "xpu"; None takes the best there is. One that is not available
            falls back to the CPU with a `RuntimeWarning`.
        token: Hub access token.
        subfolder: the checkpoint's folder inside the directory or Hub repository.
        fast: take the fastest available backend; the same as `backend="auto"`.
        compile: the same as `backend="compile"`.
        hooks, on_predict_start, on_predict_end: installed hooks.
        hooks_raise: whether a hook's `Exception` propagates; otherwise it becomes a `RuntimeWarning`.
        hooks_concurrent: False runs one hook of this agent at a time.
        hooks_timeout: seconds one hook call may take; None for no bound.
        revision: Hub branch, tag or commit.
        expected_sha256: hex digests by relative path, checked before any file is parsed.
        lang_temperatures: temperatures by language: `{"de": {"temperature": [...], "temperature_by_options": {...}}}`.
        backend: "eager", "compile" or "auto".
        precision: "auto", "float32", "bfloat16" or "float16"; None reads LAYA_PRECISION.
        continuous_batching: True, a mapping of field names or a `ContinuousBatchingConfig` lets concurrent calls
            share forward passes from the load to `close()`.

    Raises:
        FileNotFoundError: the checkpoint or one of its files is missing.
        laya_hooks.HubUnreachable: it is not in the cache and the Hub does not answer.
        ValueError: a file is damaged or does not fit, or an argument cannot be used.
        TypeError: something given as a hook is not one.
    """

    def __init__(
        self,
        model_id_or_path: Source = "convaiinnovations/laya",
        device: str | None = None,
        token: str | None = None,
        subfolder: str | None = None,
        fast: bool = False,
        compile: bool = False,  # noqa: A002
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool = True,
        hooks_concurrent: bool = True,
        hooks_timeout: float | None = None,
        *,
        revision: str | None = None,
        expected_sha256: Mapping[str, str] | None = None,
        lang_temperatures: Mapping[str, Any] | None = None,
        backend: str | None = None,
        precision: str | None = None,
        continuous_batching: ContinuousBatchingConfig | Mapping[str, Any] | bool | None = None,
    ) -> None:
        self._init_hooks(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_concurrent, hooks_timeout)
        batching = ContinuousBatchingConfig.parse(continuous_batching)
        if batching is not None:
            batching.check_for_decisions()
        chosen_backend = choose_backend(backend, fast=fast, compile=compile)
        chosen_device = resolve_device(device)
        checkpoint = find_checkpoint(model_id_or_path, subfolder=subfolder, revision=revision, token=token)
        verify_digests(checkpoint.directory, expected_sha256 or {})
        self.config = CheckpointConfig.read(checkpoint.directory / "rl_agent_config.json")
        self._lang_temperatures = parse_lang_temperatures(lang_temperatures or {}, self.config.temperatures)
        dtype = resolve_precision(precision, self.config.amp_dtype, chosen_device)
        engine = Engine(checkpoint, self.config, chosen_device, dtype, chosen_backend)
        self._engine: Engine | None = engine
        # What a closed agent, which has no engine, still tells.
        self._device, self._dtype, self._fallbacks = engine.device, engine.dtype, engine.fallbacks
        self.backend = chosen_backend
        self.model_id = checkpoint.model_id
        self.revision = checkpoint.revision
        self._finite = FiniteCheck(self.model_id, self._dtype)
        if batching is not None:
            self.init_continuous_batching(batching).start()

    @property
    def engine(self) -> Engine:
        """The model and tokenizer behind this agent.

        Raises:
            RuntimeError: the agent was closed.
        """
        if self._engine is None:
            raise RuntimeError(f"this agent ({self.model_id}) is closed; load the checkpoint again")
        return self._engine

    @property
    def device(self) -> str:
        """Where the model computes, for example "cpu" or "cuda:0"; where it did when the agent is closed."""
        return str(self._device)

    @property
    def dtype(self) -> torch.dtype:
        """The number format the model computes in."""
        return self._dtype

    @property
    def cpu_fallback_count(self) -> int:
        """Requests that ran out of device memory and were answered on the CPU."""
        return self._fallbacks.count

    @property
    def last_fallback_reason(self) -> str | None:
        """The error text of the last of them."""
        return self._fallbacks.last_reason

    def predict_batch(
        self,
        states: list[Any],
        questions: Questions,
        batch_size: int | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_len: int | None = None,
        head_max_len: int | None = None,
        sort_by_length: bool = False,
        min_confidence: MinConfidence | None = None,
        lang: str | None = None,
    ) -> list[Result]:
        """Answer the same questions about every state.

        Args:
            states: a list of texts or JSON-like values.
            questions: question id to question (a dict, or `Choice`, `Score`, `Noul`).
            batch_size: states per forward pass; None packs rows of like length together. While a batching manager
                runs on the agent, it decides what shares a pass instead.
            sort_by_length: with `batch_size`, batch the longest states first.
            max_len, head_max_len: token budgets of a row, and of its head and options; None for the checkpoint's.
            min_confidence: marks answers below it: a number in [0, 1] or a map with `<type>:<band>` and `default`.
            lang: language of the states, for `lang_temperatures`.
            hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout: for this call, after the installed.

        Returns:
            One result per state, in order.

        Raises:
            TypeError: `states` is not a list, a state is None, or something is not a hook.
            ValueError: a question or an argument is refused; the message says which and why.
            laya_hooks.LayaError: the model computed NaN or infinite numbers: its weights are damaged, or overflow.
        """
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        context = self._context(list(states) if isinstance(states, list) else states, questions, max_len, head_max_len)
        infer = partial(
            self._infer,
            self.engine,
            batch_size=batch_size,
            sort_by_length=sort_by_length,
            min_confidence=min_confidence,
            lang=lang,
        )
        return run_call(chain, context, infer)

    def predict(
        self,
        state: Any,
        questions: Questions,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_len: int | None = None,
        head_max_len: int | None = None,
        min_confidence: MinConfidence | None = None,
        lang: str | None = None,
    ) -> Result:
        """Answer questions about one state; see `predict_batch`."""
        results = self.predict_batch(
            [state],
            questions,
            hooks=hooks,
            on_predict_start=on_predict_start,
            on_predict_end=on_predict_end,
            hooks_raise=hooks_raise,
            hooks_timeout=hooks_timeout,
            max_len=max_len,
            head_max_len=head_max_len,
            min_confidence=min_confidence,
            lang=lang,
        )
        if not results:
            raise ValueError("a hook left no state or no result of this call; predict needs one of each")
        return results[0]

    system_one = predict

    def predict_long(
        self,
        state: Any,
        questions: Questions,
        window: int | None = None,
        stride: int | None = None,
        aggregate: str = "auto",
        batch_size: int | None = None,
        lang: str | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        min_confidence: MinConfidence | None = None,
    ) -> Result:
        """Answer questions about a document of any length, by windows that are scored in shared passes.

        Hooks run once, around the scan; `ctx.states` holds the texts of the windows.

        Args:
            window: tokens of a window; None takes max(64, max_len - head_max_len - 8), at most the room left.
            stride: tokens from one window to the next; None is half a window.
            aggregate: "auto" is the only rule: the most certain window decides, for yes/no the one most sure of yes.
            batch_size: windows per forward pass.

        Returns:
            One result; `usage["windows"]` counts the windows that were scored, `answer["window"]` names the one that
            decided: index, token_start, token_end, count.

        Raises:
            TypeError, ValueError: as in `predict_batch`; also for a window or stride that cannot be used.
        """
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        engine = self.engine
        document = LongDocument.plan(engine, state, questions, window, stride, aggregate)
        context = self._context(document.states, questions)
        infer = partial(self._infer, engine, batch_size=batch_size, min_confidence=min_confidence, lang=lang)
        results = run_call(chain, context, partial(document.infer, infer), document.settle_skipped)
        return document.result(context, results)

    def close(self) -> None:
        """Free the model as soon as the calls that run are done; later ones raise `RuntimeError`. May be repeated.

        With a batching manager it returns when the rows in its queue are answered.

        Raises:
            RuntimeError: called inside `pause()` of this thread; the agent stays open then.
        """
        managers = [manager for manager in (self._manager, self._kept_manager) if manager is not None]
        for manager in managers:
            manager.refuse_if_paused("close")
        self._engine = None
        for manager in managers:
            manager.retire()
        self._manager = self._kept_manager = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._engine is None else f"{self.device}, {self.dtype}"
        return f"<Agent {self.model_id} ({state})>"

    def _infer(
        self,
        engine: Engine,
        context: PredictContext,
        *,
        batch_size: int | None = None,
        sort_by_length: bool = False,
        min_confidence: MinConfidence | None = None,
        lang: str | None = None,
    ) -> list[Result]:
        if batch_size is not None:
            check_count("batch_size", batch_size)
        prepared = self._prepare(engine, context, min_confidence, lang)
        rows = prepared.rows
        if not rows:
            return prepared.results(())
        manager = self._manager
        scored = None if manager is None else manager.score(rows)
        if scored is not None:
            record_timings(context, queue=scored.queue, inference=scored.inference)
            return prepared.results(scored.scores)
        started = perf_counter()
        lengths = list(map(len, rows))
        if batch_size is None:
            passes = plan_passes(lengths, engine.token_budget)
        else:
            passes = plan_state_batches(lengths, len(prepared.questions), batch_size, sort_by_length)
        scores = engine.score(rows, passes)
        record_timings(context, inference=perf_counter() - started)
        return prepared.results(scores)

    def _prepare(
        self, engine: Engine, context: PredictContext, min_confidence: MinConfidence | None, lang: str | None
    ) -> PreparedCall:
        """Check a call as the start hooks left it, and tokenise its rows."""
        states = _checked_states(context.states)
        questions = parse_questions(context.questions)
        gate = None if min_confidence is None else ConfidenceGate.parse(min_confidence)
        temperatures = self._temperatures(lang)
        rows: tuple[Row, ...] = ()
        if states and questions:
            started = perf_counter()
            prefixes = engine.prefixes(questions, context)
            rows = tuple(
                engine.encoder.row(prefix, state)
                for state in engine.encoder.encode_states(states)
                for prefix in prefixes
            )
            record_timings(context, tokenize=perf_counter() - started)
        return PreparedCall(len(states), questions, rows, temperatures, gate, self._finite)

    def _context(
        self, states: Any, questions: Questions, max_len: int | None = None, head_max_len: int | None = None
    ) -> PredictContext:
        return PredictContext(
            states=states,
            questions=questions,  # type: ignore[arg-type]
            model=self.model_id,
            agent=self,
            max_len=max_len,
            head_max_len=head_max_len,
        )

    def _temperatures(self, lang: str | None) -> Temperatures:
        if lang is not None and not isinstance(lang, str):
            raise TypeError(f"lang must be a language code such as 'de', not {lang!r}")
        if lang is None or not self._lang_temperatures:
            return self.config.temperatures
        return self._lang_temperatures.get(primary_subtag(lang), self.config.temperatures)


def _checked_states(states: object) -> Sequence[Any]:
    if not isinstance(states, list):
        raise TypeError(
            f"states must be a list, not {type(states).__name__}; wrap a single state as [state], "
            "or call predict for one state"
        )
    for index, state in enumerate(states):
        if state is None:
            raise TypeError(f"states[{index}] is None; a state is a text or a JSON value")
    return states
