"""A tiny language model of random weights, made by scripts/build/tiny_language_model.py from made-up texts."""

from __future__ import annotations

from pathlib import Path

from support.scripts import script

TEXTS = [
    "You play a Pokémon battle (gen1ou), turn 7.\nYour active Pokémon: starmie L100, 50% HP, PAR; moves: surf (23 PP)",
    "Your bench:\n- tauros L100, 100% HP\n- chansey: fainted\nTheir active Pokémon: snorlax L100, 80% HP\nField: nothing",
    "Your legal choices:\n- move surf\n- move blizzard\n- switch tauros\nSay in one sentence what you want to do",
    "Plan: use surf\nAction: move surf",
    "Plan: go to tauros\nAction: switch tauros",
]


def tiny_model(folder: Path, seed: int = 0, length: int = 1024) -> Path:
    """Write the model and its tokenizer into a folder, and return it. length: of the longest text, in tokens."""
    made = script("build/tiny_language_model.py")
    made.make(folder, TEXTS, seed=seed, vocabulary=400, width=32, layers=2, length=length)
    return folder
