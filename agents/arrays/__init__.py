"""Rule players on arrays of observations. `PLAYERS` maps the name in `array:NAME` to its class, from the weakest on."""

from agents.arrays.hitters import MaxDamage, MaxPower, Revenger
from agents.arrays.player import ArrayPlayer
from agents.arrays.supporters import SetUp, StatusSpreader
from agents.arrays.switchers import TypeSwitcher

PLAYERS: dict[str, type[ArrayPlayer]] = {
    "max-power": MaxPower,
    "type-switcher": TypeSwitcher,
    "status": StatusSpreader,
    "max-damage": MaxDamage,
    "set-up": SetUp,
    "revenger": Revenger,
}
