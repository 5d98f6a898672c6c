"""`llm:PATH`: a local transformers model as an agent."""

from __future__ import annotations

import functools
import os
import re
from typing import Any, ClassVar

import orjson

from agents.battle import SeatBattle
from agents.llm.models import NOT_INSTALLED, base_of, folder_of, identity, not_installed
from agents.llm.player import LanguageModel, Reply
from agents.serving.client import Connection, Service, connected
from agents.serving.wire import ASK, socket_path
from teamsets.errors import BadInput

_DEVICES = r"auto|cpu|mps|cuda(:\d+)?"
_DTYPES = ("auto", "fp32", "bf16", "fp16")


class Local(LanguageModel):
    """A language model from a folder that transformers or peft saved, from a run of `train llm-dpo`, or by a hub's name.

    The model runs in a process of its own, one per model and machine, shared by all workers; questions that arrive while
    it writes are answered together next. Nothing is downloaded: a hub's name must be in the local cache.

    It needs time: `--think-limit 120`. Its prompt is a file that can be replaced (docs/llm.md).

    Options: style, plan (a plan, then an action) or action; prompt, the file of a template; temperature, 0 (the most
    probable answer) or the divisor of the logits before sampling; max_tokens, of an answer, 128; constrained, only legal
    choices can be written after "Action:", false; device, "auto" (the first GPU, else the CPU), "cpu", "cuda", "cuda:1",
    "mps"; dtype, "auto" (bf16 on a GPU that has it, else fp32), "fp32", "bf16", "fp16"; batch, the most answers written
    together, 16.
    """

    path: ClassVar[str] = ""

    def __init__(
        self,
        style: str = "plan",
        prompt: str = "",
        temperature: float = 0.0,
        max_tokens: int = 128,
        constrained: bool = False,
        device: str = "auto",
        dtype: str = "auto",
        batch: int = 16,
    ) -> None:
        super().__init__(style, prompt, temperature, max_tokens)
        if problem := _problem(device, dtype, batch):
            raise BadInput(f"{self.named}: {problem}")
        self.constrained = constrained
        self._server = connected(_service(self.path, device, dtype, batch), Connection)
        self._session, self._release = self._server.open_session(self)

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what is missing: transformers, the model, or a usable option."""
        if not_installed("torch", "transformers"):
            return NOT_INSTALLED
        try:
            base = base_of(folder_of(cls.path))
            if base:
                folder_of(base)
        except BadInput as error:
            return str(error)
        if base and not_installed("peft"):
            return f"model {cls.path} is an adapter and peft is not installed: `make llm` installs it"
        problem = _problem(options.get("device", "auto"), options.get("dtype", "auto"), options.get("batch", 16))
        return problem or super().missing(format_id, **options)

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a hash of the model's files, so that a model that was trained further is another agent."""
        try:
            return "" if not_installed("transformers") else identity(folder_of(cls.path))
        except (BadInput, OSError):
            return ""  # `missing` reports the error

    async def ask(self, text: str, choices: list[str], seed: int | None = None) -> Reply:
        question = {
            "prompt": text,
            "style": self.style,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "choices": choices if self.constrained else None,
            "seed": seed,
        }
        return Reply(**orjson.loads(await self._server.answer(ASK, self._session, 0, orjson.dumps(question))))

    def finish(self, battle: SeatBattle) -> None:
        self._release()


@functools.cache
def _service(path: str, device: str, dtype: str, batch: int) -> Service:
    folder = folder_of(path)
    arguments = [os.fspath(folder.resolve()), "--device", device, "--dtype", dtype, "--batch", str(batch)]
    key = "\n".join([*arguments, identity(folder)])
    return Service(f"the server of the language model {path}", socket_path(key), "agents.llm.serve", arguments)


def _problem(device: str, dtype: str, batch: int) -> str:
    if not re.fullmatch(_DEVICES, device):
        return f"device={device}: must be auto, cpu, cuda, cuda:N or mps"
    if dtype not in _DTYPES:
        return f"dtype={dtype}: must be one of {', '.join(_DTYPES)}"
    return "" if batch >= 1 else f"batch={batch}: must be 1 or more"


@functools.cache
def local(path: str) -> type[Local]:
    """Return the agent class of a local model."""
    documentation = f"The language model {path}: " + (Local.__doc__ or "").partition(" ")[2]
    attributes = {"__doc__": documentation, "__module__": __name__, "path": path, "named": f"llm:{path}"}
    return type("Local", (Local,), attributes)
