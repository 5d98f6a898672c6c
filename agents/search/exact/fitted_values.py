"""Fitted values and logits on the engine's words: the features of scripts/poke_engine/fitted.rs, for generation 1.

Weights come from agents/search/weights/gen1.txt.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.requests import lists_one_move
from agents.engine.gen1.state import foe_of, out, side_of
from agents.engine.gen1.tables import (
    BOOST_1,
    BY_1,
    CATEGORY,
    MOVE,
    MOVES_BY_ID,
    PRIORITY,
    SELF,
    SELFDESTRUCT,
    SPECIES_BY_ID,
    STATUS,
    STATUS_MOVE,
    move,
)  # fmt: skip
from agents.search.exact.damage_shares import accuracy_of, answer_of, best_share, share_of, threat_to
from agents.search.fitted import lines_of, wrong_line

_FORM = "a line is 'value NAME WEIGHT' or 'choice NAME WEIGHT', as in agents/search/weights/gen1.txt"
_ILL = ("burn", "paralyze", "sleep", "freeze", "poison", "toxic")  # in the order of the statuses' numbers
_STATS = ("atk", "def", "spa", "spd", "spe")
#: Names of a value's features in the order of their weights; each species adds "alive:NAME" and "hp:NAME" behind them.
VALUE = [
    "alive", "hp", *_ILL, *(f"{ill}_hp" for ill in _ILL), *(f"left_{n}" for n in range(1, 6)), "slept",
    "active_hp", *(f"active_{ill}" for ill in _ILL), *(f"{s}_up" for s in _STATS), *(f"{s}_down" for s in _STATS),
    "accuracy_down", "evasion_up", "substitute", "confusion", "leechseed", "reflect_volatile", "lightscreen_volatile",
    "recharge", "faster", "damage", "two_hits", "one_hit", "faster_one_hit", "faster_two_hits", "no_damage",
    "damage_squared", "damage_health", "safe", "one_hit_health", "stuck",
]  # fmt: skip
#: The same of an option; "move:NAME" and "switch:NAME" behind them.
CHOICE = [
    "damage", "damage_squared", "two_hits", "one_hit", "faster_one_hit", "no_damage", "inaccurate", "status_wasted",
    "heal_missing", "boosted", "explode_hp", "in_danger", "in_danger_slower", "is_switch", "switch_hp", "switch_ill",
    "switch_asleep", "switch_threat", "switch_threat_one_hit", "switch_answer", "switch_answer_one_hit", "switch_faster",
    "switch_in_danger", "switch_in_danger_slower", "switch_useless", "switch_boosted",
]  # fmt: skip
_SPECIES = len(SPECIES_BY_ID) + 1
_MOVE_NUMBERS = len(MOVE)
(
    _ALIVE, _HP, _ILL_0, _ILL_HP, _LEFT, _SLEPT, _ACTIVE_HP, _ACTIVE_ILL, _UP, _DOWN, _ACCURACY_DOWN, _EVASION_UP, _SUB,
    _CONFUSION, _SEED, _REFLECT, _SCREEN, _RECHARGE, _FASTER, _DAMAGE, _TWO, _ONE, _FASTER_ONE, _FASTER_TWO, _NO_DAMAGE,
    _SQUARED, _DAMAGE_HEALTH, _SAFE, _ONE_HEALTH, _STUCK,
) = (
    VALUE.index(name)
    for name in (
        "alive", "hp", "burn", "burn_hp", "left_1", "slept", "active_hp", "active_burn", "atk_up", "atk_down",
        "accuracy_down", "evasion_up", "substitute", "confusion", "leechseed", "reflect_volatile", "lightscreen_volatile",
        "recharge", "faster", "damage", "two_hits", "one_hit", "faster_one_hit", "faster_two_hits", "no_damage",
        "damage_squared", "damage_health", "safe", "one_hit_health", "stuck",
    )
)  # fmt: skip
_ALIVE_OF, _HP_OF = len(VALUE), len(VALUE) + _SPECIES
(
    _C_DAMAGE, _C_SQUARED, _C_TWO, _C_ONE, _C_FASTER_ONE, _C_NO_DAMAGE, _C_INACCURATE, _C_WASTED, _C_HEAL, _C_BOOSTED,
    _C_EXPLODE, _C_DANGER, _C_DANGER_SLOWER, _C_SWITCH, _S_HP, _S_ILL, _S_ASLEEP, _S_THREAT, _S_THREAT_ONE, _S_ANSWER,
    _S_ANSWER_ONE, _S_FASTER, _S_DANGER, _S_DANGER_SLOWER, _S_USELESS, _S_BOOSTED,
) = range(len(CHOICE))  # fmt: skip
_MOVE_OF, _SWITCH_OF = len(CHOICE), len(CHOICE) + _MOVE_NUMBERS
_HEALING = np.zeros(_MOVE_NUMBERS, np.bool_)
_HEALING[[move("recover"), move("softboiled")]] = True


def read_weights(file: Path | None) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The weights of a file (None: all zero), as `value_of` and `logits_of` take them. Raises BadInput."""
    value = np.zeros(len(VALUE) + 2 * _SPECIES, np.float32)
    choice = np.zeros(len(CHOICE) + _MOVE_NUMBERS + _SPECIES, np.float32)
    if file is None:
        return value, choice
    places = {f"value {name}": place for place, name in enumerate(VALUE)}
    places |= {f"choice {name}": place for place, name in enumerate(CHOICE)}
    places |= {f"choice move:{name}": _MOVE_OF + m["num"] for name, m in MOVES_BY_ID.items()}
    for name, species in SPECIES_BY_ID.items():
        places[f"value alive:{name}"], places[f"value hp:{name}"] = _ALIVE_OF + species["num"], _HP_OF + species["num"]
        places[f"choice switch:{name}"] = _SWITCH_OF + species["num"]
    for line in lines_of(file):
        name, _, weight = line.rpartition(" ")
        try:
            (value if name.startswith("value ") else choice)[places[name]] = float(weight)
        except (KeyError, ValueError):
            raise wrong_line(file, line, f"is no weight of generation 1: {_FORM}") from None
    return value, choice


