"""The words of a battle: a row of int32, the same for every battle. Names are offsets into the row.

The words SHOWN_…, COPIED_… and those of a Pokémon from MON_PLACE on change no battle: they hold what the protocol has shown
to the players, for observations (shown.py).

A row holds the battle (`TURN`, `SEED` …), then two sides of `SIDE_WORDS`; a side holds its own words, those of the Pokémon
that is out (with `VOLATILE` and after: reset by a switch), and six Pokémon of `MON_WORDS` in the order of the team.
"""

from __future__ import annotations

from itertools import count

# Statuses of a Pokémon. TOX is what Showdown calls "tox" until a switch; FAINTED its "fnt".
HEALTHY, BURN, PARALYSIS, SLEEP, FREEZE, POISON, TOX, FAINTED = range(8)

# Kinds of requests. WAITING: the other side chooses.
WAITING, CHOOSE_MOVE, CHOOSE_SWITCH = range(3)

# `WINNER` while the battle is on, then 0 or 1 for a seat, or TIE. STUCK: Showdown itself throws an error at this point.
UNDECIDED, TIE, STUCK = -1, 2, 3

#: Actions: 0-3 the moves of the request in order (0 where there is only one), 4-8 the other Pokémon of the team in their
#: present order.
ACTIONS = 9

_word = count()
SEED = next(_word)  # four words of 16 bits, the highest first
for _ in range(3):
    next(_word)
TURN = next(_word)
WINNER = next(_word)
LAST_DAMAGE = next(_word)
PENDING = next(_word)  # within a turn: 1 + the seat whose move comes yet, or 0
PENDING_MOVE = next(_word)
SIDES = next(_word)

_word = count()
ORDER = next(_word)  # six words: position -> index in the team; position 0 is out
for _ in range(5):
    next(_word)
REQUEST = next(_word)
TEAM_SIZE = next(_word)
LEFT = next(_word)  # Pokémon that have not fainted
FAINTED_THIS_TURN = next(_word)
LAST_SELECTED = next(_word)  # move, Showdown's side.lastSelectedMove
LAST_SLOT = next(_word)
LAST_ENEMY_SELECTED = next(_word)
LAST_ENEMY_MOVE = next(_word)
SEEN = next(_word)  # Pokémon that have been out
# The Pokémon that is out.
SPECIES = next(_word)
TYPE_1 = next(_word)
TYPE_2 = next(_word)  # -1: none
STORED = next(_word)  # atk, def, spa, spd, spe: Transform changes them
for _ in range(4):
    next(_word)
MODIFIED = next(_word)  # the same after boosts, burn and paralysis
for _ in range(4):
    next(_word)
SPEED = next(_word)  # as it was when speeds were last updated
BOOSTS = next(_word)  # the five, accuracy, evasion
for _ in range(6):
    next(_word)
MOVES = next(_word)
for _ in range(3):
    next(_word)
MOVE_COUNT = next(_word)
TRANSFORMED = next(_word)
OWN_PP = next(_word)  # four words, of a transformed Pokémon; all others have those of the team
for _ in range(3):
    next(_word)
DISABLED = next(_word)  # 1 + slot that cannot be chosen
MAYBE_LOCKED = next(_word)
LAST_MOVE = next(_word)
VOLATILE = next(_word)
BIDE_TIME = VOLATILE
BIDE_DAMAGE = next(_word)
TWO_TURN = next(_word)  # move
INVULNERABLE = next(_word)
TRAPPED = next(_word)  # duration
TRAPPED_BY = next(_word)  # index in the other team
TRAPPED_MAYBE = next(_word)
FAKE_TRAPPED = next(_word)  # duration
FAKE_OTHER = next(_word)
TRAPPING = next(_word)  # duration left
TRAPPING_TOTAL = next(_word)
TRAPPING_DAMAGE = next(_word)
TRAPPING_WHOM = next(_word)
RECHARGE = next(_word)
THRASH = next(_word)  # move
THRASH_TIME = next(_word)
THRASH_ACCURACY = next(_word)
RAGE = next(_word)
RAGE_ACCURACY = next(_word)
CONFUSED = next(_word)
DISABLE_TIME = next(_word)
DISABLE_MOVE = next(_word)
DISABLE_SLOT = next(_word)
FLINCH = next(_word)
FOCUS_ENERGY = next(_word)
LEECH_SEED = next(_word)
LIGHT_SCREEN = next(_word)
REFLECT = next(_word)
MIST = next(_word)
MINIMIZE = next(_word)
DEFENSE_CURL = next(_word)
RESIDUAL = next(_word)
RESIDUAL_COUNT = next(_word)
SUBSTITUTE = next(_word)  # HP
# What has been shown of it. Pairs of words: as its own player counts, and as the opponent does. Uses: a byte for each slot.
SHOWN_TURNS = next(_word)  # ended since it came in; 2 stands for more
SHOWN_RECHARGE = next(_word)  # it was said to need rest, and nothing has shown since that it no longer does
SHOWN_TYPE_1 = next(_word)
SHOWN_TYPE_2 = next(_word)  # -1: none
SHOWN_LAST = next(_word)  # move
next(_word)
SHOWN_MIMIC = next(_word)  # the move that it mimicked last
SHOWN_SLOT = next(_word)  # 0, or 1 + the slot of the move that it chose last, where that is known
next(_word)
SHOWN_MIMICKED = next(_word)  # two times four words, by slot: 0, or the mimicked move that is in the place of its own
for _ in range(7):
    next(_word)
SHOWN_THAWED = next(_word)  # it thawed this turn: what it uses may be another's move
SHOWN_CALLED = next(_word)  # the binding move that it has called and may go on with
COPIED_MOVES = next(_word)  # four moves that it was shown to copy by Transform
for _ in range(3):
    next(_word)
COPIED_COUNT = next(_word)
COPIED_USES = next(_word)
next(_word)
VOLATILE_END = next(_word)
MONS = VOLATILE_END

_word = count()
MON_SPECIES = next(_word)
MON_LEVEL = next(_word)
MON_HP = next(_word)
MON_MAX_HP = next(_word)
MON_STATUS = next(_word)
MON_SLEEP = next(_word)  # turns left
MON_RESTED = next(_word)  # 1: fell asleep by itself
MON_SUB_BROKEN = next(_word)  # its substitute broke, until the next move at it; a switch does not change that
MON_STATS = next(_word)  # atk, def, spa, spd, spe
for _ in range(4):
    next(_word)
MON_SPEED_POINTS = next(_word)  # IV + EV / 4 of the speed, for Transform
MON_MOVES = next(_word)
for _ in range(3):
    next(_word)
MON_MOVE_COUNT = next(_word)
MON_PP = next(_word)
for _ in range(3):
    next(_word)
MON_PLACE = next(_word)  # of its name among the team's, in alphabetical order
MON_SEEN = next(_word)  # 0, or its number in the order in which the team's Pokémon came out
MON_REVEALED = next(_word)  # four bits a slot: 0, or the move's number in the order in which its moves were used
MON_USES = next(_word)  # a pair, as SHOWN_LAST
next(_word)
MON_COUNTER = next(_word)  # turns that it was seen to sleep
MON_WORDS = next(_word)

SIDE_WORDS = MONS + 6 * MON_WORDS
WORDS = SIDES + 2 * SIDE_WORDS
