"""The text agent: a causal language model that continues prompts, with hooks around every call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import torch

from laya_core.batching.config import ContinuousBatchingConfig
from laya_core.devices import resolve_device
from laya_core.sources import find_checkpoint, verify_digests
from laya_core.waits import checked_timeout
from laya_hooks import HookRegistry, PredictContext, Source, require_one_result_per_state, run_call
from laya_hooks.protocols import CallablesArgument, HooksArgument

from .batch import batch_id, run_batch
from .conversion import to_transformers
from .loading import TEXT_MODEL, load_text_model, load_tokenizer
from .manager import TextBatchingManager
from .output import TextOutput, supplied
from .pool import ManagerPool
from .prompts import Prompts, encode_all
from .settings import Settings, generation_settings
from .sizing import cache_sizes, page_size


class TextAgent(HookRegistry):
    """A causal language model in memory, batched continuously by transformers. Many threads may call one agent.

    Hooks see the prompts in `ctx.states` and the outputs in `ctx.results`; `ctx.questions` is empty.

    Args:
        model_id_or_path: a directory, a Hub id, or (Hub id, subfolder), in the layout of transformers.
        device: "cpu", "cuda", "cuda:1", "mps" or "xpu"; None takes the best there is.
        token: Hub access token.
        subfolder: the model's folder inside the directory or Hub repository.
        hooks, on_predict_start, on_predict_end: installed hooks.
        hooks_raise, hooks_concurrent, hooks_timeout: how they run; see `Agent`.
        revision: Hub branch, tag or commit.
        expected_sha256: hex digests by relative path, checked before any file is parsed.
        precision: "auto", "float32", "bfloat16" or "float16"; None reads LAYA_PRECISION.

    Raises:
        FileNotFoundError: the model or one of its files is missing.
        laya_hooks.HubUnreachable: it is not in the cache and the Hub does not answer.
        ValueError: a file is damaged, the model generates no text, or an argument cannot be used.
        TypeError: something given as a hook is not one.
    """

    def __init__(
        self,
        model_id_or_path: Source,
        device: str | None = None,
        token: str | None = None,
        subfolder: str | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool = True,
        hooks_concurrent: bool = True,
        hooks_timeout: float | None = None,
        *,
        revision: str | None = None,
        expected_sha256: Mapping[str, str] | None = None,
        precision: str | None = None,
    ) -> None:
        self._init_hooks(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_concurrent, hooks_timeout)
        chosen_device = resolve_device(device)
        found = find_checkpoint(
            model_id_or_path, subfolder=subfolder, revision=revision, token=token, contents=TEXT_MODEL
        )
        verify_digests(found.directory, expected_sha256 or {})
        self._model: Any = load_text_model(found.directory, chosen_device, precision)
        # What a closed agent, which has no model, still tells.
        self._device = str(self._model.device)
        self._dtype: torch.dtype = self._model.dtype
        vocabulary = self._model.get_input_embeddings().num_embeddings
        self.prompts = Prompts(load_tokenizer(found.directory), vocabulary)
        self.managers = ManagerPool(self._manager)
        self.model_id = found.model_id
        self.revision = found.revision

    @property
    def model(self) -> Any:
        """The transformers model.

        Raises:
            RuntimeError: the agent was closed.
        """
        if self._model is None:
            raise RuntimeError(f"this agent ({self.model_id}) is closed; load the model again")
        return self._model

    @property
    def tokenizer(self) -> Any:
        """The transformers tokenizer, or None."""
        return self.prompts.tokenizer

    @property
    def device(self) -> str:
        """Where the model computes, for example "cpu" or "cuda:0"; where it did when the agent is closed."""
        return self._device

    @property
    def dtype(self) -> torch.dtype:
        """The number format the model computes in."""
        return self._dtype

    def generate_batch(
        self,
        inputs: Sequence[str | Sequence[int]],
        generation_config: Any = None,
        continuous_batching_config: ContinuousBatchingConfig | Mapping[str, Any] | None = None,
        record_timestamps: bool = False,
        progress_bar: bool = False,
        persistent_manager: bool = False,
        warmup: bool = True,
        *,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_new_tokens: int | None = None,
        eos_token_id: int | list[int] | None = None,
        **kwargs: Any,
    ) -> dict[str, TextOutput]:
        """Continue every prompt. The hooks run once, around the whole batch.

        A call that names no settings goes through a manager that runs on this agent; calls with equal settings share
        one.

        Args:
            inputs: prompts, each a text or a list of token ids.
            generation_config: a transformers.GenerationConfig; what it leaves unset is the model's.
            continuous_batching_config: settings of the engine; its `seed` makes sampling repeatable.
            record_timestamps: note when each token was generated.
            progress_bar: show one on standard error.
            persistent_manager: keep the manager running for later calls, until `close`.
            warmup: capture CUDA graphs when a manager is made.
            hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout: for this call, after the installed.
            max_new_tokens, eos_token_id, kwargs: single generation settings of this call.

        Returns:
            Outputs by request id (`req_0`, `req_1`, …), in the order of the prompts. A prompt that cannot be read or
            does not fit has an output with an `error`; the others are answered.

        Raises:
            TypeError, ValueError: a setting is unknown or cannot be used, or `inputs` is not a list.
        """
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        any_running = generation_config is None and continuous_batching_config is None and not kwargs
        settings = self._asked(generation_config, continuous_batching_config, kwargs)
        context = PredictContext(_checked_inputs(inputs), {}, model=self.model_id, agent=self)
        options = {"record_timestamps": record_timestamps, "eos_token_id": eos_token_id}

        def infer(context: PredictContext) -> list[Any]:
            encoded = encode_all(self.prompts, _checked_inputs(context.states), context)
            if not encoded:
                return []
            warm = warmup and self.model.device.type == "cuda"
            with self.managers.using(settings, any_running, persistent_manager, warm) as manager:
                return list(run_batch(manager, self.prompts, encoded, max_new_tokens, options, progress_bar))

        run_call(chain, context, infer, self._settle_skipped)
        return {output.request_id: output for output in self._outputs(context)}

    def init_continuous_batching(
        self,
        generation_config: Any = None,
        continuous_batching_config: ContinuousBatchingConfig | Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> TextBatchingManager:
        """A manager to add requests to; `start()` it, and `stop()` it in the end.

        Args:
            generation_config, kwargs: generation settings, as in `generate_batch`.
            continuous_batching_config: settings of the engine.

        Raises:
            TypeError, ValueError: a setting is unknown or cannot be used.
        """
        return self.managers.make(self._asked(generation_config, continuous_batching_config, kwargs))

    @contextmanager
    def continuous_batching_context_manager(
        self,
        generation_config: Any = None,
        block: bool = True,
        timeout: float | None = None,
        continuous_batching_config: ContinuousBatchingConfig | Mapping[str, Any] | None = None,
        persistent_manager: bool = False,
        warmup: bool = True,
        **kwargs: Any,
    ) -> Iterator[TextBatchingManager]:
        """A running manager for a block, stopped at its end; the other arguments are those of `generate_batch`.

        Args:
            block, timeout: how to stop; see `TextBatchingManager.stop`.
            persistent_manager: keep the stopped manager for the next block with its settings.

        Raises:
            ValueError: `timeout` is no number; the block is not entered then.
        """
        timeout = checked_timeout(timeout)
        manager = self.init_continuous_batching(generation_config, continuous_batching_config, **kwargs)
        if warmup and self.model.device.type == "cuda":
            manager.warmup()
        manager.start()
        try:
            yield manager
        finally:
            manager.stop(block=block, timeout=timeout, keep_for_next_session=persistent_manager)

    def close(self) -> None:
        """Stop all managers at once and free the model; later calls raise `RuntimeError`. May be repeated."""
        self.managers.destroy_all()
        self._model = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._model is None else f"{self.device}, {self.dtype}"
        return f"<TextAgent {self.model_id} ({state})>"

    def _asked(self, generation_config: Any, batching: object, changes: Mapping[str, Any]) -> Settings:
        generation = generation_settings(self.model.generation_config, generation_config, changes)
        return Settings(generation, ContinuousBatchingConfig.parse(batching) or ContinuousBatchingConfig())

    def _manager(self, settings: Settings) -> TextBatchingManager:
        model = self.model
        sizes = cache_sizes(settings.batching, model)
        converted = to_transformers(settings.batching, sizes)
        blocks = settings.batching.num_blocks or sizes.get("num_blocks")
        capacity = None if blocks is None else blocks * page_size(settings.batching)
        engine = model.init_continuous_batching(
            generation_config=settings.generation, continuous_batching_config=converted
        )
        return TextBatchingManager(self, engine, settings, capacity)

    def _settle_skipped(self, context: PredictContext) -> None:
        require_one_result_per_state(context)
        context.results = self._outputs(context)  # type: ignore[assignment]

    def _outputs(self, context: PredictContext) -> list[TextOutput]:
        """What the hooks left in `ctx.results`, as outputs."""
        states = context.states
        return [
            supplied(value, batch_id(index), states[index] if index < len(states) else "", self.prompts)
            for index, value in enumerate(context.results or ())
        ]


def _checked_inputs(inputs: object) -> list[Any]:
    if isinstance(inputs, str) or not isinstance(inputs, Sequence):
        raise TypeError(f"inputs must be a list of prompts, not {type(inputs).__name__}; wrap a single one as [prompt]")
    return list(inputs)
