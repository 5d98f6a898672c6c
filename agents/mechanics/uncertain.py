"""What `damage` cannot know or does not compute: it flags such a result as an estimate. docs/damage.md lists it."""

from __future__ import annotations

from agents.mechanics.hit_counts import bonded
from agents.mechanics.move_powers import Foe
from agents.mechanics.strikes import Strike

#: Moves -> what is not known of them.
MOVES: dict[str, str] = {
    **dict.fromkeys(
        ("payback", "boltbeak", "fishiousrend", "avalanche", "revenge", "assurance", "pursuit", "round"),
        "what the target does in this turn, before or after",
    ),
    **dict.fromkeys(
        ("stompingtantrum", "temperflare", "lashout", "retaliate", "fusionbolt", "fusionflare", "echoedvoice",
         "furycutter", "rollout", "iceball", "ragefist", "lastrespects", "trumpcard", "spitup",
         "lastresort", "belch", "shelltrap"),
        "what happened in earlier turns",
    ),
    **dict.fromkeys(("counter", "mirrorcoat", "metalburst", "comeuppance", "bide"), "the damage that the user took"),
    **dict.fromkeys(("magnitude", "present", "ficklebeam", "psywave"), "a random power"),
    **dict.fromkeys(("return", "frustration", "pikapapow", "veeveevolley"), "the happiness, assumed as the best"),
    **dict.fromkeys(("naturalgift", "fling"), "the power that the held item gives"),
    "beatup": "the other Pokémon of the party",
    **dict.fromkeys(("futuresight", "doomdesire"), "who is there when it hits"),
    **dict.fromkeys(("shellsidearm",), "the category, which depends on both Pokémon"),
}  # fmt: skip
#: Abilities of the user.
ABILITIES: dict[str, str] = {
    "analytic": "who moves last",
    "stakeout": "whether the target comes in this turn",
    "rivalry": "the genders",
    "protean": "whether it was used already",
    "libero": "whether it was used already",
    "stancechange": "the stats of the other forme",
    "electromorphosis": "whether it was hit",
}
#: Abilities of the target.
TARGET_ABILITIES: dict[str, str] = {
    "disguise": "the first hit breaks it and deals no more than an eighth",
    "iceface": "the first physical hit breaks it",
}
#: Abilities of the target that change its stats between the hits of one move.
BETWEEN_HITS = frozenset({"stamina", "weakarmor", "watercompaction", "colorchange"})
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
    if strike.id in MOVES or move.least_hits != move.most_hits or strike.ability in ABILITIES:
        return True
    if strike.item in ITEMS:
        return True
    if foe.ability in TARGET_ABILITIES or (move.most_hits > 1 and foe.ability in BETWEEN_HITS):
        return True
    if bonded(strike) and (
        move.fixed in ("half", "difference") or move.self_boosts or (move.boosts and move.boost_chance >= 1)
    ):
        return True
    return not (user.effects.isdisjoint(EFFECTS) and target.effects.isdisjoint(TARGET_EFFECTS))
