"""The command that rebuilds a dataset, from the options in its `about`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

#: Former names of the gates' fields, in datasets of earlier versions.
_FORMER_GATES = {"least_decisions": "min_decisions", "least_rating": "min_rating"}
#: `source` in the `about` of a dataset of pairs (training/preferences).
PREFERENCES = "preferences"
#: Suffix of the folder of a dataset's held-out part.
HELD_OUT = "-held-out"


def how_to_rebuild(folder: Path, about: dict[str, Any]) -> str:
    """Return how to rebuild a dataset, for an error message: its command if `about` has all options."""
    if "cut_from" in about:  # checked first: it also has the options of the dataset that it is a part of
        return "delete it, and run the same `train ablate` to build it again"
    if about.get("source") == "arena":
        return f"build it again: {_build(folder, about)}"
    if about.get("source") == PREFERENCES:
        return "build it again with `train preferences build`"
    return "build it again with `train data build` or `train data import`"


def read_gates(stored: dict[str, Any]) -> dict[str, Any]:
    """Return the gates in a dataset's `about` under their present names."""
    return {_FORMER_GATES.get(name, name): value for name, value in stored.items()}


def _build(folder: Path, about: dict[str, Any]) -> str:
    out = str(folder).removesuffix(HELD_OUT) if about.get("held_out") else str(folder)
    gates = read_gates(about["gates"])
    arguments = ["train", "data", "build", "--db", about["database"], "--where", about["where"]]
    if gates["min_decisions"] > 1:
        arguments += ["--min-decisions", str(gates["min_decisions"])]
    if gates["result"] != "any":
        arguments += ["--result", gates["result"]]
    if gates["min_rating"] is not None:
        arguments += ["--min-rating", str(gates["min_rating"])]
    if gates["drop_faulty"]:
        arguments += ["--drop-faulty"]
    if about.get("by_expert"):
        arguments += ["--expert"]
    if about["hold_out"]:
        arguments += ["--hold-out", str(about["hold_out"])]
    if "hold_out_by" in about:
        arguments += ["--hold-out-by", about["hold_out_by"]]
    return " ".join(map(_quoted, [*arguments, "--out", out, "--replace"]))


def _quoted(argument: str) -> str:
    """Quote for a shell; with double quotes if possible, because SQL conditions contain single ones."""
    simple = "'" in argument and not re.search(r'["$`\\!\n]', argument)
    return f'"{argument}"' if simple else shlex.quote(argument)