@compiled
def _value_of_side(b, s, w):
    total, alive = 0.0, 0
    for k in range(b[s + W.TEAM_SIZE]):
        mon = s + W.MONS + k * W.MON_WORDS
        if b[mon + W.MON_HP] <= 0:
            continue
        alive += 1
        health = b[mon + W.MON_HP] / b[mon + W.MON_MAX_HP]
        species, status = b[mon + W.MON_SPECIES], b[mon + W.MON_STATUS]
        total += w[_ALIVE] + w[_ALIVE_OF + species] + health * (w[_HP] + w[_HP_OF + species])
        if status != W.HEALTHY:
            total += w[_ILL_0 + status - 1] + health * w[_ILL_HP + status - 1]
            if status == W.SLEEP:
                total += w[_SLEPT] * (7 - b[mon + W.MON_SLEEP]) * 0.5
    if 1 <= alive <= 5:
        total += w[_LEFT + alive - 1]
    return total


@compiled
def _value_of_active(b, s, w):
    mon = out(b, s)
    if b[mon + W.MON_HP] <= 0:
        return 0.0
    total = w[_ACTIVE_HP] * b[mon + W.MON_HP] / b[mon + W.MON_MAX_HP]
    if b[mon + W.MON_STATUS] != W.HEALTHY:
        total += w[_ACTIVE_ILL + b[mon + W.MON_STATUS] - 1]
    for stat in range(5):
        stage = b[s + W.BOOSTS + stat]
        total += stage * w[_UP + stat] if stage > 0 else -stage * w[_DOWN + stat]
    total += max(0, -b[s + W.BOOSTS + 5]) * w[_ACCURACY_DOWN] + max(0, b[s + W.BOOSTS + 6]) * w[_EVASION_UP]
    total += (
        w[_SUB] * (b[s + W.SUBSTITUTE] > 0) + w[_CONFUSION] * (b[s + W.CONFUSED] > 0) + w[_SEED] * b[s + W.LEECH_SEED]
    )
    total += w[_REFLECT] * b[s + W.REFLECT] + w[_SCREEN] * b[s + W.LIGHT_SCREEN] + w[_RECHARGE] * b[s + W.RECHARGE]
    return total


@compiled
def _value_of_blow(ours, theirs, first, health, other_health, w):
    capped = min(ours, 1.0)
    total = capped * (w[_DAMAGE] + capped * w[_SQUARED] + other_health * w[_DAMAGE_HEALTH])
    if ours >= 0.5:
        total += w[_TWO] + (w[_FASTER_TWO] if first else 0.0)
    if ours >= 1.0:
        total += w[_ONE] + other_health * w[_ONE_HEALTH] + (w[_FASTER_ONE] if first else 0.0)
    if ours == 0.0:
        total += w[_NO_DAMAGE] + (w[_STUCK] if theirs >= 0.5 else 0.0)
    if theirs < 0.25:
        total += health * w[_SAFE]
    return total


@compiled
def value_of(b, w):
    """Seat 0's chance to win, 0 to 1, by fitted weights."""
    side_0, side_1 = side_of(0), side_of(1)
    total = (
        _value_of_side(b, side_0, w)
        - _value_of_side(b, side_1, w)
        + _value_of_active(b, side_0, w)
        - _value_of_active(b, side_1, w)
    )
    mon, other = out(b, side_0), out(b, side_1)
    if b[mon + W.MON_HP] > 0 and b[other + W.MON_HP] > 0:
        speeds = b[side_0 + W.MODIFIED + 4], b[side_1 + W.MODIFIED + 4]
        total += w[_FASTER] * (int(speeds[0] > speeds[1]) - int(speeds[0] < speeds[1]))
        ours, theirs = best_share(b, side_0), best_share(b, side_1)
        health, other_health = b[mon + W.MON_HP] / b[mon + W.MON_MAX_HP], b[other + W.MON_HP] / b[other + W.MON_MAX_HP]
        total += _value_of_blow(ours, theirs, speeds[0] > speeds[1], health, other_health, w)
        total -= _value_of_blow(theirs, ours, speeds[1] > speeds[0], other_health, health, w)
    return 1.0 / (1.0 + math.exp(-total))


