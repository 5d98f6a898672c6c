"""A transformers model that answers questions, several at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
)

from agents.llm.models import base_of, folder_of
from agents.llm.player import Reply
from agents.llm.prompts import STYLES, answer_start, has_action, read

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Question:
    """A prompt and how it is answered. choices: the only actions that may be written; None: any text.

    seed: of the sampling: the answer is then the same whatever is answered with it (but for rounding); None: any.
    """

    prompt: str
    style: str
    temperature: float
    max_tokens: int
    choices: tuple[str, ...] | None
    seed: int | None = None

    @property
    def kind(self) -> tuple[Any, ...]:
        """Questions of one kind can be answered together."""
        return self.style, self.temperature, self.max_tokens, self.choices is None, self.seed is None


class Model:
    """A language model and its tokenizer on a device. dtype: "auto", "fp32", "bf16" or "fp16"."""

    def __init__(self, folder: Path, device: torch.device, dtype: str) -> None:
        base = base_of(folder)
        weights = folder_of(base) if base else folder
        self.tokenizer: Any = AutoTokenizer.from_pretrained(_tokenizer_of(folder, weights), padding_side="left")
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        model: Any = AutoModelForCausalLM.from_pretrained(weights, dtype=DTYPES[precision_of(dtype, device)])
        if base:
            from peft import PeftModel

            model = PeftModel.from_pretrained(model, folder).merge_and_unload()
        self.model, self.device = model.to(device).eval(), device
        self.limit: int | None = getattr(model.config, "max_position_embeddings", None)

    def answers(self, questions: Sequence[Question]) -> list[Reply]:
        """Answer questions of one kind. Raises ValueError for a prompt that is too long for the model."""
        prompts = [self._ids(one.prompt) for one in questions]
        longest, max_tokens = max(map(len, prompts)), questions[0].max_tokens
        if self.limit is not None and longest + max_tokens > self.limit:
            raise ValueError(
                f"a prompt of {longest} tokens and max_tokens={max_tokens} are more than the {self.limit} that the model "
                "takes: shorten the template (prompt=FILE) or max_tokens"
            )
        constrained = questions[0].choices is not None
        if constrained and "plan" not in STYLES[questions[0].style]:
            return self._constrained(questions, prompts, [Reply("", len(ids), 0) for ids in prompts])
        replies = self._free(questions, prompts, plan_only=constrained)
        return self._constrained(questions, prompts, replies) if constrained else replies

    def _ids(self, prompt: str) -> list[int]:
        """The tokens of a prompt: in the model's chat template, if it has one."""
        if self.tokenizer.chat_template is None:
            return list(self.tokenizer(prompt)["input_ids"])
        messages = [{"role": "user", "content": prompt}]
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _free(self, questions: Sequence[Question], prompts: Sequence[list[int]], *, plan_only: bool) -> list[Reply]:
        """Write answers until they have an action, or with plan_only until their plan ends."""
        kind = questions[0]
        stop = _Answered(self.tokenizer, max(map(len, prompts)), plan_only)
        written = self._written(prompts, questions, kind.max_tokens, 0, stopping_criteria=StoppingCriteriaList([stop]))
        texts = [self.tokenizer.decode(ids, skip_special_tokens=True) for ids in written]
        return [
            Reply(text, len(ids), len(new), len(new) >= kind.max_tokens)
            for text, ids, new in zip(texts, prompts, written, strict=True)
        ]

    def _constrained(
        self, questions: Sequence[Question], prompts: Sequence[list[int]], replies: Sequence[Reply]
    ) -> list[Reply]:
        """Write an action after each plan: one of the legal choices, token by token."""
        starts, allowed = [], []
        for question, ids, reply in zip(questions, prompts, replies, strict=True):
            start = answer_start(reply.text)
            full = [self._plain(f"{start} {choice}") for choice in question.choices or ()]
            common = _common([self._plain(start), *full])
            starts.append(ids + full[0][:common])
            allowed.append([tuple(tokens[common:]) for tokens in full])
        width, end = max(map(len, starts)), self.tokenizer.eos_token_id

        def next_tokens(row: int, ids: torch.Tensor) -> list[int]:
            done = tuple(ids[width:].tolist())
            nexts = {
                tokens[len(done)] for tokens in allowed[row] if len(tokens) > len(done) and tokens[: len(done)] == done
            }
            return [*nexts, *([end] if done in allowed[row] else [])] or [end]

        longest = 1 + max(len(tokens) for each in allowed for tokens in each)
        written = self._written(starts, questions, longest, 1, prefix_allowed_tokens_fn=next_tokens)
        completed = []
        for begun, ids, new, reply in zip(starts, prompts, written, replies, strict=True):
            text = self.tokenizer.decode(begun[len(ids) :] + new, skip_special_tokens=True)
            completed.append(Reply(text, reply.prompt_tokens, (reply.completion_tokens or 0) + len(new)))
        return completed

    def _plain(self, text: str) -> list[int]:
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    @torch.inference_mode()
    def _written(
        self, prompts: Sequence[list[int]], questions: Sequence[Question], max_tokens: int, part: int, **more: Any
    ) -> list[list[int]]:
        """Return the new tokens of each, without padding. part: of the answer, so that each draws other numbers."""
        padded = self.tokenizer.pad({"input_ids": list(prompts)}, return_tensors="pt").to(self.device)
        temperature = questions[0].temperature
        seeds = [one.seed + part for one in questions if one.seed is not None]
        sampling: dict[str, Any] = {"do_sample": False}
        if temperature and seeds:
            sampling["logits_processor"] = LogitsProcessorList([_Seeded(seeds, temperature)])
        elif temperature:
            sampling = {"do_sample": True, "temperature": temperature, "top_k": 0}
        ids = self.model.generate(
            **padded, **sampling, **more, max_new_tokens=max_tokens, pad_token_id=self.tokenizer.pad_token_id
        )
        end = self.tokenizer.eos_token_id
        return [_until(row, end) for row in ids[:, padded["input_ids"].shape[1] :].tolist()]


