"""Why @smogon/calc and Showdown differ in a case of damage_parity.py. Battles are played on Showdown, so it is right.

Every case is played in a Showdown battle, so each of these differences is one between the two, not one of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Case = dict[str, Any]
Answer = dict[str, Any]
Test = Callable[[int, Case, Answer], bool]

_NOT_COMPUTED = frozenset(
    {"superfang", "endeavor", "fissure", "guillotine", "horndrill", "sheercold", "finalgambit", "ruination",
     "naturesmadness", "psywave", "bide", "counter", "mirrorcoat", "magnitude", "present", "fling",
     "trumpcard"}
)  # fmt: skip
_CONDITIONS = frozenset(
    {"snore", "dreameater", "skydrop", "burnup", "doubleshock", "aurawheel", "hyperspacefury", "synchronoise",
     "steelroller", "poltergeist", "feint", "darkvoid"}
)  # fmt: skip
_GRAVITY = frozenset({"fly", "bounce", "jumpkick", "highjumpkick", "flyingpress", "skydrop"})
_OF_ENTRY = frozenset(
    {"download", "intrepidsword", "dauntlessshield", "windrider", "forecast", "intimidate", "embodyaspectteal",
     "embodyaspectcornerstone", "embodyaspecthearthflame", "embodyaspectwellspring", "terashift"}
)  # fmt: skip
_SEEDS = frozenset({"electricseed", "grassyseed", "mistyseed", "psychicseed"})
_HITS = frozenset(
    {"armthrust", "barrage", "bonemerang", "bonerush", "bulletseed", "cometpunch", "doublehit", "doubleironbash",
     "doublekick", "doubleslap", "dragondarts", "dualchop", "dualwingbeat", "furyattack", "furyswipes", "geargrind",
     "iciclespear", "pinmissile", "populationbomb", "rockblast", "scaleshot", "spikecannon", "surgingstrikes",
     "tachyoncutter", "tailslap", "tripleaxel", "tripledive", "triplekick", "twinbeam", "twineedle", "watershuriken"}
)  # fmt: skip


def _who(key: str, values: frozenset[str]) -> Test:
    return lambda gen, case, answer: any(case[who][key] in values for who in ("attacker", "defender"))


def _move(values: frozenset[str]) -> Test:
    return lambda gen, case, answer: case["move"] in values


def _nearly(gen: int, case: Case, answer: Answer, share: float = 0.05) -> bool:
    """A roll differs by no more than 3 HP for each hit (6 of a critical one), or by no more than a share."""
    least = 12 if case["move"] in _HITS else 3
    return all(
        abs(one - other) <= max(least * times, share * one)
        for name, times in (("normal", 1), ("crit", 2))
        for one, other in zip(answer["showdown"][name], answer["calc"][name], strict=True)
    )


#: Effects and conditions that the calculator does not know -> the moves that they change, if not many.
_UNKNOWN: dict[str, frozenset[str]] = {
    "stockpile1": frozenset({"spitup"}), "stockpile2": frozenset({"spitup"}), "stockpile3": frozenset({"spitup"}),
    "defensecurl": frozenset({"rollout", "iceball"}),
    **dict.fromkeys(
        ("glaiverush", "gastroacid", "embargo", "magnetrise", "telekinesis", "smackdown", "ingrain", "mudsport",
         "watersport", "miracleeye", "minimize", "tarshot"),
        frozenset(),
    ),
}  # fmt: skip


def _unknown_effect(gen: int, case: Case, answer: Answer) -> bool:
    found = {*case["attacker"]["effects"], *case["defender"]["effects"], *case["rooms"]} & _UNKNOWN.keys()
    return any(not _UNKNOWN[name] or case["move"] in _UNKNOWN[name] for name in found)


def _no_critical(gen: int, case: Case, answer: Answer) -> bool:
    if "luckychant" not in case["screens"]:
        return False
    plain = (answer[who]["normal"] for who in ("showdown", "calc"))
    return answer["chance"] == 1 or all(abs(one - other) <= 3 for one, other in zip(*plain, strict=True))


def _nothing(gen: int, case: Case, answer: Answer) -> bool:
    return not any(answer["showdown"]["normal"]) and any(answer["calc"]["normal"])


#: (reason, test), the first that fits; the last ones are the most general.
REASONS: tuple[tuple[str, Test], ...] = (
    ("moves that the calculator does not compute", _move(_NOT_COMPUTED)),
    (
        "moves that fail unless a condition is met, which the calculator takes as met",
        lambda gen, case, answer: case["move"] in _CONDITIONS and _nothing(gen, case, answer),
    ),
    (
        "pledges, which use up no gem",
        lambda gen, case, answer: case["move"].endswith("pledge") and case["attacker"]["item"].endswith("gem"),
    ),
    (
        "Mold Breaker ignores auras in generations 6 and 7",
        lambda gen, case, answer: (
            gen in (6, 7)
            and case["attacker"]["ability"] in ("moldbreaker", "teravolt", "turboblaze")
            and case["defender"]["ability"] in ("darkaura", "fairyaura", "aurabreak")
        ),
    ),
    ("effects that the calculator does not know", _unknown_effect),
    ("Lucky Chant, which the calculator does not know", _no_critical),
    (
        "Sky Drop lifts any weight in generation 5",
        lambda gen, case, answer: gen == 5 and case["move"] == "skydrop",
    ),
    (
        "moves that Gravity forbids",
        lambda gen, case, answer: "gravity" in case["rooms"] and case["move"] in _GRAVITY,
    ),
    ("abilities that act on entry, which the calculator applies to the case", _who("ability", _OF_ENTRY)),
    (
        "terrain seeds, which the calculator eats",
        lambda gen, case, answer: bool(case["terrain"]) and _who("item", _SEEDS)(gen, case, answer),
    ),
    (
        "Loaded Dice: 4 hits here, 3 in the calculator",
        lambda gen, case, answer: case["attacker"]["item"] == "loadeddice" and case["move"] in _HITS,
    ),
    (
        "all hits of a move are critical on Showdown, the first one alone in the calculator (generations 3 to 6)",
        lambda gen, case, answer: gen in (3, 4, 5, 6) and case["move"] in _HITS,
    ),
    (
        "Parental Bond: the calculator's second hit differs, and it bonds moves that Showdown does not",
        lambda gen, case, answer: case["attacker"]["ability"] == "parentalbond",
    ),
    (
        "a berry that the target eats after a hit raises its stats between the hits in the calculator",
        lambda gen, case, answer: case["defender"]["item"] in ("keeberry", "marangaberry", "luminousmoss"),
    ),
    (
        "formes of Arceus and Silvally without their item and ability have the type Normal on Showdown",
        lambda gen, case, answer: any(
            case[who]["species"].startswith(("arceus", "silvally")) for who in ("attacker", "defender")
        ),
    ),
    (
        "moves that are nearly always critical in generation 1 are so in the calculator",
        lambda gen, case, answer: gen == 1 and case["move"] in ("razorleaf", "slash", "crabhammer", "karatechop"),
    ),
    (
        "Struggle has no type on Showdown, which no item strengthens",
        lambda gen, case, answer: case["move"] == "struggle" and bool(case["attacker"]["item"]),
    ),
    (
        "Simple doubles drops before a critical hit ignores them, or after, in generation 4",
        lambda gen, case, answer: gen == 4 and _who("ability", frozenset({"simple"}))(gen, case, answer),
    ),
    (
        "Explosion: the defence is halved before both stats are quartered, or after, in generations 1 and 2",
        lambda gen, case, answer: gen <= 2 and case["move"] in ("explosion", "selfdestruct"),
    ),
    (
        "who explodes has fainted on Showdown, and abilities that act on others end",
        lambda gen, case, answer: case["move"] in ("explosion", "selfdestruct", "mistyexplosion"),
    ),
    (
        "a burn halves the attack before the cap of 999 on Showdown, after it in the calculator (generation 2)",
        lambda gen, case, answer: gen == 2 and case["attacker"]["status"] == "brn",
    ),
    (
        "at least 1 before 2 is added in generation 2, which doubles tiny damage",
        lambda gen, case, answer: gen == 2 and max(answer["showdown"]["normal"]) < 60,
    ),
    (
        "Weather Ball in generation 3: another category and power in the calculator",
        lambda gen, case, answer: gen == 3 and case["move"] == "weatherball",
    ),
    (
        "Smelling Salts is doubled on the paralysed, in generations 3 and 4 too",
        lambda gen, case, answer: gen in (3, 4) and case["move"] == "smellingsalts",
    ),
    (
        "Charge doubles the power on Showdown, the damage later on in the calculator (generations 3 and 4)",
        lambda gen, case, answer: gen in (3, 4) and "charge" in case["attacker"]["effects"],
    ),
    (
        "a power after Rivalry is rounded on Showdown, cut in the calculator (generation 4)",
        lambda gen, case, answer: (
            gen == 4 and case["attacker"]["ability"] == "rivalry" and _nearly(gen, case, answer, share=0.1)
        ),
    ),
    (
        "Plus and Minus on opposite sides strengthen each other in generation 3",
        lambda gen, case, answer: (
            gen == 3 and {case["attacker"]["ability"], case["defender"]["ability"]} == {"plus", "minus"}
        ),
    ),
    (
        "Gyro Ball's power: the calculator leaves out the 1 that is added in generation 4",
        lambda gen, case, answer: gen == 4 and case["move"] == "gyroball",
    ),
    (
        "Damp stops Mind Blown and explosions, which the calculator ignores",
        lambda gen, case, answer: (
            _who("ability", frozenset({"damp"}))(gen, case, answer) and _nothing(gen, case, answer)
        ),
    ),
    (
        "Tera Shell is Terapagos's alone on Showdown",
        lambda gen, case, answer: case["defender"]["ability"] == "terashell",
    ),
    (
        "Revelation Dance has the user's own first type on Showdown when it is Stellar, too",
        lambda gen, case, answer: case["move"] == "revelationdance" and case["attacker"]["tera"] == "Stellar",
    ),
    (
        "Protean and Libero change the types before the terrain is asked whether the user is grounded",
        lambda gen, case, answer: bool(case["terrain"]) and case["attacker"]["ability"] in ("protean", "libero"),
    ),
    (
        "weights are whole numbers of 0.1 kg on Showdown, and 0.3 kg three times 0.1 kg",
        lambda gen, case, answer: case["move"] in ("heavyslam", "heatcrash"),
    ),
    (
        "Flash Fire of one that is frozen does nothing in generations 3 and 4",
        lambda gen, case, answer: (
            gen in (3, 4) and case["defender"]["ability"] == "flashfire" and case["defender"]["status"] == "frz"
        ),
    ),
    (
        "abilities that change Normal moves leave Techno Blast as it is on Showdown",
        lambda gen, case, answer: (
            case["move"] == "technoblast"
            and case["attacker"]["ability"] in ("aerilate", "galvanize", "normalize", "pixilate", "refrigerate")
        ),
    ),
    (
        "an item under Magic Room or Klutz is still held on Showdown",
        lambda gen, case, answer: case["move"] in ("acrobatics", "poltergeist", "knockoff"),
    ),
    ("rounding at another place: at most 3 HP a hit (6 of a critical one) or 5% apart", _nearly),
)


def of(gen: int, case: Case, answer: Answer) -> str:
    """Return the reason, or "" if there is none in the table."""
    return next((reason for reason, test in REASONS if test(gen, case, answer)), "")
