"""What the simulator calls the temporary effects on a Pokémon, and poke-env's `Effect`: a reviewed map, both ways.

An effect of the map is compared in both directions. poke-env also keeps marks of what has just happened ("Sturdy activated")
as effects; those are no state, end with the Pokémon's stay and are not compared.
"""

from __future__ import annotations

from typing import Any

#: The simulator's volatile -> the effects that stand for it; one of them must be there while it lasts, and none else.
VOLATILES: dict[str, tuple[str, ...]] = {
    "aquaring": ("AQUA_RING",),
    "attract": ("ATTRACT",),
    "bide": ("BIDE",),
    "charge": ("CHARGE",),
    "confusion": ("CONFUSION",),
    "curse": ("CURSE",),
    "defensecurl": ("DEFENSE_CURL",),
    "destinybond": ("DESTINY_BOND",),
    "disable": ("DISABLE",),
    "dragoncheer": ("DRAGON_CHEER",),
    "dynamax": ("DYNAMAX",),
    "embargo": ("EMBARGO",),
    "encore": ("ENCORE",),
    "flashfire": ("FLASH_FIRE",),
    "focusenergy": ("FOCUS_ENERGY",),
    "foresight": ("FORESIGHT",),
    "glaiverush": ("GLAIVE_RUSH",),
    "gmaxchistrike": ("G_MAX_CHI_STRIKE",),
    "grudge": ("GRUDGE",),
    "healblock": ("HEAL_BLOCK",),
    "imprison": ("IMPRISON",),
    "ingrain": ("INGRAIN",),
    "laserfocus": ("LASER_FOCUS",),
    "leechseed": ("LEECH_SEED",),
    "lockon": ("LOCK_ON", "MIND_READER"),
    "magnetrise": ("MAGNET_RISE",),
    "minimize": ("MINIMIZE",),
    "miracleeye": ("MIRACLE_EYE",),
    "mist": ("MIST",),
    "nightmare": ("NIGHTMARE",),
    "noretreat": ("NO_RETREAT",),
    "octolock": ("OCTOLOCK",),
    "partiallytrapped": (
        "PARTIALLY_TRAPPED", "BIND", "CLAMP", "FIRE_SPIN", "INFESTATION", "MAGMA_STORM", "SAND_TOMB", "SNAP_TRAP",
        "THUNDER_CAGE", "WHIRLPOOL", "WRAP", "G_MAX_CENTIFERNO", "G_MAX_SANDBLAST",
    ),
    "powershift": ("POWER_SHIFT",),
    "powertrick": ("POWER_TRICK",),
    "rage": ("RAGE",),
    "reflect": ("REFLECT",),
    "saltcure": ("SALT_CURE",),
    "smackdown": ("SMACK_DOWN",),
    "substitute": ("SUBSTITUTE",),
    "syrupbomb": ("SYRUP_BOMB",),
    "tarshot": ("TAR_SHOT",),
    "taunt": ("TAUNT",),
    "telekinesis": ("TELEKINESIS",),
    "throatchop": ("THROAT_CHOP",),
    "torment": ("TORMENT",),
    "trapped": ("TRAPPED",),
    "uproar": ("UPROAR",),
    "yawn": ("YAWN",),
}  # fmt: skip
#: Effects whose name tells a number or a stat, with the simulator's volatile: exactly the one that is true.
NUMBERED = {
    "PERISH": "perishsong",
    "STOCKPILE": "stockpile",
    "PROTOSYNTHESIS": "protosynthesis",
    "QUARKDRIVE": "quarkdrive",
}
#: Effects of one turn: none may be left when the next turn has begun.
SINGLE_TURN = frozenset({
    "AFTER_YOU", "BANEFUL_BUNKER", "BEAK_BLAST", "BURNING_BULWARK", "CRAFTY_SHIELD", "ELECTRIFY", "ENDURE",
    "FLINCH", "FOCUS_PUNCH", "FOLLOW_ME", "HELPING_HAND", "INSTRUCT", "KINGS_SHIELD", "MAGIC_COAT", "MAT_BLOCK",
    "MAX_GUARD", "OBSTRUCT", "POWDER", "PROTECT", "QUASH", "QUICK_GUARD", "RAGE_POWDER", "ROOST", "SILK_TRAP",
    "SNATCH", "SPIKY_SHIELD", "SPOTLIGHT", "WIDE_GUARD",
})  # fmt: skip
#: What no seat can know from its lines and requests -> the reason. It is not compared.
UNKNOWABLE = {
    "a Pokémon with Illusion that has left in its guise": (
        "no line tells that it was another one: HP and status seen then stay with the one whose guise it was until "
        "it comes in itself, moves, PP, item and ability for good"
    ),
    "an opponent in the guise of Illusion": "its lines name the guise: moves, PP, item and ability are not told apart",
    "binding in generation 1": (
        "the simulator hides whether Wrap and the like go on (`fakepartiallytrapped`): the request is the same in both cases"
    ),
    "an ability taken from one whose ability is not known, before generation 7": (
        "Skill Swap, Role Play and Transform show none in generations 3 and 4, and the request does not tell it"
    ),
    "what an opponent's Regenerator heals as it leaves": (
        "no line tells it before it has been shown; then to a hundredth or less, as the HP before it are rounded"
    ),
    "PP that an opponent's Z-Moves and Max Moves cost": (
        "their lines do not name the move that they come from, except Z-Moves of status moves and of one move only"
    ),
    "PP of one's own Z-Move or Max Move that several moves can be, if its user leaves or faints before the next request": (
        "the line does not name the move; a request lists the PP of the one on the field only"
    ),
    "moves of one's own that has transformed before the first request, until it leaves (Imposter)": (
        "requests list the copied moves"
    ),
    "types of an Arceus or Silvally that comes in and whose details do not say its forme, in that turn": (
        "the simulator tells them as the turn ends, up to generation 6 not at all; a team that was checked has the forme"
    ),
    "PP that the opponent's Pressure costs, in generation 3": (
        "no line tells that it has Pressure; the next request that lists the PP does"
    ),
    "that an opponent need not rest as it flinched after its move, in generation 1": "no line tells that it has flinched",
    "the PP that the move of a Pokémon that has just thawed costs, in generation 1": (
        "it is the move that its team selected last, and they are those of the slot in which that was"
    ),
    "the PP that a move called by a Pokémon that has transformed gives to one of its own moves, in generation 1": (
        "to that in the slot of the caller: no line tells which that is"
    ),
    "which of two slots with the same move is used, in generation 1 after Mimic": (
        "lines name the move: the PP of these two slots are counted alike for both players"
    ),
    "that a move was not used, as a Choice item or Gorilla Tactics has locked its user again (Magic Room is over)": (
        "the line is that of a use that fails: it seems to cost PP, until the request, and to be the last move"
    ),
    "PP that Pressure costs a move of doubles that fails at once or is prepared": (
        "its line names no target, and one of two opponents may have Pressure; the next request that lists the PP does"
    ),
    "effects of poke-env that only say what has just happened": (
        "Sturdy, Sticky Hold, Protect that has blocked: marks, not states; the simulator has none"
    ),
}
_MAPPED = frozenset(name for names in VOLATILES.values() for name in names)


