"""A pair with where it comes from, as a line of JSON and as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from agents.llm.prompts import answer, read
from teamsets.errors import BadInput
from training.preferences.rules import Judged

#: Files in the folder of pairs.
PAIRS, HELD_OUT_PAIRS, COUNTS, ATTEMPTS, DATASET = (
    "pairs.jsonl",
    "pairs-held-out.jsonl",
    "counts.json",
    "attempts.jsonl",
    "train",
)


@dataclass(frozen=True)
class Pair:
    """A pair. source: `forks`, `expert` or `answers`. battle, seat, decision: where it is in the database.

    pair: shared by the battles with the same seed and teams. seed: of the tries; None where nothing was tried.
    """

    judged: Judged
    prompt: str
    source: str
    format: str
    battle: int
    pair: str
    seat: str
    decision: int
    turn: int
    seed: int | None

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same pair as another: the three texts."""
        judged = self.judged
        if judged.part == "plan":
            # A pair of plans is about the plan alone: the action that follows it is another pair.
            return self.prompt, f"Plan: {judged.chosen}", f"Plan: {judged.rejected}"
        if judged.chosen_text is None:
            return self.prompt, answer(judged.chosen), answer(judged.rejected)
        # A garbled action follows the same plan.
        garbled = answer(judged.rejected, read(judged.chosen_text).plan)
        return self.prompt, judged.chosen_text, garbled if judged.rejected_text is None else judged.rejected_text

    def line(self) -> dict[str, Any]:
        """Its line: `prompt`, `chosen` and `rejected` as TRL reads them, and our own columns."""
        prompt, chosen, rejected = self.key
        describe_pair = asdict(self.judged)
        texts = ("chosen", "rejected", "chosen_text", "rejected_text")
        own = {name: describe_pair[name] for name in describe_pair if name not in texts}
        return {
            "prompt": prompt, "chosen": chosen, "rejected": rejected, "chosen_action": self.judged.chosen,
            "rejected_action": self.judged.rejected, **own, "source": self.source, "format": self.format,
            "battle": self.battle, "pair": self.pair, "seat": self.seat, "decision": self.decision, "turn": self.turn,
            "seed": self.seed,
        }  # fmt: skip


def written(pairs: Sequence[Pair]) -> bytes:
    """Return pairs as JSON Lines."""
    return b"".join(orjson.dumps(one.line()) + b"\n" for one in pairs)


def read_pairs(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a folder of pairs, the held-out ones last. Raises BadInput."""
    if not (folder / PAIRS).exists():
        raise BadInput(f"{folder}: has no {PAIRS}: build pairs with `train preferences build --out {folder}`")
    for name in (PAIRS, HELD_OUT_PAIRS):
        yield from lines_of(folder / name)


def lines_of(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file of pairs; none if it is not there. Raises BadInput."""
    for number, line in enumerate(file.read_bytes().splitlines() if file.exists() else (), 1):
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(
                f"{file}, line {number}: is not JSON ({error}): build the pairs again with --replace"
            ) from None


def describe_pair(line: dict[str, Any]) -> str:
    """Return a pair as a person reads it. line: of a file of pairs."""
    scores = f"{_score(line['chosen_score'])} against {_score(line['rejected_score'])}"
    interval = "" if line["low"] is None else f", 95% interval {line['low']:+.2f} to {line['high']:+.2f}"
    margin = "" if line["margin"] is None else f"; margin {line['margin']:+.2f}{interval}"
    return "\n".join(
        [
            f"{line['format']}, battle {line['battle']}, {line['seat']}, decision {line['decision']} (turn {line['turn']})",
            *(f"  | {text}" for text in line["prompt"].splitlines()),
            f"  chosen    {_shown(line, 'chosen')}",
            f"  rejected  {_shown(line, 'rejected')} ({line['rejected_outcome']})",
            f"  why       {line['rule']} ({line['part']}, from {line['source']}): score {scores}{margin}",
        ]
    )


def _shown(line: dict[str, Any], name: str) -> str:
    """The choice or plan; the whole answer of a language model, in one line."""
    whole = line["source"] == "answers" and line["part"] == "action"
    return " / ".join(line[name].split("\n")) if whole else str(line[f"{name}_action"])


def _score(score: float | None) -> str:
    return "not played" if score is None else f"{score:.2f}"
