"""Makes a language model of random weights that knows the words of battles: to test what plays and trains language models.

Its tokenizer (byte-level BPE) is trained on the prompts of stored battles; the model is a Llama of a few layers. It knows
nothing: it writes noise and loses by illegal answers. No hub is asked.

    arena evaluate random heuristic:max-damage --format gen1ou --teams competitive --battles 20
    python scripts/build/tiny_language_model.py models/tiny --db arena.duckdb
    arena evaluate llm:models/tiny random --format gen1ou --teams competitive --battles 4 --think-limit 120

Needs transformers: `make llm`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from agents.llm.prompts import STYLES, answer, prompt_in_style
from arena.record import unpacked
from teamsets.atomic import atomic_folder
from teamsets.errors import BadInput
from training.data.from_store import selected, sides
from training.data.trajectory import decision_points

_END, _PAD = "<end>", "<pad>"
#: The most answers of a decision whose texts train the tokenizer.
_ANSWERS = 40


def texts_of(db: Path, most: int) -> Iterator[str]:
    """Yield the prompts of stored battles in each style, and some answers to each, up to `most` decisions."""
    for side in sides(db, selected(db, "true")):
        for battle in decision_points(side.seat, side.format, unpacked(side.log)):
            if most <= 0:
                return
            most -= 1
            yield from (prompt_in_style(battle, style) for style in STYLES)
            # Doubles have hundreds of pairs, of the same few words.
            yield from (answer(choice.label, f"use {choice.label}") for choice in battle.legal[:_ANSWERS])


def make(out: Path, texts: Sequence[str], *, seed: int, vocabulary: int, width: int, layers: int, length: int) -> int:
    """Write the model and its tokenizer, and return its number of parameters. Raises BadInput."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    if out.exists():
        raise BadInput(f"{out}: exists already: delete it, or name another folder")
    if not texts:
        raise BadInput("there is no battle to learn words from: play some first, or give --db")
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[_END, _PAD], initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        eos_token=_END,
        pad_token=_PAD,
        model_max_length=length,
        clean_up_tokenization_spaces=False,
    )
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=width,
            intermediate_size=2 * width,
            num_hidden_layers=layers,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=length,
            bos_token_id=None,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(out) as folder:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return int(model.num_parameters())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument("--db", type=Path, default=Path("arena.duckdb"), help="battles whose texts train the tokenizer")
    parser.add_argument("--decisions", type=int, default=2000, help="how many decisions are read")
    parser.add_argument("--seed", type=int, default=0, help="of the random weights")
    parser.add_argument("--vocabulary", type=int, default=1000, help="tokens")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--length", type=int, default=2048, help="the longest text, in tokens")
    options = parser.parse_args()
    try:
        parameters = make(
            options.out,
            list(texts_of(options.db, options.decisions)),
            seed=options.seed,
            vocabulary=options.vocabulary,
            width=options.width,
            layers=options.layers,
            length=options.length,
        )
    except BadInput as error:
        parser.error(str(error))
    print(f"{options.out}: a random language model of {parameters:,} parameters")


if __name__ == "__main__":
    main()
