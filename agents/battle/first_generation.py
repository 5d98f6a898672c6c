"""Protocol lines of generation 1 that poke-env reads differently from what they say, corrected before and after it.

poke-env counts a continued move (the second turn of Wrap or Fly) as another use of PP. It takes for moves of a Pokémon's set
what Metronome or Mirror Move called, what was mimicked in another move's slot, and what a thawed Pokémon does, which is the
move that its team selected last. It does not know that one that falls asleep or is bound no longer needs rest, nor what ours
has copied by Transform before the next request, nor then an opponent that copied ours meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poke_env.battle.move import Move, MoveSet
from poke_env.battle.pokemon import Pokemon
from poke_env.data import to_id_str

if TYPE_CHECKING:
    from agents.battle.quick_battle import QuickBattle

#: poke-env's mark of a move that neither reveals anything nor uses PP.
_CONTINUED = "[from] lockedmove"
_CALLERS = ("Metronome", "Mirror Move")
_CALLS = tuple(f"[from] {caller}" for caller in _CALLERS)
#: Moves after whose use their target needs no rest.
_BINDING = frozenset({"Bind", "Clamp", "Fire Spin", "Wrap"})
#: Kinds of lines that are corrected, before poke-env reads them or after.
CORRECTED = frozenset({"switch", "drag", "turn", "move", "faint", "-transform", "-curestatus", "-start", "-status"})
#: The hint before the move of a thawed Pokémon whose team selected none yet: it looks like Fissure.
_NO_MOVE_HINT = "no move has been selected yet"


class FirstGeneration:
    """Feeds the lines of one battle to it, corrected. The battle's record of its lines keeps them as they came.

    It does not keep the battle: the two would be a cycle, and only the garbage collector would free a battle and its lines.
    """

    def __init__(self) -> None:
        self._borrowed: dict[str, set[str]] = {}  # side -> moves that its active Pokémon mimics in another move's slot
        self._called: dict[
            str, str
        ] = {}  # side -> the move that its active Pokémon's Metronome or Mirror Move called last
        self._nameless = False
        self._thawed: set[str] = set()  # sides whose active Pokémon thawed this turn
        self._copies: list[tuple[Pokemon, Pokemon]] = []  # since the last request: who copied one that had transformed

    def hint(self, text: str) -> None:
        """Read a hint of the simulator."""
        self._nameless = self._nameless or _NO_MOVE_HINT in text

    def feed(self, battle: QuickBattle, message: list[str]) -> None:
        """Have poke-env read a line of one of the CORRECTED kinds, or what it should read instead, and correct the state."""
        corrected = self._before(battle, message)
        try:
            battle.parse_message(corrected)
        finally:
            battle._replay_data[-1] = message
        self._after(battle, message)

    def asked(self) -> None:
        """Complete what was copied from one of ours, whose moves the request has told."""
        for copy, original in self._copies:
            if copy.transformed and original.transformed:
                moves = {name: Move(name, 1, from_transform=True) for name in original.moves}
                copy._moves._transform_moves = MoveSet(moves)
        self._copies.clear()

    def _before(self, battle: QuickBattle, message: list[str]) -> list[str]:
        kind = message[1]
        if kind in ("switch", "drag"):
            self._borrowed.pop(message[2][:2], None)
            self._called.pop(message[2][:2], None)
        elif kind == "turn":
            self._thawed.clear()
        elif kind == "move":
            nameless, self._nameless = self._nameless, False
            source = next((part for part in message[4:] if part.startswith("[from]")), "")
            if source in _CALLS and message[3] not in _CALLERS:
                self._called[message[2][:2]] = to_id_str(message[3])
            if nameless or source or self._is_borrowed(battle, message):
                return [*message[:5], _CONTINUED]
        return message

    def _after(self, battle: QuickBattle, message: list[str]) -> None:
        kind = message[1]
        if kind == "move" and message[3] in _BINDING:
            mon = battle.active_pokemon if message[2][:2] != battle.player_role else battle.opponent_active_pokemon
            if mon is not None and not mon.fainted:
                mon.must_recharge = False
        elif kind == "-status" and message[3] == "slp":
            battle.get_pokemon(message[2]).must_recharge = False
        elif kind == "-transform":
            copy, original = battle.get_pokemon(message[2]), battle.get_pokemon(message[3])
            if original.transformed and message[3][:2] == battle.player_role:
                self._copies.append((copy, original))
        elif kind == "-curestatus" and message[3] == "frz":
            self._thawed.add(message[2][:2])
        elif kind == "-start" and message[3] == "Mimic":
            mon = battle.get_pokemon(message[2])
            if "mimic" not in mon.base_moves:
                self._borrowed.setdefault(message[2][:2], set()).add(to_id_str(message[4]))

    def _is_borrowed(self, battle: QuickBattle, message: list[str]) -> bool:
        """Return whether the move may be none of its set. The log does not say that a called binding move continues."""
        side, move = message[2][:2], to_id_str(message[3])
        if not (move in self._borrowed.get(side, ()) or move == self._called.get(side) or side in self._thawed):
            return False
        return move not in battle.get_pokemon(message[2]).moves
