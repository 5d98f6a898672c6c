"""Battles on the generation-9 engine (agents/engine/gen9) whose seats are observed as arrays, advanced together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agents.engine import HOSTED_FORMATS
from agents.engine.checks import seed_words
from agents.engine.gen9.engine import CORES, Engine, records
from agents.engine.gen9.library import announce, build
from agents.observation.gen9_observation import ILLEGAL, REVEALED, engine_actions, legal_masks, observe_rows
from agents.observation.observation import Observations
from arena.fixture import Fixture
from teamsets.errors import BadInput
from training.envs.venue import ALONE, UNDECIDED, Ints, Pair, not_legal

_NOTHING = -1


class Gen9Battles:
    """See `Battles` (venue.py). engine: its rows are the battles. cores: threads of the engine; None: all.

    A choice that turns out to be impossible (somebody keeps the Pokémon from leaving, which its request did
    not say) is made anew, as on Showdown; the other seat's stands. Raises CompilerMissing, MissingTool (the cache folder
    cannot be written), BadInput.
    """

    def __init__(self, size: int, format_id: str, cores: int | None = None) -> None:
        if format_id not in HOSTED_FORMATS:
            raise BadInput(f"format '{format_id}': the generation-9 engine plays {' and '.join(HOSTED_FORMATS)}")
        build(say=announce)
        self.engine = Engine(size, cores or CORES, shows=True)
        self._chosen = np.full((size, 2), _NOTHING, np.int32)  # the engine's actions of seats that wait for the other's

    @property
    def winners(self) -> NDArray[np.int32]:
        winners: NDArray[np.int32] = records(self.engine.words)["winner"]
        return winners

    @property
    def turns(self) -> NDArray[np.int32]:
        turns: NDArray[np.int32] = records(self.engine.words)["turn"]
        return turns

    def begin(
        self, rows: Ints, fixtures: Sequence[Fixture], agents: Sequence[Pair], leads: NDArray[np.bool_] | None = None
    ) -> None:
        leads = np.zeros((len(rows), 2), np.bool_) if leads is None else leads
        for which in (leads.any(axis=1), ~leads.any(axis=1)):
            chosen = [fixtures[k] for k in np.flatnonzero(which).tolist()]
            teams = [(fixture.teams[0].packed or "", fixture.teams[1].packed or "") for fixture in chosen]
            seeds = [fixture.seed for fixture in chosen]
            if leads[which].any():
                self.engine.preview(teams, seeds, rows[which], leads[which])
            else:
                self.engine.reset(teams, seeds, rows[which].tolist())
        self._chosen[rows] = _NOTHING

    def clear(self, rows: Ints) -> None:
        """Leaves these rows without a battle: nobody has a decision to make there."""
        self.engine.words[rows] = self.engine.shown[rows] = 0

    def needs_decision(self, rows: Ints) -> NDArray[np.bool_]:
        battles = records(self.engine.words)
        asked = (battles["sides"]["request"][rows] != 0) | self.engine.choosing_leads(rows)
        needs: NDArray[np.bool_] = asked & (self._chosen[rows] == _NOTHING)
        needs &= (battles["winner"][rows] == UNDECIDED)[:, None]
        return needs

    def masks(self, rows: Ints, seats: Ints) -> NDArray[np.bool_]:
        return legal_masks(self.engine, rows, seats)

    def observe(self, rows: Ints, seats: Ints, out: Observations | None = None) -> Observations:
        return observe_rows(self.engine, rows, seats, out)

    def answers(self, rows: Ints, seats: Ints) -> Ints:
        raise BadInput(ALONE)

    def play(self, rows: Ints, actions: Ints) -> None:
        places, seats = np.nonzero(self.needs_decision(rows))
        found = engine_actions(self.engine, rows[places], seats, actions[places, seats])
        illegal = np.flatnonzero(found == ILLEGAL)
        if len(illegal):
            place, seat = places[illegal[0]], seats[illegal[0]]
            raise not_legal(rows[place], seat, actions[place, seat])
        self._chosen[rows[places], seats] = np.where(found == REVEALED, _NOTHING, found)
        self._step(rows[~self.needs_decision(rows).any(axis=1)])

    def _step(self, rows: Ints) -> None:
        chosen, at_preview = np.maximum(self._chosen[rows], 0), self.engine.choosing_leads(rows).any(axis=1)
        self._chosen[rows] = _NOTHING
        if at_preview.any():
            self.engine.lead(rows[at_preview], chosen[at_preview])
            rows, chosen = rows[~at_preview], chosen[~at_preview]
        choices = np.zeros((len(rows), *Engine.shape), np.int32)
        choices[:, :, 0] = chosen
        self.engine.step(choices, rows)

    def copy(self, sources: Ints, targets: Ints, seeds: Sequence[str], agents: Sequence[Pair] | None = None) -> None:
        for part in (self.engine.words, self.engine.shown, self._chosen):
            part[targets] = part[sources]
        records(self.engine.words)["seed"][targets] = [seed_words(seed) for seed in seeds]

    def close(self) -> None:
        pass
