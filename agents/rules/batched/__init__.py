"""Rule players on arrays of observations. `PLAYERS` maps the name in `array:NAME` to its class, from the weakest on."""

from agents.rules.batched.damage_players import BatchedMaxDamage, BatchedMaxPower, BatchedRevenger
from agents.rules.batched.player import ArrayPlayer
from agents.rules.batched.support_players import BatchedHazardStacker, BatchedSetUp, BatchedStatusSpreader
from agents.rules.batched.switch_players import BatchedTypeSwitcher

PLAYERS: dict[str, type[ArrayPlayer]] = {
    "max-power": BatchedMaxPower,
    "type-switcher": BatchedTypeSwitcher,
    "status": BatchedStatusSpreader,
    "hazards": BatchedHazardStacker,
    "max-damage": BatchedMaxDamage,
    "set-up": BatchedSetUp,
    "revenger": BatchedRevenger,
}
