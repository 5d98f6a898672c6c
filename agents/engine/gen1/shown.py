"""What the protocol shows the players, as poke-env and agents/battle/seat_battle.py keep it: for observations only.

`view` is 0 for a Pokémon's own player, who knows all of its moves, and 1 for the opponent, who knows those that it used.
"""

from __future__ import annotations

from agents.engine.compiled import compiled
from agents.engine.gen1 import layout as W
from agents.engine.gen1.state import out
from agents.engine.gen1.tables import MOVE, NO_MOVE, STRUGGLE, TWO_TURNS, move

_BIND, _CLAMP, _FIRE_SPIN, _WRAP = move("bind"), move("clamp"), move("firespin"), move("wrap")
_MOST_USES = 100


@compiled
def uses(b, word, slot):
    """Uses of a slot in a word of four bytes."""
    return b[word] >> (8 * slot) & 0xFF


@compiled
def _count_use(b, word, slot):
    if uses(b, word, slot) < _MOST_USES:
        b[word] += 1 << (8 * slot)


@compiled
def base_count(b, s, mon):
    """Number of slots of a Pokémon: of its set, or of its copy of another's."""
    return b[s + W.COPIED_COUNT] if mon == out(b, s) and b[s + W.TRANSFORMED] else b[mon + W.MON_MOVE_COUNT]


@compiled
def base_move(b, s, mon, slot):
    """A slot's move, mimicked ones apart."""
    if mon == out(b, s) and b[s + W.TRANSFORMED]:
        return b[s + W.COPIED_MOVES + slot]
    return b[mon + W.MON_MOVES + slot]


@compiled
def rank(b, s, mon, view, slot):
    """A slot's place in the order in which its moves became known; 0: it is not known."""
    if view == 0 or (mon == out(b, s) and b[s + W.TRANSFORMED]):
        return slot + 1
    return b[mon + W.MON_REVEALED] >> (4 * slot) & 0xF


@compiled
def shown_move(b, s, mon, view, slot):
    """What a slot is shown to hold: a mimicked move, or its own."""
    mimicked = b[s + W.SHOWN_MIMICKED + 4 * view + slot] if mon == out(b, s) else 0
    return mimicked if mimicked else base_move(b, s, mon, slot)


@compiled
def entry(b, s, mon, view, m):
    """The slot in which a move is known, or -1. Of two, that which became known later counts."""
    known_slot, latest = -1, 0
    for slot in range(base_count(b, s, mon)):
        known = rank(b, s, mon, view, slot)
        if known > latest and shown_move(b, s, mon, view, slot) == m:
            known_slot, latest = slot, known
    return known_slot


@compiled
def uses_of(b, s, mon, view, slot):
    """How often the move of an entry was used."""
    if mon == out(b, s) and b[s + W.TRANSFORMED]:
        return uses(b, s + W.COPIED_USES + view, slot)
    return uses(b, mon + W.MON_USES + view, slot)


@compiled
def show_use(b, s, m, called, chosen):
    """A move was used. called: by Metronome or Mirror Move; chosen: neither called nor continued from an earlier turn."""
    if called and (m == _BIND or m == _CLAMP or m == _FIRE_SPIN or m == _WRAP):
        b[s + W.SHOWN_CALLED] = m
    b[s + W.SHOWN_RECHARGE] = 0
    second = b[s + W.TWO_TURN] != 0  # a move of two turns costs its PP in the second
    for view in range(2):
        slot = b[s + W.SHOWN_SLOT + view] - 1
        if (
            chosen
            and slot >= 0
            and not b[s + W.SHOWN_THAWED]
            and m == b[s + W.SHOWN_CALLED]
            and entry(b, s, out(b, s), view, m) < 0
        ):
            _count_use(b, _uses_word(b, s, view), slot)  # a called binding move, as its target has changed
            continue
        if chosen:
            b[s + W.SHOWN_SLOT + view] = 0
        if chosen and m != NO_MOVE and not b[s + W.SHOWN_THAWED]:
            _show_use(b, s, m, view, not MOVE[m, TWO_TURNS] or second)
        elif MOVE[m, TWO_TURNS]:
            _pay(b, s, view, 1 if second else -1)
    if chosen and m != b[s + W.SHOWN_CALLED]:
        b[s + W.SHOWN_CALLED] = 0