def expected_numbered(truth: dict[str, Any], volatiles: dict[str, Any]) -> set[str]:
    """Return the effects with a number in their name that are true. volatiles: those of `truth` that are compared."""
    effects = set()
    if "perishsong" in volatiles:
        effects.add(f"PERISH{min(volatiles['perishsong']['duration'], 3)}")
    if "stockpile" in volatiles:
        effects.add(f"STOCKPILE{volatiles['stockpile']['layers']}")
    for name, effect in (("protosynthesis", "PROTOSYNTHESIS"), ("quarkdrive", "QUARKDRIVE")):
        if volatiles.get(name, {}).get("bestStat"):
            effects.add(effect + volatiles[name]["bestStat"].upper())
    acts = truth["active"] and not truth["ignoringAbility"]  # suppressed, its counter stands still
    if truth["ability"] == "slowstart" and acts and truth["abilityState"].get("counter"):
        effects.add("SLOW_START")
    return effects


def is_numbered(effect: str) -> bool:
    """Return whether an effect is one of those of `expected_numbered`."""
    return effect == "SLOW_START" or any(effect.startswith(stem) and effect != stem for stem in NUMBERED)


def effect_differences(seen: set[str], truth: dict[str, Any], gen: int, new_turn: bool) -> list[str]:
    """Return "+SUBSTITUTE" for each effect that is missing, "-SUBSTITUTE" for each that is no more.

    seen: names of the effects that the battle holds. truth: a Pokémon of state_truth.mjs. new_turn: the decision is the
    first of a turn.
    """
    volatiles = truth["volatiles"]
    if gen == 1:  # UNKNOWABLE: binding; and no rule of this generation asks for Defense Curl
        volatiles = {
            name: state for name, state in volatiles.items() if name not in ("partiallytrapped", "defensecurl")
        }
        seen = seen - {"DEFENSE_CURL"}
    differences = [
        f"+{names[0]}" for volatile, names in VOLATILES.items() if volatile in volatiles and not seen & set(names)
    ]
    true = {name for volatile, names in VOLATILES.items() if volatile in volatiles for name in names}
    differences += [f"-{effect}" for effect in sorted(seen & _MAPPED - true)]
    numbered = expected_numbered(truth, volatiles)
    held = {effect for effect in seen if is_numbered(effect)}
    differences += [f"+{effect}" for effect in sorted(numbered - held)]
    differences += [f"-{effect}" for effect in sorted(held - numbered)]
    if new_turn:
        differences += [f"-{effect}" for effect in sorted(seen & SINGLE_TURN)]
    return differences
