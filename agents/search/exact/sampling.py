"""Teams of the opponent for the exact search: every Pokémon that was seen with a set that fits, the others by frequency."""

from __future__ import annotations

import random

from agents.battle import SeatBattle
from agents.engine.gen1.tables import MOVES_BY_ID, SPECIES_BY_ID
from agents.mechanics.set_sampling import draw_set, draw_unseen
from agents.search.exact.log import Log
from agents.search.exact.row import TeamGuess

_MOVES = 4


def sample(battle: SeatBattle, log: Log, rng: random.Random) -> list[TeamGuess]:
    """A team for the opponent, as docs/search.md says for `search:mcts`, in the order in which its Pokémon came in."""
    side = log.sides[2 - int((battle.player_role or "p1")[1])]
    team = []
    for mon in dict.fromkeys(side.entries):
        seen = side.mons[mon]
        shown = tuple(move for move in seen.used if move in MOVES_BY_ID)[:_MOVES]
        drawn = draw_set(battle.format_id, 1, seen.species, shown, None, None, rng)
        team.append(TeamGuess(mon, seen.species, seen.level, _known(drawn.moves)))
    size = battle._team_size.get(battle.opponent_role or "", 6)
    species = {sheet.species for sheet in team}
    for drawn in draw_unseen(battle, species, size - len(team), rng):
        team.append(TeamGuess(drawn.species, drawn.species, drawn.level, _known(drawn.moves)))
    while len(team) < size:  # formats whose teams are generated have no statistics of species
        others = [name for name in SPECIES_BY_ID if name not in {sheet.species for sheet in team}]
        name = rng.choice(others)
        drawn = draw_set(battle.format_id, 1, name, (), None, None, rng)
        team.append(TeamGuess(name, name, _typical_level(battle), _known(drawn.moves)))
    return team


def _known(moves: tuple[str, ...]) -> tuple[str, ...]:
    """The moves that the engine knows; Tackle if there is none."""
    return tuple(move for move in moves if move in MOVES_BY_ID) or ("tackle",)


def _typical_level(battle: SeatBattle) -> int:
    """The mean level of our own team, of which the levels of random teams are a sample."""
    levels = [mon.level for mon in battle.team.values()]
    return round(sum(levels) / len(levels))
