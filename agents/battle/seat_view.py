"""A battle as a seat feeds it, with the current legal choices; what singles and doubles share."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from poke_env.battle.pokemon import Pokemon

from agents.battle.abilities import read_own
from agents.battle.choices import Choice, listed_move, split_power
from agents.battle.corrections import READERS
from agents.battle.first_generation import CORRECTED, FirstGeneration
from agents.battle.illusion import unmask
from agents.battle.items import read_own_barb
from agents.battle.moves_used import read_as_champions, read_own_moves
from agents.battle.quick_poke_env import read_condition
from agents.battle.tracked_battle import TrackedBattle
from agents.battle.volatiles import keep_last_moves

# Lines that carry nothing about the battle, and those that the seat itself handles (as poke-env's Player does).
_NOT_FOR_BATTLE = frozenset({"t:", "expire", "uhtmlchange", "request", "error", "bigerror"})
# Lines that poke-env only records; here without two copies.
_ONLY_RECORDED = TrackedBattle.MESSAGES_TO_IGNORE - READERS.keys()
#: What Iron Head becomes as Zacian or Zamazenta comes in with its Rusted Sword or Shield.
_CROWNED = frozenset({"behemothblade", "behemothbash"})


class SeatView(TrackedBattle):
    """A battle, of one slot a side or two, that reads protocol lines and requests.

    lines: all protocol lines received so far, as the websocket would deliver them, without requests.
    legal: the legal choices of the current request, moves first.
    rng: the seat's own generator; the only source of chance that an agent may use if its battles are to be repeated.
    format_id: the format played, e.g. "gen1ou".
    parse_warnings: number of protocol lines that poke-env could not parse (its state may then be slightly out of date).
    """

    def __init__(self, tag: str, username: str, role: str, gen: int, format_id: str, rng: random.Random) -> None:
        super().__init__(tag, username, role, gen, format_id, rng)
        self.lines: list[str] = []
        self.legal: list[Choice] = []
        self.parse_warnings = 0
        self._entries: dict[str, dict[str, Any]] = {}
        self._first_generation = FirstGeneration() if gen == 1 else None
        self._is_champions = "champions" in format_id

    def feed(self, lines: list[str]) -> None:
        """Ingests protocol lines, as this seat's websocket would deliver them."""
        self.lines += lines
        first_generation = self._first_generation
        for line in lines:
            message = line.split("|")
            kind = message[1] if len(message) > 1 else "t:"
            if kind in _NOT_FOR_BATTLE:
                continue
            if kind in _ONLY_RECORDED:
                self._replay_data.append(message)
                if kind == "-hint" and first_generation is not None:
                    first_generation.hint(message[2])
                continue
            try:
                if first_generation is not None and kind in CORRECTED:
                    first_generation.feed(self, message)
                elif kind == "win":
                    self.won_by(message[2])
                elif kind == "tie":
                    self.tied()
                else:
                    self.parse_message(message)
            except Exception:  # a gap in poke-env must not end a battle; the next request corrects the state
                self.parse_warnings += 1
        if self._is_champions:
            read_as_champions(self)

    def parse_message(self, split_message: list[str]) -> None:
        """Read a line: as corrected (agents/battle/corrections.py), or as poke-env does."""
        reader = READERS.get(split_message[1])
        if reader is None:
            super().parse_message(split_message)
        else:
            reader(self, split_message)

    def ask(self, request: dict[str, Any]) -> None:
        """Ingests a request (Showdown's JSON, decoded) and sets `legal`."""
        held = [(mon, mon._item) for mon in self.own_active() if mon is not None]
        try:
            self.parse_request(request)
        except Exception:  # as above; the legal choices come from the request itself, not from poke-env
            self.parse_warnings += 1
        if self._is_champions:
            read_as_champions(self)
        if self._first_generation is not None:
            self._first_generation.fill_copied_moves()
        keep_last_moves(self)  # before the request the moves of the one that it has become may not have been known
        self.before_transform.clear()
        self._correct_own(request)
        for mon, item in held:
            read_own_barb(self, mon, item)
        for mon, active in self._asked(request):
            _type_hidden_power(mon, active["moves"])
        self.list_choices(request)

    def _asked(self, request: dict[str, Any]) -> Iterator[tuple[Pokemon, dict[str, Any]]]:
        """Yield our Pokémon that are asked for a move, with their part of the request."""
        for mon, active in zip(self.own_active(), request.get("active") or (), strict=False):
            if mon is not None and active is not None:
                yield mon, active

    def _correct_own(self, request: dict[str, Any]) -> None:
        """Take from a request what poke-env does not: PP of our active Pokémon, and whether they must recharge."""
        for mon, active in self._asked(request):
            read_own_moves(mon, active["moves"])

    @abstractmethod
    def own_active(self) -> Sequence[Pokemon | None]:
        """Return our Pokémon on the field in the order of their slots, also those that have fainted there."""

    @abstractmethod
    def list_choices(self, request: dict[str, Any]) -> None:
        """Set `legal` to the choices that a request allows; nothing else of the battle is read."""

    @abstractmethod
    def read_answer(self, answer: Any, request: dict[str, Any]) -> Choice | None:
        """Return the legal choice of the request that an agent's answer means, or None if it means none."""

    def explain_refusal(self, answer: Any, request: dict[str, Any]) -> str:
        """Return why an answer that `read_answer` refuses is no legal choice; "" where nothing simple can be said."""
        return ""

    @abstractmethod
    def legal_labels(self) -> list[str]:
        """Return the legal choices as they are stored with a decision."""

    def _update_team_from_request(self, side: dict[str, Any], strict_battle_tracking: bool = False) -> None:
        """Update our team as poke-env does, but only from entries that changed since the last request.

        Most of a request repeats the last one; processing all of it was most of the cost of a turn.
        """
        changed: list[dict[str, Any]] = []
        entries, known = self._entries, self._team
        slots = zip(self.own_active(), side["pokemon"], strict=False)
        guised = any(mon is not None and mon is not known.get(entry["ident"]) for mon, entry in slots)
        for entry in side["pokemon"]:
            ident, active = entry["ident"], entry["active"]
            before, pokemon = entries.get(ident), known.get(ident)
            if guised or before is None or pokemon is None or pokemon._active != active:
                changed = side["pokemon"]  # the first request, or Illusion: let poke-env process all of it
                self._end_own_guises([shown for shown in changed if shown["active"]])
                break
            unchanged = not active and (before is entry or before == entry)
            guise = unchanged and _was_a_guise(pokemon, entry)
            if unchanged and not guise:
                continue
            if not guise and not pokemon.transformed and _same_sheet(before, entry):
                _update_state(pokemon, entry)
            else:
                if pokemon._last_details.partition(", tera:")[0] == entry["details"]:
                    pokemon._last_details = entry["details"]  # else poke-env sets its forme back
                changed.append(entry)
        if changed:
            if self._first_generation is not None:
                changed = [self._without_new_moves(entry) for entry in changed]
            abilities = [(known.get(entry["ident"]), entry) for entry in changed]
            before_it = [None if mon is None else mon._temporary_ability for mon, _ in abilities]
            super()._update_team_from_request({**side, "pokemon": changed})
            for (_, entry), ability in zip(abilities, before_it, strict=True):
                mon = self._team[entry["ident"]]
                read_own(mon, entry, ability)
                if _CROWNED.intersection(entry["moves"]) and "ironhead" not in entry["moves"]:
                    mon._moves._base_moves.pop("ironhead", None)  # which has become it
        for entry in side["pokemon"]:
            entries[entry["ident"]] = entry

    def _end_own_guises(self, active: list[dict[str, Any]]) -> None:
        """Give what lines said of one of ours to the one that the request shows in its slot, if that is another.

        Of two that look alike, first the one of the team, which the other may be.
        """
        slots = [each for each in zip("ab", self.own_active(), active, strict=False) if each[1] is not None]
        slots.sort(key=lambda each: all(each[1] is not mon for mon in self._team.values()))
        for letter, copied, shown in slots:
            assert copied is not None
            wearer = self._team.get(shown["ident"])
            if wearer is None:
                wearer = self.get_pokemon(shown["ident"], True, shown["details"], shown)
            if wearer is not copied:
                unmask(self, shown["ident"][:2] + letter, wearer, copied)
                wearer.switch_in()

    def _without_new_moves(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return a changed entry without its moves, unless it has transformed: a Pokémon learns none after the start.

        In generation 1 Metronome can call Mimic, which then replaces Metronome in the request.
        """
        pokemon = self._team.get(entry["ident"])
        if pokemon is None or entry["ident"] not in self._entries or pokemon.transformed:
            return entry
        return {**entry, "moves": []}


def _type_hidden_power(mon: Pokemon, listed: list[dict[str, Any]]) -> None:
    """Set type and power of our active Pokémon's Hidden Power from the request's list of its moves.

    poke-env reads the type from the Pokémon's entry, which lacks the power before generation 6.
    """
    for shown in listed:
        move = mon.moves.get("hiddenpower") if shown["id"] == "hiddenpower" else None
        if move is not None:
            name, power = split_power(listed_move(shown))
            move._id, move._base_power_override = name, power or move._base_power_override


def _was_a_guise(pokemon: Pokemon, entry: dict[str, Any]) -> bool:
    """Return whether lines since the last request have shown one on the bench, which another one wore as its guise."""
    if entry["condition"].endswith("fnt"):
        return False
    hp, most, _ = read_condition(entry["condition"])
    details, shown = (text.partition(", tera:")[0] for text in (pokemon._last_details, entry["details"]))
    return details != shown or (pokemon._current_hp, pokemon._max_hp) != (hp, most)


def _same_sheet(before: dict[str, Any], entry: dict[str, Any]) -> bool:
    """Return whether two entries of a Pokémon agree in what describes its set, not its state."""
    return (
        before["details"] == entry["details"]
        and before["moves"] == entry["moves"]
        and before["stats"] == entry["stats"]
        and before["baseAbility"] == entry["baseAbility"]
    )


def _update_state(pokemon: Pokemon, entry: dict[str, Any]) -> None:
    """Do what poke-env's `update_from_request` does for an entry that differs only in HP, status, item or ability."""
    read_own(pokemon, entry, pokemon._temporary_ability)
    pokemon._last_request = entry
    pokemon._item = entry["item"]
    pokemon.set_hp_status(entry["condition"], store=True)
