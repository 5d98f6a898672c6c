"""Rule players on arrays of observations. `PLAYERS` maps the name in `array:NAME` to its class, from the weakest on."""

from agents.rules.batched.damage_players import MaxDamage, MaxPower, Revenger
from agents.rules.batched.player import ArrayPlayer
from agents.rules.batched.support_players import SetUp, StatusSpreader
from agents.rules.batched.switch_players import TypeSwitcher

PLAYERS: dict[str, type[ArrayPlayer]] = {
    "max-power": MaxPower,
    "type-switcher": TypeSwitcher,
    "status": StatusSpreader,
    "max-damage": MaxDamage,
    "set-up": SetUp,
    "revenger": Revenger,
}
