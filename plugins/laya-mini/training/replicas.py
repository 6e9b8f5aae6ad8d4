"""Gradients of several batches at once, one thread each.

The threads meet once in a step. With one batch spread over several threads they would meet in every operation, and
on a busy machine wait for one another most of the time.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from laya_core.model import DecisionModel
from training.rows import Batch


class Replicas:
    """`count` models that share the weights of `model` and have gradients of their own."""

    def __init__(self, model: DecisionModel, count: int) -> None:
        self._model = model
        self._others = [_sharing_weights(model) for _ in range(count - 1)]
        self._threads = ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,))

    @property
    def count(self) -> int:
        return 1 + len(self._others)

    def backward(self, batches: Sequence[Batch]) -> float:
        """Leaves the gradient of the mean loss over all rows in `model`, and returns that loss."""
        rows = sum(len(batch.targets) for batch in batches)
        losses = self._threads.map(
            lambda model, batch: _backward(model, batch, rows), (self._model, *self._others), batches
        )
        loss = sum(losses)
        for other in self._others:
            _move_gradients(other, self._model)
        return loss


def _sharing_weights(model: DecisionModel) -> DecisionModel:
    replica = copy.deepcopy(model)
    for mine, shared in zip(replica.parameters(), model.parameters(), strict=True):
        mine.data = shared.data
    return replica


def _backward(model: DecisionModel, batch: Batch, rows: int) -> float:
    model.train()
    logits, _ = model(**batch.inputs)
    loss = _summed_cross_entropy(logits, batch.targets) / rows
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.item()


def _summed_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    return -(targets * logits.log_softmax(-1)).sum()


def _move_gradients(source: DecisionModel, target: DecisionModel) -> None:
    for mine, wanted in zip(source.parameters(), target.parameters(), strict=True):
        if mine.grad is not None and wanted.grad is not None:
            wanted.grad += mine.grad
            mine.grad = None
