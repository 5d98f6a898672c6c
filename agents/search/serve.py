"""The process that holds one build of poke-engine. `python serve.py FOLDER`, started by engine.py; no import of ours.

poke-engine is one extension module of one name, so a process can hold one build. In, a line of JSON for each request;
out, a line of JSON for each answer: {"answer": ...}, or {"error": words} where poke-engine panicked. The end of the
input, which comes with the end of the owner, ends the process.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def _search(engine: Any, order: dict[str, Any]) -> dict[str, Any]:
    """A tree search from a state: for either side option -> [visits, total value, prior], and the iterations."""
    one, two, iterations = engine.tree_search(
        order["state"],
        order["ms"],
        order["iterations"],
        order["threads"],
        order["exploration"],
        order["first"],
        order["weights"],
        order["trust"],
    )
    sides = [{name: [visits, total, prior] for name, visits, total, prior in side} for side in (one, two)]
    return {"one": sides[0], "two": sides[1], "iterations": iterations}


def _outcomes(engine: Any, order: dict[str, Any]) -> list[list[Any]]:
    """Each outcome of a pair of choices: chance (0 to 100), instructions in words, the state that it leads to."""
    state = engine.State.from_string(order["state"])
    outcomes = engine.generate_instructions(state, order["one"], order["two"])
    return [
        [o.percentage, [repr(i) for i in o.instruction_list], state.apply_instructions(o).to_string()] for o in outcomes
    ]


def _damage(engine: Any, order: dict[str, Any]) -> list[list[int]]:
    """The greatest damage of either side's move, without and with a critical hit."""
    state = engine.State.from_string(order["state"])
    return [list(rolls) for rolls in engine.calculate_damage(state, order["one"], order["two"], order["first"])]


def _text(engine: Any, order: dict[str, Any]) -> str:
    """The state as poke-engine writes what it has read: a word that it does not know comes back as another."""
    return str(engine.State.from_string(order["state"]).to_string())


def _features(engine: Any, order: dict[str, Any]) -> list[list[Any]]:
    """For each state poke-engine's own evaluation, and the features of its fitted value."""
    return [list(engine.features_of_value(text)) for text in order["states"]]


def _choices(engine: Any, order: dict[str, Any]) -> list[list[dict[str, dict[str, float]]]]:
    """For each state and either side the features of each option, by the option's name."""
    return [engine.features_of_choices(text) for text in order["states"]]


_DO = {
    "features": _features,
    "choices": _choices,
    "search": _search,
    "outcomes": _outcomes,
    "damage": _damage,
    "text": _text,
}


def main() -> None:
    """Answers until the input ends."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever poke-engine prints must not get between the answers
    sys.path.insert(0, sys.argv[1])
    import poke_engine  # from the build's own folder

    for line in sys.stdin:
        order = json.loads(line)
        try:
            reply = {"answer": _DO[order["do"]](poke_engine, order)}
        except BaseException as error:  # Rust's panics arrive as a BaseException
            reply = {"error": f"{type(error).__name__}: {error}"[:500]}
        output.write(json.dumps(reply) + "\n")
        output.flush()


if __name__ == "__main__":
    main()
