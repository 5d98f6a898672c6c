"""What each seat of the generation-9 engine's battles sees, as the arrays of agents/observation/observation.py.

The library writes them (src/shown/observe.cpp) from what each seat has been shown; estimates that it cannot reckon yet are
worked out in between (gen9_estimates.py).
"""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
from numpy.typing import NDArray

from agents.engine.gen9.engine import Engine
from agents.engine.gen9.library import library
from agents.observation.gen9_estimates import LearnedEstimates, new_missing
from agents.observation.gen9_facts import facts
from agents.observation.observation import Observations

FORMAT = "gen9ou"


@cache
def learned(format_id: str = FORMAT) -> LearnedEstimates:
    """The estimates of this process."""
    return LearnedEstimates(format_id)


def observe_rows(
    engine: Engine, rows: NDArray[np.int64], seats: NDArray[np.int64], out: Observations | None = None
) -> Observations:
    """What seat `seats[k]` of battle `rows[k]` sees now, for n such pairs; zeros for a seat that has nothing to choose.

    out: arrays to be written instead of new ones, as an earlier call returned them for as many pairs. Raises BadInput
    for a row or seat that is not there, and arrays of other shapes or types.
    """
    rows, seats = engine.pairs(rows, seats)
    out = Observations.room_for(len(rows), out)
    estimates = learned()
    missed = _observe(engine, rows, seats, estimates, out)
    while len(missed):
        part = Observations.room_for(len(missed))
        still = _observe(engine, rows[missed], seats[missed], estimates, part)
        out.token_ids[missed], out.features[missed], out.legal[missed] = part
        missed = missed[still]
    return out


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
        *(_at(array) for array in (engine.words, engine.shown, rows, seats)),
        ctypes.c_int64(len(rows)),
        ctypes.byref(facts()),
        ctypes.byref(estimates.knowledge()),
        *(_at(array) for array in (missing, *out)),
        engine.threads,
    )
    missed = np.flatnonzero(missing["count"])
    estimates.learn(missing[missed])
    return missed


def _at(array: NDArray[np.generic]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)
