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
from training.envs.hosted_battles import HostedBattles
from training.envs.venue import UNDECIDED, Ints, Pair

_NOTHING = -1


class Gen9Battles:
    """See `Battles` (venue.py). engine: its rows are the battles. cores: threads of the engine; None: all.

    Battles in which an agent acts alone, whose seat has to read the protocol, are played by HostedBattles: the same ones,
    more slowly. A choice that turns out to be impossible (somebody keeps the Pokémon from leaving, which its request did
    not say) is made anew, as on Showdown; the other seat's stands. Raises CompilerMissing, MissingTool (the cache folder
    cannot be written), BadInput.
    """

    def __init__(self, size: int, format_id: str, cores: int | None = None) -> None:
        if format_id not in HOSTED_FORMATS:
            raise BadInput(f"format '{format_id}': the generation-9 engine plays {' and '.join(HOSTED_FORMATS)}")
        build(say=announce)
        self.format_id, self._cores = format_id, cores or CORES
        self.engine = Engine(size, self._cores, shows=True)
        self._chosen = np.full((size, 2), _NOTHING, np.int32)  # the engine's actions of seats that wait for the other's
        self._is_hosted = np.zeros(size, np.bool_)
        self._hosts: HostedBattles | None = None

    @property
    def _hosted(self) -> HostedBattles:
        if self._hosts is None:
            self._hosts = HostedBattles(len(self._is_hosted), self.format_id, self._cores)
        return self._hosts

    @property
    def winners(self) -> NDArray[np.signedinteger]:
        return self._of_both("winner", "winners")

    @property
    def turns(self) -> NDArray[np.signedinteger]:
        return self._of_both("turn", "turns")

    def _of_both(self, word: str, name: str) -> NDArray[np.signedinteger]:
        own: NDArray[np.int32] = records(self.engine.words)[word]
        return own if self._hosts is None else np.where(self._is_hosted, getattr(self._hosts, name), own)

    def begin(
        self, rows: Ints, fixtures: Sequence[Fixture], agents: Sequence[Pair], leads: NDArray[np.bool_] | None = None
    ) -> None:
        leads = np.zeros((len(rows), 2), np.bool_) if leads is None else leads
        hosted = np.array([pair != (None, None) for pair in agents], np.bool_)
        if hosted.any():
            places = np.flatnonzero(hosted).tolist()
            pairs = [agents[k] for k in places]
            self._hosted.begin(rows[hosted], [fixtures[k] for k in places], pairs, leads[hosted])
            self.engine.words[rows[hosted]] = self.engine.shown[rows[hosted]] = 0  # nobody is asked anything there
        for which in (~hosted & leads.any(axis=1), ~hosted & ~leads.any(axis=1)):
            chosen = [fixtures[k] for k in np.flatnonzero(which).tolist()]
            teams = [(fixture.teams[0].packed or "", fixture.teams[1].packed or "") for fixture in chosen]
            seeds = [fixture.seed for fixture in chosen]
            if leads[which].any():
                self.engine.preview(teams, seeds, rows[which], leads[which])
            else:
                self.engine.reset(teams, seeds, rows[which].tolist())
        self._chosen[rows], self._is_hosted[rows] = _NOTHING, hosted

    def needs_decision(self, rows: Ints) -> NDArray[np.bool_]:
        battles = records(self.engine.words)
        asked = (battles["sides"]["request"][rows] != 0) | self.engine.choosing_leads(rows)
        needs: NDArray[np.bool_] = asked & (self._chosen[rows] == _NOTHING)
        needs &= (battles["winner"][rows] == UNDECIDED)[:, None]
        hosted = self._is_hosted[rows]
        if hosted.any():
            needs[hosted] = self._hosted.needs_decision(rows[hosted])
        return needs

    def masks(self, rows: Ints, seats: Ints) -> NDArray[np.bool_]:
        masks, hosted = legal_masks(self.engine, rows, seats), self._is_hosted[rows]
        if hosted.any():
            masks[hosted] = self._hosted.masks(rows[hosted], seats[hosted])
        return masks

    def observe(self, rows: Ints, seats: Ints, out: Observations | None = None) -> Observations:
        hosted = self._is_hosted[rows]
        if not hosted.any():
            return observe_rows(self.engine, rows, seats, out)
        out = Observations.room_for(len(rows), out)
        parts = (
            (~hosted, observe_rows(self.engine, rows[~hosted], seats[~hosted])),
            (hosted, self._hosted.observe(rows[hosted], seats[hosted])),
        )
        for which, seen in parts:
            out.token_ids[which], out.features[which], out.legal[which] = seen
        return out

    def answers(self, rows: Ints, seats: Ints) -> Ints:
        return self._hosted.answers(rows, seats)

    def play(self, rows: Ints, actions: Ints) -> None:
        hosted = self._is_hosted[rows]
        of_engine, chosen = rows[~hosted], actions[~hosted]
        places, seats = np.nonzero(self.needs_decision(of_engine))
        found = engine_actions(self.engine, of_engine[places], seats, chosen[places, seats])
        illegal = np.flatnonzero(found == ILLEGAL)
        if len(illegal):
            place, seat = places[illegal[0]], seats[illegal[0]]
            raise BadInput(f"battle {of_engine[place]}, seat {seat}: action {chosen[place, seat]} is not legal")
        if hosted.any():
            self._hosted.play(rows[hosted], actions[hosted])
        self._chosen[of_engine[places], seats] = np.where(found == REVEALED, _NOTHING, found)
        self._step(of_engine[~self.needs_decision(of_engine).any(axis=1)])

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
        hosted = self._is_hosted[sources]
        if hosted.any():
            of_hosts = np.flatnonzero(hosted).tolist()
            pairs = None if agents is None else [agents[k] for k in of_hosts]
            self._hosted.copy(sources[hosted], targets[hosted], [seeds[k] for k in of_hosts], pairs)
        for part in (self.engine.words, self.engine.shown, self._chosen, self._is_hosted):
            part[targets] = part[sources]
        records(self.engine.words)["seed"][targets] = [seed_words(seed) for seed in seeds]

    def close(self) -> None:
        if self._hosts is not None:
            self._hosts.close()
