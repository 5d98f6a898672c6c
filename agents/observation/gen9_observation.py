"""What each seat of the generation-9 engine's battles sees, as the arrays of agents/observation/observation.py.

The library writes them (src/shown/observe.cpp) from what each seat has been shown; estimates that it cannot reckon yet are
worked out in between (gen9_estimates.py).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.engine.checks import one_each
from agents.engine.gen9.engine import LISTED_PER_THREAD, Engine
from agents.engine.gen9.library import address, library
from agents.observation.actions import ACTIONS
from agents.observation.gen9_estimates import LearnedEstimates, new_missing
from agents.observation.gen9_facts import facts
from agents.observation.observation import Observations
from teamsets.errors import BadInput

FORMAT = "gen9ou"
#: Of `engine_actions`.
ILLEGAL, REVEALED = -1, -2


@cache
def learned(format_id: str = FORMAT) -> LearnedEstimates:
    """The estimates of this process."""
    return LearnedEstimates(format_id)


def observe_rows(
    engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64], out: Observations | None = None
) -> Observations:
    """What seat `seats[k]` of battle `rows[k]` sees now, for n such pairs; zeros for a seat that has nothing to choose.

    out: arrays to be written instead of new ones, as an earlier call returned them for as many pairs. Raises BadInput
    for a row or seat that is not there, arrays of other shapes or types, and an engine that does not keep what is shown.
    """
    rows, seats = _checked(engine, rows, seats)
    out = Observations.room_for(len(rows), out)
    estimates = learned()
    estimates.begin()
    missed = _observe(engine, rows, seats, estimates, out)
    while len(missed):
        part = Observations.room_for(len(missed))
        still = _observe(engine, rows[missed], seats[missed], estimates, part)
        out.token_ids[missed], out.features[missed], out.legal[missed] = part
        missed = missed[still]
    return out


def legal_masks(engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The legal actions [n, 13] of those seats, without observations; none for a seat that has nothing to choose.

    Raises BadInput for a row or seat that is not there, and for an engine that does not keep what is shown.
    """
    rows, seats = _checked(engine, rows, seats)
    masks = np.zeros((len(rows), ACTIONS), np.bool_)
    library().gen9_masks(*_pairs(engine, rows, seats), ctypes.byref(facts()), address(masks), _few(engine, rows))
    return masks


def engine_actions(
    engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64], actions: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The engine's actions [n] for actions of the networks; ILLEGAL for one that is not legal.

    REVEALED where the request has hidden that it is not (somebody may keep the Pokémon from leaving): from now on the seat's
    observations say so, and it has to choose anew. Raises BadInput for a row or seat that is not there, another number of
    actions, and an engine that does not keep what is shown.
    """
    rows, seats = _checked(engine, rows, seats)
    actions = one_each("actions", actions, len(rows))
    found = np.zeros(len(rows), np.int32)
    library().gen9_translate(
        *_pairs(engine, rows, seats),
        ctypes.byref(facts()),
        address(actions),
        address(found),
        _few(engine, rows),
    )
    return found


def _checked(engine: Engine, rows: Any, seats: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not engine.shows:
        raise BadInput(
            "observations and legal actions of networks need Engine(..., shows=True): this engine does not keep what the "
            "seats have been shown."
        )
    return engine.pairs(rows, seats)


def _few(engine: Engine, rows: NDArray[np.int64]) -> int:
    return engine.threads_for(len(rows), LISTED_PER_THREAD)


def _pairs(engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64]) -> tuple[Any, ...]:
    arrays = engine.words, engine.shown, rows, seats
    return (*(address(array) for array in arrays), ctypes.c_int64(len(rows)))


def _observe(
    engine: Engine,
    rows: NDArray[np.int64],
    seats: NDArray[np.int64],
    estimates: LearnedEstimates,
    out: Observations,
) -> NDArray[np.int64]:
    """Writes observations; returns the places of those that lack estimates, which are known thereafter."""
    missing = new_missing(len(rows))
    library().gen9_observe(
        *_pairs(engine, rows, seats),
        ctypes.byref(facts()),
        ctypes.byref(estimates.knowledge()),
        *(address(array) for array in (missing, *out)),
        engine.threads_for(len(rows)),
    )
    missed = np.flatnonzero(missing["count"])
    estimates.learn(missing[missed])
    return missed
