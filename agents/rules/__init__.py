"""Rule-based players, from the weakest to the strongest. `PLAYERS` maps the name in `heuristic:NAME` to its class."""

from agents.contract import Agent
from agents.rules.damage_players import Balanced, MaxDamage, Pessimist, Revenger
from agents.rules.expert import Expert
from agents.rules.game_trainers import EmeraldTrainer, RedBlueTrainer
from agents.rules.simple_players import Gambler, LeastDamage, MaxPower, Restless, TypeSwitcher
from agents.rules.support_players import HazardStacker, Staller, StatusSpreader

PLAYERS: dict[str, type[Agent]] = {
    "least-damage": LeastDamage,
    "restless": Restless,
    "max-power": MaxPower,
    "gambler": Gambler,
    "staller": Staller,
    "red-blue": RedBlueTrainer,
    "type-switcher": TypeSwitcher,
    "status-spreader": StatusSpreader,
    "hazard-stacker": HazardStacker,
    "max-damage": MaxDamage,
    "balanced": Balanced,
    "revenger": Revenger,
    "pessimist": Pessimist,
    "emerald": EmeraldTrainer,
    "expert": Expert,
}
