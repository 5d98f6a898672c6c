"""The base model of a run, its quantization, and the layers that get an adapter."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

from agents.llm import generation
from agents.llm.models import base_of, folder_of, not_installed
from training.llm.config import LlmConfig
from training.runs.config_reader import BadConfig


def precision_of(config: LlmConfig) -> str:
    """Return "fp32", "bf16" or "fp16". Raises BadConfig for fp16 without a GPU."""
    wanted = config.compute.precision
    if wanted == "fp16" and not torch.cuda.is_available():
        raise BadConfig("compute.precision: fp16 needs a GPU: use fp32 or bf16")
    return generation.precision_of(wanted, torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def in_4bit(config: LlmConfig) -> bool:
    """Return whether the base model is loaded in 4 bits. Raises BadConfig where that was asked for and cannot be."""
    wanted = config.model.quantization
    if wanted == "none" or (wanted == "auto" and not torch.cuda.is_available()):
        return False
    if not_installed("bitsandbytes"):
        if wanted == "auto":
            return False
        raise BadConfig(
            "model.quantization: 4bit needs bitsandbytes, which is not installed: `make llm`, or use none or auto"
        )
    return True


def tokenizer_of(config: LlmConfig) -> Any:
    """Return the base model's tokenizer. Raises BadConfig."""
    try:
        return AutoTokenizer.from_pretrained(folder_of(config.model.path))
    except (OSError, ValueError) as error:
        raise BadConfig(f"model.path: {config.model.path}: no tokenizer can be read ({_short(error)})") from None


def base_model(config: LlmConfig, *, quantized: bool) -> Any:
    """Load the base model in the run's precision. Raises BadConfig, BadInput."""
    folder = folder_of(config.model.path)
    if base_of(folder):
        raise BadConfig(
            f"model.path: {config.model.path}: is an adapter: give a whole model, for example of a run with "
            "`output: merged`"
        )
    dtype = generation.DTYPES[precision_of(config)]
    options: dict[str, Any] = {"dtype": dtype}
    if quantized:
        options["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=dtype, bnb_4bit_use_double_quant=True
        )
    try:
        return AutoModelForCausalLM.from_pretrained(folder, **options)
    except (OSError, ValueError, RuntimeError) as error:
        raise BadConfig(f"model.path: {config.model.path}: cannot be loaded ({_short(error)})") from None


def adapter_of(config: LlmConfig, model: Any) -> LoraConfig:
    """Return the adapter's settings for a model. Raises BadConfig for a pattern that matches no layer."""
    return LoraConfig(
        task_type="CAUSAL_LM",
        r=config.lora.rank,
        lora_alpha=config.lora.alpha,  # type: ignore[arg-type, unused-ignore]
        lora_dropout=0.0,
        target_modules=layers_of(model, config.lora.layers),
    )


def layers_of(model: Any, patterns: Sequence[str]) -> list[str]:
    """Return the dotted names of the linear layers that match a pattern, by their whole name or its last part.

    No pattern: all, but not the output layer. Raises BadConfig for a pattern that matches none.
    """
    output = model.get_output_embeddings()
    # GPT-2 calls its linear layers Conv1D; those of bitsandbytes are subclasses of torch's.
    linear = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Linear) or type(module).__name__ == "Conv1D"
    }
    if not patterns:
        return [name for name, module in linear.items() if module is not output]

    def matches(name: str, pattern: str) -> bool:
        return fnmatch(name, pattern) or fnmatch(name.rpartition(".")[2], pattern)

    for pattern in patterns:
        if not any(matches(name, pattern) for name in linear):
            known = ", ".join(dict.fromkeys(name.rpartition(".")[2] for name in linear))
            raise BadConfig(f"lora.layers: '{pattern}' matches no linear layer of the model: it has {known}")
    return [name for name in linear if any(matches(name, pattern) for pattern in patterns)]


def merged(config: LlmConfig, adapter: Path) -> Any:
    """Return the base model with an adapter merged into it, in full precision also where it was trained in 4 bits."""
    return PeftModel.from_pretrained(base_model(config, quantized=False), adapter).merge_and_unload()


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
