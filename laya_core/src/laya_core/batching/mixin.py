"""The batching methods of an agent, with the names and defaults of transformers' `ContinuousMixin`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from laya_core.waits import checked_timeout

from .config import ContinuousBatchingConfig
from .request import DecisionOutput

if TYPE_CHECKING:
    from laya_core.agent import Agent

    from .manager import ContinuousBatchingManager


class ContinuousBatching:
    """Mixin of `Agent`: at most one manager runs on an agent; while it does, `predict*` go through it."""

    _manager: ContinuousBatchingManager | None = None
    _kept_manager: ContinuousBatchingManager | None = None

    def init_continuous_batching(
        self, continuous_batching_config: ContinuousBatchingConfig | Mapping[str, Any] | None = None
    ) -> ContinuousBatchingManager:
        """Make the manager of this agent; `start()` it to let it answer.

        Args:
            continuous_batching_config: None for the defaults, or for those of the manager that runs.

        Returns:
            The manager that runs if there is one; one that was stopped with `keep_for_next_session` if its config is
            equal; otherwise a new one.

        Raises:
            RuntimeError: a manager with another config runs, or the agent is closed.
            ValueError: the config cannot be used for decisions, or not on this device.
        """
        from .manager import ContinuousBatchingManager

        config = ContinuousBatchingConfig.parse(continuous_batching_config)
        manager = self._manager
        if manager is not None and manager.is_running():
            if config is not None and config != manager.config:
                raise RuntimeError("a manager with another config runs on this agent; stop() it first")
            return manager
        config = config or ContinuousBatchingConfig()
        kept, self._kept_manager = self._kept_manager, None
        if kept is None or kept.config != config:
            kept = ContinuousBatchingManager(cast("Agent", self), config)
        self._manager = kept
        return kept

    @contextmanager
    def continuous_batching_context_manager(
        self,
        continuous_batching_config: ContinuousBatchingConfig | Mapping[str, Any] | None = None,
        *,
        block: bool = True,
        timeout: float | None = None,
        persistent_manager: bool = False,
        warmup: bool = True,
    ) -> Iterator[ContinuousBatchingManager]:
        """A running manager for the block; a manager that runs already is used and goes on afterwards.

        Args:
            block, timeout: how the stop at the end waits; see `ContinuousBatchingManager.stop`.
            persistent_manager: let it run on after the block.
            warmup: run what is slow the first time before the block.
        """
        timeout = checked_timeout(timeout)
        running = self._manager is not None and self._manager.is_running()
        manager = self.init_continuous_batching(continuous_batching_config)
        manager.start()
        try:
            if warmup:
                manager.warmup()
            yield manager
        finally:
            if not running and not persistent_manager:
                manager.stop(block=block, timeout=timeout)

    def generate_batch(
        self,
        inputs: Sequence[Mapping[str, Any]],
        *,
        continuous_batching_config: ContinuousBatchingConfig | Mapping[str, Any] | None = None,
        record_timestamps: bool = False,
        progress_bar: bool = False,
        persistent_manager: bool = False,
        warmup: bool = True,
        **arguments: Any,
    ) -> dict[str, DecisionOutput]:
        """Answer many requests in shared passes.

        Args:
            inputs: mappings with `state`, `questions` and, as far as wanted, `request_id`, `max_len`, `head_max_len`,
                `min_confidence`, `lang` and hook arguments.
            continuous_batching_config: None for the defaults, or for those of the manager that runs.
            record_timestamps: outputs tell when each question was answered.
            progress_bar: show one.
            persistent_manager: let the manager run on; the next call uses it.
            warmup: run what is slow the first time before the first request.
            arguments: further arguments of `add_request`, for every request that does not say otherwise.

        Returns:
            Request id to output, in the order of the inputs. A request that is refused has the status "failed" and an
            id of its own if the one it asked for is in use; the others are answered.

        Raises:
            TypeError: `inputs` is not a list of requests.
            RuntimeError: a manager with another config runs, or this thread holds it paused.
        """
        from .batch import answer_all

        if not isinstance(inputs, Sequence) or isinstance(inputs, str | bytes):
            raise TypeError(f"inputs must be a list of requests, not {type(inputs).__name__}")
        with self.continuous_batching_context_manager(
            continuous_batching_config, persistent_manager=persistent_manager, warmup=warmup
        ) as manager:
            return answer_all(manager, inputs, {**arguments, "record_timestamps": record_timestamps}, progress_bar)

    def _keep_manager(self, manager: ContinuousBatchingManager, keep: bool) -> None:
        """What a manager says when it stops: whether the next session takes it."""
        if keep:
            self._kept_manager = manager
        elif self._kept_manager is manager:
            self._kept_manager = None
