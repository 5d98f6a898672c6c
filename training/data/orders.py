"""What a dataset was made by, as its `about` has it, in the words of the command that makes it again."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

#: What the folder of the part that is held out is called beside the dataset's.
HELD_OUT = "-held-out"


def how_to_rebuild(folder: Path, about: dict[str, Any]) -> str:
    """The end of an error on a dataset that cannot be used as it is: the command that makes it again, or what to do."""
    if "cut_from" in about:  # before the others: it has the order of the dataset that it is a part of
        return "delete it, and run the same `train ablate` to build it again"
    if about.get("source") == "arena":
        return f"build it again: {_build(folder, about)}"
    return "build it again with `train data build` or `train data import`"


def _build(folder: Path, about: dict[str, Any]) -> str:
    out = str(folder).removesuffix(HELD_OUT) if about.get("held_out") else str(folder)
    gates = about["gates"]
    words = ["train", "data", "build", "--db", about["database"], "--where", about["where"]]
    if gates["least_decisions"] > 1:
        words += ["--least-decisions", str(gates["least_decisions"])]
    if gates["result"] != "any":
        words += ["--result", gates["result"]]
    if gates["least_rating"] is not None:
        words += ["--least-rating", str(gates["least_rating"])]
    if gates["drop_faulty"]:
        words += ["--drop-faulty"]
    if about.get("by_expert"):
        words += ["--expert"]
    if about["hold_out"]:
        words += ["--hold-out", str(about["hold_out"])]
    if "hold_out_by" in about:
        words += ["--hold-out-by", about["hold_out_by"]]
    return " ".join(map(_quoted, [*words, "--out", out, "--replace"]))


def _quoted(word: str) -> str:
    """For a shell; in double quotes where that is enough, as conditions of SQL are full of single ones."""
    return f'"{word}"' if "'" in word and not re.search(r'["$`\\!\n]', word) else shlex.quote(word)