@compiled
def _uses_word(b, s, view):
    """The word of uses of the Pokémon that is out."""
    return s + W.COPIED_USES + view if b[s + W.TRANSFORMED] else out(b, s) + W.MON_USES + view


@compiled
def _pay(b, s, view, by):
    """Counts uses of the slot that was chosen last, if it is known: that of Metronome where that has called the move."""
    slot, word = b[s + W.SHOWN_SLOT + view] - 1, _uses_word(b, s, view)
    if slot >= 0 and uses(b, word, slot) + by >= 0:
        b[word] += by << (8 * slot)


@compiled
def _show_use(b, s, m, view, counts):
    if m == STRUGGLE:
        b[s + W.SHOWN_LAST + view] = 0
        return
    mon = out(b, s)
    copied = b[s + W.TRANSFORMED] != 0
    known_slot = entry(b, s, mon, view, m)
    hidden = False
    if known_slot < 0:
        for slot in range(base_count(b, s, mon)):
            borrowed = view == 1 and (b[s + W.SHOWN_MIMIC] == m or b[s + W.SHOWN_CALLED] == m)
            if base_move(b, s, mon, slot) == m and not borrowed:
                known_slot = slot
                hidden = rank(b, s, mon, view, slot) != 0
    if known_slot < 0:
        return
    b[s + W.SHOWN_LAST + view] = 0 if hidden else m
    b[s + W.SHOWN_SLOT + view] = known_slot + 1
    if view == 1 and not copied and rank(b, s, mon, view, known_slot) == 0:
        _reveal(b, mon, known_slot)
    if counts:
        _count_use(b, _uses_word(b, s, view), known_slot)


@compiled
def _reveal(b, mon, slot):
    latest = 0
    for other in range(4):
        latest = max(latest, b[mon + W.MON_REVEALED] >> (4 * other) & 0xF)
    b[mon + W.MON_REVEALED] |= (latest + 1) << (4 * slot)


@compiled
def show_mimic(b, s, m):
    """It mimics a move, in the place of the one that it chose, also where that called Mimic; that is no last move then."""
    b[s + W.SHOWN_MIMIC] = m
    for view in range(2):
        slot = b[s + W.SHOWN_SLOT + view] - 1
        if slot >= 0:
            if b[s + W.SHOWN_LAST + view] == shown_move(b, s, out(b, s), view, slot):
                b[s + W.SHOWN_LAST + view] = 0
            b[s + W.SHOWN_MIMICKED + 4 * view + slot] = m


@compiled
def show_copy(b, s, t):
    """Side s has transformed into side t's Pokémon: of its types, with the moves that t's player knows."""
    target = out(b, t)
    b[s + W.COPIED_COUNT] = base_count(b, t, target)
    for slot in range(b[s + W.COPIED_COUNT]):
        b[s + W.COPIED_MOVES + slot] = shown_move(b, t, target, 0, slot)
    b[s + W.SHOWN_MIMIC] = 0
    for view in range(2):
        b[s + W.SHOWN_SLOT + view] = 0
        for slot in range(4):
            b[s + W.SHOWN_MIMICKED + 4 * view + slot] = 0
        b[s + W.COPIED_USES + view] = 0
        last, b[s + W.SHOWN_LAST + view] = b[s + W.SHOWN_LAST + view], 0
        for slot in range(b[s + W.COPIED_COUNT]):  # it may have become one that knows Transform
            if b[s + W.COPIED_MOVES + slot] == last:
                b[s + W.SHOWN_LAST + view] = last
    b[s + W.SHOWN_TYPE_1], b[s + W.SHOWN_TYPE_2] = b[t + W.SHOWN_TYPE_1], b[t + W.SHOWN_TYPE_2]


@compiled
def show_arrival(b, s):
    """A Pokémon has come out."""
    mon = out(b, s)
    if b[mon + W.MON_SEEN] == 0:
        b[s + W.SEEN] += 1
        b[mon + W.MON_SEEN] = b[s + W.SEEN]


@compiled
def show_turn(b, s):
    """A turn begins."""
    b[s + W.SHOWN_TURNS] = min(2, b[s + W.SHOWN_TURNS] + 1)
    b[s + W.SHOWN_THAWED] = 0