@compiled
def _logit_of_move(b, s, m, danger, slower, w):
    total = float(w[_MOVE_OF + m])
    t, mon = foe_of(s), out(b, s)
    if MOVE[m, CATEGORY] == STATUS_MOVE:
        if MOVE[m, STATUS] and b[out(b, t) + W.MON_STATUS] != W.HEALTHY:
            total += w[_C_WASTED]
        if _HEALING[m]:
            total += w[_C_HEAL] * (1.0 - b[mon + W.MON_HP] / b[mon + W.MON_MAX_HP])
        if MOVE[m, SELF] and MOVE[m, BOOST_1] >= 0 and MOVE[m, BY_1] > 0:
            most = max(b[s + W.BOOSTS], b[s + W.BOOSTS + 1], b[s + W.BOOSTS + 2])
            total += w[_C_BOOSTED] * max(0, most)
        return total + w[_C_DANGER] * danger + (w[_C_DANGER_SLOWER] if slower else 0.0)
    share = share_of(b, s, m)
    capped = min(share, 1.0)
    total += capped * (w[_C_DAMAGE] + capped * w[_C_SQUARED]) + w[_C_INACCURATE] * (1.0 - accuracy_of(m))
    if share == 0.0:
        total += w[_C_NO_DAMAGE]
    if share >= 0.5:
        total += w[_C_TWO]
    if share >= 1.0:
        total += w[_C_ONE]
        if MOVE[m, PRIORITY] > 0 or b[s + W.MODIFIED + 4] > b[t + W.MODIFIED + 4]:
            total += w[_C_FASTER_ONE]
    if MOVE[m, SELFDESTRUCT]:
        total += w[_C_EXPLODE] * b[mon + W.MON_HP] / b[mon + W.MON_MAX_HP]
    return total


@compiled
def _logit_of_switch(b, s, position, danger, slower, w):
    t = foe_of(s)
    mon = s + W.MONS + b[s + W.ORDER + position] * W.MON_WORDS
    status = b[mon + W.MON_STATUS]
    total = w[_C_SWITCH] + w[_S_DANGER] * danger + (w[_S_DANGER_SLOWER] if slower else 0.0)
    total += w[_S_BOOSTED] * max(0, b[s + W.BOOSTS], b[s + W.BOOSTS + 2], b[s + W.BOOSTS + 4])
    total += w[_SWITCH_OF + b[mon + W.MON_SPECIES]] + w[_S_HP] * b[mon + W.MON_HP] / b[mon + W.MON_MAX_HP]
    if status != W.HEALTHY:
        total += w[_S_ILL] + (w[_S_ASLEEP] if status == W.SLEEP or status == W.FREEZE else 0.0)
    if b[out(b, t) + W.MON_HP] <= 0:
        return total
    threat, answer = threat_to(b, t, mon), answer_of(b, t, mon)
    total += w[_S_THREAT] * min(threat, 1.0) + w[_S_ANSWER] * min(answer, 1.0)
    total += (w[_S_THREAT_ONE] if threat >= 1.0 else 0.0) + (w[_S_ANSWER_ONE] if answer >= 1.0 else 0.0)
    speed = b[mon + W.MON_STATS + 4] // (4 if status == W.PARALYSIS else 1)
    return total + (w[_S_USELESS] if answer == 0.0 else 0.0) + (w[_S_FASTER] if speed > b[t + W.MODIFIED + 4] else 0.0)


@compiled
def logits_of(b, s, legal, w, logits):
    """Writes the fitted logit of each legal action of a side."""
    t = foe_of(s)
    both = b[out(b, s) + W.MON_HP] > 0 and b[out(b, t) + W.MON_HP] > 0
    danger = min(best_share(b, t), 1.0) if both else 0.0
    slower = both and danger >= 1.0 and b[s + W.MODIFIED + 4] <= b[t + W.MODIFIED + 4]
    single = lists_one_move(b, s)
    for action in range(9):
        if not legal >> action & 1:
            continue
        if action >= 4:
            logit = _logit_of_switch(b, s, action - 3, danger, slower, w)
        elif single:  # "Fight" stands for all moves
            odds = 0.0
            for slot in range(b[s + W.MOVE_COUNT]):
                odds += math.exp(_logit_of_move(b, s, b[s + W.MOVES + slot], danger, slower, w))
            logit = math.log(odds)
        else:
            logit = _logit_of_move(b, s, b[s + W.MOVES + action], danger, slower, w)
        logits[action] = logit


@compiled
def shares_of_logits(legal, trust, priors):
    """Turns logits into how likely each legal action is, to the power of `trust`; in place, they sum to 1."""
    most, odds = -1e9, 0.0
    for action in range(9):
        if legal >> action & 1:
            most = max(most, priors[action])
    for action in range(9):
        priors[action] = math.exp(trust * (priors[action] - most)) if legal >> action & 1 else 0.0
        odds += priors[action]
    for action in range(9):
        priors[action] /= max(odds, 1e-9)
