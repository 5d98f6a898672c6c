"""A process that serves one build of poke-engine: `python serve.py FOLDER`, started by engine.py. It is self-contained.

poke-engine is an extension module with a fixed name, so a process can load one build only. Requests and answers are lines
of JSON: {"answer": ...}, or {"error": message} if poke-engine panicked. The process ends at the end of its input, that is,
when its owner ends.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def _search(engine: Any, order: dict[str, Any]) -> dict[str, Any]:
    """Search from a state: for each side option -> [visits, total value, prior], and the number of iterations."""
    side_one, side_two, iterations = engine.tree_search(
        order["state"],
        order["ms"],
        order["iterations"],
        order["threads"],
        order["exploration"],
        order["first"],
        order["weights"],
        order["trust"],
    )
    sides = [{name: [visits, total, prior] for name, visits, total, prior in side} for side in (side_one, side_two)]
    return {"side_one": sides[0], "side_two": sides[1], "iterations": iterations}


def _weights(engine: Any, order: dict[str, Any]) -> str:
    """Return the file and the line that are no fitted weights, empty if all are: tree_search reads the file."""
    try:
        engine.tree_search(engine.State().to_string(), 1, 1, 1, 0.0, 0.0, order["weights"], 1.0)
    except ValueError as error:
        return str(error)[:300]
    return ""


def _outcomes(engine: Any, order: dict[str, Any]) -> list[list[Any]]:
    """Return each outcome of a pair of choices: probability in percent, instructions as text, the resulting state."""
    state = engine.State.from_string(order["state"])
    outcomes = engine.generate_instructions(state, order["choice_one"], order["choice_two"])
    return [
        [o.percentage, [repr(i) for i in o.instruction_list], state.apply_instructions(o).to_string()] for o in outcomes
    ]


def _damage(engine: Any, order: dict[str, Any]) -> list[list[int]]:
    """Return the maximum damage of each side's move, without and with a critical hit."""
    state = engine.State.from_string(order["state"])
    return [
        list(rolls)
        for rolls in engine.calculate_damage(state, order["choice_one"], order["choice_two"], order["first"])
    ]


def _text(engine: Any, order: dict[str, Any]) -> str:
    """Return a state parsed and serialized by poke-engine, which replaces names that it does not know."""
    return str(engine.State.from_string(order["state"]).to_string())


def _features(engine: Any, order: dict[str, Any]) -> list[list[Any]]:
    """Return for each state poke-engine's own evaluation, and the features of the fitted value."""
    return [list(engine.features_of_value(text)) for text in order["states"]]


def _choices(engine: Any, order: dict[str, Any]) -> list[list[dict[str, dict[str, float]]]]:
    """Return for each state and side the features of each option, by the option's name."""
    return [engine.features_of_choices(text) for text in order["states"]]


_DO = {
    "features": _features,
    "choices": _choices,
    "search": _search,
    "weights": _weights,
    "outcomes": _outcomes,
    "damage": _damage,
    "text": _text,
}


def main() -> None:
    """Answer requests until the input ends."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of poke-engine must not be mixed with the answers
    sys.path.insert(0, sys.argv[1])
    import poke_engine  # from the build's own folder

    for line in sys.stdin:
        order = json.loads(line)
        try:
            reply = {"answer": _DO[order["do"]](poke_engine, order)}
        except BaseException as error:  # a panic of Rust is a BaseException
            reply = {"error": f"{type(error).__name__}: {error}"[:500]}
        output.write(json.dumps(reply) + "\n")
        output.flush()


if __name__ == "__main__":
    main()
