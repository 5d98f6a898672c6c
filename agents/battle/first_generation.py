"""Protocol lines of generation 1 that poke-env reads differently from what they say, corrected before and after it.

poke-env counts a continued move (the second turn of Wrap or Fly) as another use of PP. It takes for moves of a Pokémon's set
what Metronome or Mirror Move called, what was mimicked in another move's slot, and what a thawed Pokémon does, which is the
move that its team selected last. It does not know that one that falls asleep or is bound no longer needs rest, nor what ours
has copied by Transform before the next request, nor then an opponent that copied ours meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poke_env.battle.effect import Effect
from poke_env.battle.move import Move, MoveSet
from poke_env.battle.pokemon import Pokemon
from poke_env.data import to_id_str

if TYPE_CHECKING:
    from agents.battle.tracked_battle import TrackedBattle

#: poke-env's mark of a move that neither reveals anything nor uses PP.
_CONTINUED = "[from] lockedmove"
_CALLERS = ("Metronome", "Mirror Move")
_CALLS = tuple(f"[from] {caller}" for caller in _CALLERS)
#: Moves after whose use their target needs no rest.
_BINDING = frozenset({"Bind", "Clamp", "Fire Spin", "Wrap"})
#: Kinds of lines that are corrected, before poke-env reads them or after.
CORRECTED = frozenset(
    {
        "switch",
        "drag",
        "turn",
        "move",
        "faint",
        "cant",
        "-damage",
        "-fail",
        "-immune",
        "-transform",
        "-curestatus",
        "-start",
        "-status",
    }
)
#: Effects of moves that no line tells.
_SILENT = {"minimize": Effect.MINIMIZE, "rage": Effect.RAGE}
#: Moves of two turns, which cost their PP in the second.
_TWO_TURNS = frozenset({"dig", "fly", "razorwind", "skullbash", "skyattack", "solarbeam"})
#: The hint before the move of a thawed Pokémon whose team selected none yet: it looks like Fissure.
_NO_MOVE_HINT = "no move has been selected yet"


class FirstGeneration:
    """Feeds the lines of one battle to it, corrected. The battle's record of its lines keeps them as they came.

    It does not keep the battle: the two would be a cycle, and only the garbage collector would free a battle and its lines.
    """

    def __init__(self) -> None:
        self._borrowed: dict[str, str] = {}  # side -> the move that its active Pokémon mimicked last
        self._chosen: dict[str, str] = {}  # side -> the own move of the slot that its active Pokémon chose last
        self._called: dict[str, str] = {}  # side -> the binding move that its active Pokémon has called
        self._begun: tuple[Pokemon, Effect] | None = None  # what the last move has begun, if it has not failed
        self._nameless = False
        self._thawed: set[str] = set()  # sides whose active Pokémon thawed this turn
        self._copies: list[tuple[Pokemon, Pokemon]] = []  # since the last request: who copied one that had transformed

    def hint(self, text: str) -> None:
        """Read a hint of the simulator."""
        self._nameless = self._nameless or _NO_MOVE_HINT in text

    def feed(self, battle: TrackedBattle, message: list[str]) -> None:
        """Have poke-env read a line of one of the CORRECTED kinds, or what it should read instead, and correct the state."""
        if message[1] == "-damage" and len(message) == 4:
            battle.parse_message(message)
            return
        corrected = self._before(battle, message)
        try:
            battle.parse_message(corrected)
        finally:
            battle._replay_data[-1] = message
        if message[1] == "move":
            self._after_move(battle, message, corrected is not message)
        else:
            self._after(battle, message)

    def fill_copied_moves(self) -> None:
        """Complete what was copied from one of ours, whose moves the request has told."""
        for copy, original in self._copies:
            if copy.transformed and original.transformed:
                moves = {name: Move(name, 1, from_transform=True) for name in original.moves}
                copy._moves._transform_moves = MoveSet(moves)
        self._copies.clear()

    def _before(self, battle: TrackedBattle, message: list[str]) -> list[str]:
        kind = message[1]
        if kind in ("switch", "drag"):
            for remembered in (self._borrowed, self._called, self._chosen):
                remembered.pop(message[2][:2], None)
        elif kind == "turn":
            self._thawed.clear()
            self._begun = None
        elif kind == "move":
            nameless, self._nameless = self._nameless, False
            mon, effect = battle.get_pokemon(message[2]), _SILENT.get(to_id_str(message[3]))
            self._begun = (mon, effect) if effect is not None and effect not in mon._effects else None
            source = _source(message)
            if source in _CALLS and message[3] in _BINDING:
                self._called[message[2][:2]] = to_id_str(message[3])
            if nameless or source or message[2][:2] in self._thawed or self._is_borrowed(battle, message):
                return [*message[:5], _CONTINUED]
        return message

    def _after(self, battle: TrackedBattle, message: list[str]) -> None:
        kind = message[1]
        if kind == "cant" and message[3] in ("par", "Disable"):
            self._break_off(battle.get_pokemon(message[2]), bide=message[3] == "par")
        elif kind == "-damage" and message[4] == "[from] confusion":
            self._break_off(battle.get_pokemon(message[2]), bide=True)
        elif kind == "cant" and message[3] == "flinch":
            battle.get_pokemon(message[2]).must_recharge = False
        elif kind in ("-immune", "-fail") and self._begun is not None:
            user, effect = self._begun
            # What fails may also be another's Bide at its end, which has no line of a move.
            if kind == "-immune" or battle.get_pokemon(message[2]) is user:
                user._effects.pop(effect, None)
        elif kind == "-status" and message[3] == "slp":
            battle.get_pokemon(message[2]).must_recharge = False
        elif kind == "-transform":
            copy, original = battle.get_pokemon(message[2]), battle.get_pokemon(message[3])
            for remembered in (self._borrowed, self._chosen):
                remembered.pop(message[2][:2], None)
            if original.transformed and message[3][:2] == battle.player_role:
                self._copies.append((copy, original))
        elif kind == "-curestatus" and message[3] == "frz":
            self._thawed.add(message[2][:2])
        elif kind == "-start" and message[3] == "Mimic":
            self._mimic(battle.get_pokemon(message[2]), message[2][:2])

    def _mimic(self, mon: Pokemon, side: str) -> None:
        """Put a mimicked move in the place of the move that was chosen, with its PP; poke-env puts it in Mimic's."""
        known, slot = mon._moves._resolved(), self._chosen.get(side)
        copied = known._mimic_move
        assert copied is not None
        self._borrowed[side] = copied.id
        mimicked = known._mimicked or {}  # type: ignore[attr-defined]
        if slot in known._base_moves:
            copied._current_pp = known._base_moves[slot]._current_pp
            mimicked = {**mimicked, slot: copied}
        known._mimicked = mimicked  # type: ignore[attr-defined]

    def _after_move(self, battle: TrackedBattle, message: list[str], continued: bool) -> None:
        """Set what the line of a move does not say: PP of moves of two turns and of mimicked ones, Rage, an end of rest.

        continued: neither reveals the move nor uses PP.
        """
        mon, move, side = battle.get_pokemon(message[2]), to_id_str(message[3]), message[2][:2]
        source = _source(message)
        if message[3] in _BINDING:
            foe = battle.facing(message[2])
            if foe is not None and not foe.fainted:
                foe.must_recharge = False
        if move == "rage" and not {"[miss]", "[notarget]"} & set(message[4:]):
            mon._effects[Effect.RAGE] = 0
        if not source:
            if continued and move == self._called.get(side) and side not in self._thawed:
                self._pay(mon, side, 1)  # a called binding move, as its target has changed
            else:
                self._chosen.pop(side, None)
            if move != self._called.get(side):
                self._called.pop(side, None)
            if not continued:
                shown = (slot for slot in reversed(mon.base_moves) if _shown_in(mon, slot) == move)
                self._chosen[side] = next(shown, move)
        if move in _TWO_TURNS:
            self._pay(mon, side, 1 if source[7:] == message[3] else -1)
        known = mon._moves._resolved()
        for slot, copied in (known._mimicked or {}).items():  # type: ignore[attr-defined]  # one slot, one PP
            known._base_moves[slot]._current_pp = copied._current_pp

    def _pay(self, mon: Pokemon, side: str, cost: int) -> None:
        """Take PP of the slot that was chosen last, if it is known, or give them back."""
        slot = self._chosen.get(side)
        move = None if slot is None else mon.moves.get(_shown_in(mon, slot))
        if slot is not None and move is not None:
            most = mon.base_moves[slot].max_pp if slot in mon.base_moves else move.max_pp
            move._current_pp = min(most, max(0, move._current_pp - cost))

    @staticmethod
    def _break_off(mon: Pokemon, bide: bool) -> None:
        """End what full paralysis, confusion or Disable has interrupted."""
        mon._preparing_move = mon._preparing_target = None
        if bide:
            mon._effects.pop(Effect.BIDE, None)

    def _is_borrowed(self, battle: TrackedBattle, message: list[str]) -> bool:
        """Return whether the move may be none of its set. A called binding move is used again as its target has changed."""
        side, move = message[2][:2], to_id_str(message[3])
        if move not in (self._borrowed.get(side), self._called.get(side)):
            return False
        return move not in battle.get_pokemon(message[2]).moves


def _source(message: list[str]) -> str:
    """Return the mark of a line of a move that says what has called it, "[from] Metronome", or ""."""
    return next((part for part in message[4:] if part.startswith("[from]")), "")


def _shown_in(mon: Pokemon, slot: str) -> str:
    """Return the move that is in the place of one of a Pokémon's own: itself, or a mimicked one."""
    copied = (mon._moves._resolved()._mimicked or {}).get(slot)  # type: ignore[attr-defined]
    return slot if copied is None else copied.id
