"""Rule-based players, from the weakest to the strongest. `PLAYERS` maps the name in `heuristic:NAME` to its class."""

from agents.contract import Agent
from agents.heuristics.expert import Expert
from agents.heuristics.hitters import Balanced, MaxDamage, Pessimist, Revenger
from agents.heuristics.simple import Gambler, LeastDamage, MaxPower, Restless, TypeSwitcher
from agents.heuristics.supporters import HazardStacker, Staller, StatusSpreader
from agents.heuristics.trainers import EmeraldTrainer, RedBlueTrainer

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
