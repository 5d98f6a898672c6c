"""How often a move hits: the number that `damage` counts, and the expected one."""

from __future__ import annotations

from agents.mechanics.strikes import Strike

#: The number counted of two to five hits: the expected one is 3 before generation 5 and 3.1 since.
_USUAL = 3
_WITH_DICE = 4


def hits_of(strike: Strike) -> int:
    """Return the number of hits that count in a damage range: 3 of 2 to 5 hits, all of a fixed number."""
    move = strike.move
    if move.most_hits == 1:
        return 2 if bonded(strike) else 1
    if move.least_hits == move.most_hits or strike.ability == "skilllink":
        return move.most_hits
    return _WITH_DICE if strike.item == "loadeddice" else _USUAL


def expected_hits(strike: Strike) -> float:
    """Return the expected number of hits, once the first has hit; in units of a whole use for moves that grow."""
    move = strike.move
    counted = hits_of(strike)
    if move.least_hits < move.most_hits:
        if strike.ability == "skilllink" or strike.gen <= 4:
            return float(counted)
        return 4.5 if strike.item == "loadeddice" else 3.1
    if move.id in ("tripleaxel", "triplekick", "populationbomb") and strike.ability != "skilllink":
        if strike.item == "loadeddice":
            return 7.0 if counted == 10 else float(counted)
        return counted * _kept_up(move.accuracy, counted, move.id != "populationbomb")
    return float(counted)


def _kept_up(accuracy: float, hits: int, grows: bool) -> float:
    """Return the expected part of the damage of a move that stops at its first miss."""
    weights = [number + 1 if grows else 1 for number in range(hits)]
    return sum(weight * accuracy**number for number, weight in enumerate(weights)) / sum(weights)


def bonded(strike: Strike) -> bool:
    """Return whether Parental Bond makes a move hit twice."""
    return (
        strike.ability == "parentalbond"
        and strike.move.most_hits == 1
        and not (strike.flags & {"noparentalbond", "charge", "futuremove"})
    )
