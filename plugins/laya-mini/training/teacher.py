"""What MiniLM itself thinks of each option: the similarity of option and state, each read on its own.

A row joins question, options and state, which MiniLM has never seen. Its judgement of the separate texts tells the
model early which parts of what MiniLM knows are of use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import AutoModel, AutoTokenizer

from laya_core.questions import parse_questions, text_of
from training.examples import Example
from training.rows import LabelledRow

_TEMPERATURE = 0.05
_BATCH_TEXTS = 64
_LONGEST_TEXT = 160


class Teacher:
    """Sentence embeddings of MiniLM (mean of the token states, of length one), kept by text."""

    def __init__(self, encoder: Path) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(encoder)
        self._model = AutoModel.from_pretrained(encoder).eval()
        self._kept: dict[str, Tensor] = {}

    def soften(self, rows: Sequence[LabelledRow], examples: Sequence[Example], weight: float) -> list[LabelledRow]:
        """Mixes the teacher's probabilities into the targets of `rows`, where options are described in words."""
        options = [_described_options(example) for example in examples]
        states = [text_of(example.state) for example in examples]
        self._embed(text for texts, state in zip(options, states, strict=True) if texts for text in (*texts, state))
        return [
            self._softened(row, texts, state, weight) if len(texts) == len(row.target) else row
            for row, texts, state in zip(rows, options, states, strict=True)
        ]

    def _softened(self, row: LabelledRow, options: Sequence[str], state: str, weight: float) -> LabelledRow:
        similarities = torch.stack([self._kept[option] for option in options]) @ self._kept[state]
        taught = (similarities / _TEMPERATURE).softmax(-1).tolist()
        mixed = (weight * t + (1.0 - weight) * wanted for t, wanted in zip(taught, row.target, strict=True))
        return replace(row, target=tuple(mixed))

    @torch.inference_mode()
    def _embed(self, texts: Iterable[str]) -> None:
        torch.set_num_threads(2)  # nothing else runs meanwhile
        missing = sorted({text for text in texts if text not in self._kept}, key=len)
        for start in range(0, len(missing), _BATCH_TEXTS):
            batch = missing[start : start + _BATCH_TEXTS]
            inputs = self._tokenizer(
                batch, padding=True, truncation=True, max_length=_LONGEST_TEXT, return_tensors="pt"
            )
            hidden = self._model(**inputs).last_hidden_state
            mask = inputs["attention_mask"].unsqueeze(-1)
            embeddings = F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)
            self._kept.update(zip(batch, embeddings, strict=True))


def _described_options(example: Example) -> tuple[str, ...]:
    """The option texts, or nothing where they are the standard words of a yes/no question."""
    if not example.question.get("criteria"):
        return ()
    return parse_questions({"q": dict(example.question)})["q"].option_texts()