class _Seeded(LogitsProcessor):
    """Samples each row with a generator of its own: the largest logit with Gumbel noise is a draw from the softmax."""

    def __init__(self, seeds: Sequence[int], temperature: float) -> None:
        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._temperature = temperature

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        drawn = [torch.empty(scores.shape[1]).exponential_(generator=one) for one in self._generators]
        return scores.float() / self._temperature - torch.stack(drawn).log().to(scores.device)


class _Answered(StoppingCriteria):
    """Ends an answer behind the line of its action: models without a chat template go on with a next turn of their own."""

    def __init__(self, tokenizer: Any, start: int, plan_only: bool) -> None:
        self._tokenizer, self._start, self._plan_only = tokenizer, start, plan_only

    def __call__(self, input_ids: torch.Tensor, scores: Any, **more: Any) -> torch.Tensor:
        texts = self._tokenizer.batch_decode(input_ids[:, self._start :], skip_special_tokens=True)
        return torch.tensor([self._done(text) for text in texts], device=input_ids.device)

    def _done(self, text: str) -> bool:
        lines = text.rpartition("\n")[0]
        return has_action(lines) or (self._plan_only and bool(read(lines).plan))


def _until(ids: list[int], end: int) -> list[int]:
    return ids[: ids.index(end) + 1] if end in ids else ids


def _common(texts: Sequence[Sequence[int]]) -> int:
    """The number of tokens that all begin with."""
    shortest = min(map(len, texts))
    return next((n for n in range(shortest) if len({text[n] for text in texts}) > 1), shortest)


def _tokenizer_of(folder: Path, weights: Path) -> Path:
    return folder if (folder / "tokenizer_config.json").is_file() else weights


def precision_of(name: str, device: torch.device) -> str:
    """Return "fp32", "bf16" or "fp16"; "auto" is bf16 on a GPU that has it, else fp32."""
    if name == "auto":
        return "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "fp32"
    return name
