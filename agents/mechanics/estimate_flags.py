"""What `damage` cannot know or does not compute: it flags such a result as an estimate. docs/damage.md lists it."""

from __future__ import annotations

from agents.mechanics.immunities import broken_first
from agents.mechanics.move_powers import Foe
from agents.mechanics.multi_hit import bonded, hits_of
from agents.mechanics.strikes import Strike

#: Moves -> what is not known of them.
MOVES: dict[str, str] = {
    **dict.fromkeys(
        ("payback", "boltbeak", "fishiousrend", "avalanche", "revenge", "assurance", "pursuit", "round"),
        "what the target does in this turn, before or after",
    ),
    **dict.fromkeys(
        ("stompingtantrum", "temperflare", "lashout", "retaliate", "fusionbolt", "fusionflare", "echoedvoice",
         "furycutter", "rollout", "iceball", "ragefist", "lastrespects", "trumpcard", "lastresort", "belch",
         "shelltrap"),
        "what happened in earlier turns",
    ),
    **dict.fromkeys(("counter", "mirrorcoat", "metalburst", "comeuppance", "bide"), "the damage that the user took"),
    **dict.fromkeys(("magnitude", "present", "ficklebeam", "psywave"), "a random power"),
    **dict.fromkeys(("return", "frustration", "pikapapow", "veeveevolley"), "the happiness, assumed as the best"),
    **dict.fromkeys(("naturalgift", "fling"), "the power that the held item gives"),
    "beatup": "the other Pokémon of the party",
    **dict.fromkeys(("futuresight", "doomdesire"), "who is there when it hits"),
}  # fmt: skip
#: Abilities of the user.
ABILITIES: dict[str, str] = {
    "analytic": "who moves last",
    "stakeout": "whether the target comes in this turn",
}
#: Of other Pokémon the bonus of Stellar is for the first move of each type.
_ALWAYS_STELLAR = "terapagosstellar"
#: Abilities of the user that act once while it is on the field, since generation 9.
ONCE = frozenset({"protean", "libero"})
#: Moves whose damage depends on what the first hit changes: HP, stages, the user's types, items, statuses, abilities.
OTHERWISE_THE_SECOND_TIME = frozenset(
    {"crushgrip", "wringout", "hardpress", "brine", "spectralthief", "burnup", "doubleshock", "clearsmog", "covet", "thief",
     "knockoff", "smellingsalts", "wakeupslap", "coreenforcer", "punishment"}
)  # fmt: skip
ITEMS: dict[str, str] = {"metronome": "how often the move was used in a row"}
EFFECTS: dict[str, str] = {"dynamax": "Max Moves and the HP of a Dynamax Pokémon"}
#: Effects of a target that is out of reach, or behind something.
TARGET_EFFECTS: dict[str, str] = {
    "dynamax": "the HP of a Dynamax Pokémon",
    "substitute": "the Substitute takes the hit",
}


def is_estimate(strike: Strike, foe: Foe) -> bool:
    """Return whether something that changes this damage is not known or not computed."""
    user, target, move = strike.user, foe.fighter, strike.move
    if user.guessed or target.guessed:
        return True
    if strike.id in MOVES or strike.ability in ABILITIES or strike.item in ITEMS:
        return True
    if strike.id == "dragondarts" and strike.company.guarded:
        return True
    if (strike.ability in ONCE and strike.gen >= 9) or strike.unsheathed:
        return True
    if user.terastallized and user.tera == "STELLAR" and user.species != _ALWAYS_STELLAR:
        return True
    if move.least_hits != move.most_hits and strike.ability != "skilllink":
        return True
    if foe.ability and hits_of(strike) > 1 and broken_first(strike, foe):
        return True
    if bonded(strike) and (
        move.fixed in ("half", "difference")
        or move.id in OTHERWISE_THE_SECOND_TIME
        or move.self_boosts
        or (move.boosts and move.boost_chance >= 1)
    ):
        return True
    return not (user.effects.isdisjoint(EFFECTS) and target.effects.isdisjoint(TARGET_EFFECTS))
