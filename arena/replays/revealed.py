"""What a whole battle reveals of both teams: each Pokémon with its moves, item, ability and Tera type.

A player knew its own team from the start, so what came to light at the end is taken back to the beginning. This is for the
player's own side only: what it sees of the other side stays what the log had shown by then.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from poke_env.data import GenData, to_id_str

from arena.fixture import SEATS
from arena.replays.lines import CONDITION, Line
from arena.replays.reading import PublicBattle, UnusableReplay

#: Moves by which a Pokémon uses moves that are its own.
_OWN_CALLERS = frozenset({"sleeptalk", "pursuit"})
#: Moves that use others, which may then be forbidden.
_CALLERS = frozenset({"metronome", "assist", "copycat", "mirrormove", "mefirst", "naturepower"})
#: Those of whom a log does not tell who is on the field.
ILLUSIONISTS = frozenset({"zorua", "zoroark", "zoruahisui", "zoroarkhisui"})
# What the holder of an item is, where the line names two Pokémon: of damage it is the one behind [of].
_HURTING = frozenset({"-damage", "-status"})
_RESIDUAL = frozenset({"leftovers", "blacksludge"})
_CHOICE = frozenset({"choiceband", "choicespecs", "choicescarf"})
_MOVES = 4
_SIX = 6


@dataclass
class Shown:
    """What is known of one Pokémon. An empty field was not revealed.

    ident: "p1: nickname". details: as its first line had them ("Landorus-Therian, M"), without "shiny". moves: ids in the
    order in which they were seen. item: what it began with; None where that is not known. not_items: what it cannot have
    begun with. max_hp: where the log shows exact health, else None.
    """

    ident: str
    details: str
    species: str
    level: int
    moves: list[str] = field(default_factory=list)
    item: str | None = None
    not_items: set[str] = field(default_factory=set)
    ability: str = ""
    tera: str = ""
    max_hp: int | None = None


@dataclass
class _Field:
    """A side's active Pokémon, and its temporary state."""

    shown: Shown | None = None
    used: set[str] = field(default_factory=set)
    foreign: set[str] = field(default_factory=set)  # learned by Mimic
    last: str = ""  # its last move
    called: set[str] = field(default_factory=set)  # used by Metronome and the like
    calling: bool = False  # it has used Metronome or the like in this turn
    transformed: bool = False
    health: float = 1.0
    fed: bool = False  # healed by its item this turn


def revealed(battle: PublicBattle, lines: list[Line]) -> dict[str, list[Shown]]:
    """Return role -> the revealed Pokémon of each team, in the order in which they appeared.

    Raises UnusableReplay if the log does not identify the Pokémon.
    """
    reader = _Reader(battle.gen)
    for line in lines:
        reader.take(line)
    for team in reader.teams.values():
        for shown in team.values():
            if shown.species in ILLUSIONISTS:
                raise UnusableReplay("a Pokémon with Illusion: who was on the field cannot be told")
            if len(shown.moves) > _MOVES:
                raise UnusableReplay("a Pokémon with more than four moves")
        if len(team) > _SIX:
            raise UnusableReplay("a team of more than six")
    return {role: list(team.values()) for role, team in reader.teams.items()}


def base_name(species: str, gen: int) -> str:
    """The name of a species' base, which is what a Pokémon without a nickname is called ("Landorus")."""
    dex = GenData.from_gen(gen).pokedex
    base = to_id_str(dex.get(to_id_str(species), {}).get("baseSpecies", species))
    return str(dex.get(base, {}).get("name", species))


class _Reader:
    def __init__(self, gen: int) -> None:
        self.teams: dict[str, dict[str, Shown]] = {role: {} for role in SEATS}
        self._gen = gen
        self._dex = GenData.from_gen(gen).pokedex
        self._fields = {role: _Field() for role in SEATS}
        self._seen: set[str] = set()  # idents that have been on the field
        self._sketched: set[tuple[str, str]] = set()  # ident, move
        self._swapped: set[str] = set()  # idents whose item is no longer the one they began with
        self._previewed: dict[str, list[Shown]] = {role: [] for role in SEATS}

    def take(self, line: Line) -> None:
        """One line of the log."""
        if line.kind == "poke" and line.argument(0) in SEATS:
            self._preview(line.argument(0), line.argument(1))
        elif line.kind == "turn":
            for place in self._fields.values():
                place.calling = False
        elif line.kind == "upkeep":
            self._end_of_turn()
        elif line.kind in ("switch", "drag", "replace") and line.ident:
            self._enter(line)
        elif line.ident:
            self._about(line)
        self._ability(line)
        self._item(line)

    def _preview(self, role: str, details: str) -> None:
        shown = self._shown(f"{role}: {self._base(details)}", details.replace("-*", ""))
        self._previewed[role].append(shown)
        if shown.ident in self.teams[role]:
            raise UnusableReplay("two Pokémon of one name")
        self.teams[role][shown.ident] = shown

    def _shown(self, ident: str, details: str) -> Shown:
        parts = [part for part in details.split(", ") if part != "shiny" and not part.startswith("tera:")]
        level = next((int(part[1:]) for part in parts if part[:1] == "L" and part[1:].isdigit()), 100)
        return Shown(ident, ", ".join(parts), to_id_str(parts[0]), level)

    def _base(self, details: str) -> str:
        """The name that a Pokémon has by itself: that of its base species."""
        return base_name(details.split(",", 1)[0].replace("-*", ""), self._gen)

    def _enter(self, line: Line) -> None:
        team = self.teams[line.role]
        fresh = self._shown(line.ident, line.argument(1))
        if line.kind == "replace":
            raise UnusableReplay("a Pokémon with Illusion: who was on the field cannot be told")
        known = next(
            (s for s in self._previewed[line.role] if self._base(s.details) == self._base(fresh.details)), None
        )
        if known is not None and known.ident != line.ident:
            # The preview has no nicknames: this one has been told of there, and now has its name.
            self.teams[line.role] = {fresh.ident if i == known.ident else i: s for i, s in team.items()}
            known.ident, known.details, known.species = fresh.ident, fresh.details, fresh.species
        elif known is not None and line.ident not in self._seen:
            known.details, known.species = fresh.details, fresh.species
        shown = self.teams[line.role].setdefault(line.ident, fresh)
        if self._base(shown.details) != self._base(fresh.details):
            raise UnusableReplay("two Pokémon of one name")
        self._seen.add(line.ident)
        self._fields[line.role] = _Field(shown)
        self._health(line)

    def _about(self, line: Line) -> None:
        place = self._fields[line.role]
        shown = place.shown
        if line.kind in CONDITION:
            self._health(line)
        if shown is None or shown.ident != line.ident:
            return
        if line.kind == "move":
            self._moved(line, place, shown)
        elif (
            line.kind == "cant"
            and line.argument(2)
            and not place.calling
            and to_id_str(line.argument(2)) not in place.foreign
        ):
            self._learn(shown, place, to_id_str(line.argument(2)))
        elif line.kind == "-transform":
            place.transformed = True
        elif (
            line.kind in ("-start", "-activate")
            and to_id_str(line.argument(1)).endswith(("mimic", "sketch"))
            and line.argument(2)
        ):
            learned = to_id_str(line.argument(2))
            if place.last == "sketch":  # which generations 3 and 4 call Mimic here
                self._sketched.add((line.ident, learned))
            else:
                place.foreign.add(learned)
        elif line.kind == "-terastallize":
            shown.tera = line.argument(1)

    def _moved(self, line: Line, place: _Field, shown: Shown) -> None:
        move, source = line.move, line.source_id
        place.last, place.calling = move, move in _CALLERS
        if source and source not in _OWN_CALLERS and source != move:
            place.called.add(move)
            return
        if self._gen <= 2 and not source and move in place.called:
            return  # the next turn of a move that was called has no tag in these generations
        if source == move and source not in _OWN_CALLERS and move not in place.used and move not in shown.moves:
            return  # goes on with what another move had called
        if "zeffect" in line.tags:
            return
        self._learn(shown, place, move)
        if source not in _OWN_CALLERS:
            place.used.add(move)
        if len(place.used) > 1:
            shown.not_items |= _CHOICE
        category = GenData.from_gen(self._gen).moves.get(move, {}).get("category")
        if category == "Status" and not place.transformed:
            shown.not_items.add("assaultvest")

    def _learn(self, shown: Shown, place: _Field, move: str) -> None:
        known = GenData.from_gen(self._gen).moves
        ours = move in known and not known[move].get("isZ") and not known[move].get("isMax")
        if (shown.ident, move) in self._sketched:
            return  # it has it in the place of Sketch, from the middle of the battle on
        if place.transformed or move in place.foreign or move in ("struggle", "recharge") or not ours:
            return
        if move not in shown.moves:
            shown.moves.append(move)

    def _health(self, line: Line) -> None:
        condition = line.argument(CONDITION[line.kind]).split(" ")[0]
        now, _, most = condition.partition("/")
        shown = self.teams[line.role].get(line.ident)
        if shown is None or not now.replace(".", "").isdigit():
            return
        if most.isdigit() and int(most) not in (100, 48):
            shown.max_hp = int(most)
        place = self._fields[line.role]
        if place.shown is shown:
            place.health = float(now) / float(most) if most.isdigit() and float(most) else 0.0
            place.fed |= line.kind == "-heal" and line.source_id in _RESIDUAL

    def _end_of_turn(self) -> None:
        """Record that a damaged Pokémon that was not healed by Leftovers does not hold them."""
        for place in self._fields.values():
            if place.shown is not None and not place.fed and 0 < place.health < 1:
                place.shown.not_items |= _RESIDUAL
            place.fed = False

    def _ability(self, line: Line) -> None:
        named = ""
        if line.kind == "-ability" and not line.source:
            named = line.argument(1)
        elif line.source.startswith("ability: "):
            named = line.source[9:]
        elif line.kind in ("-activate", "cant") and line.argument(1).startswith("ability: "):
            named = line.argument(1)[9:]
        if not named:
            return
        # The line may name two Pokémon; the one whose species can have the ability is meant.
        for ident in (line.of, line.ident):
            shown = self.teams.get(ident[:2], {}).get(ident)
            if shown is not None and not shown.ability and self._can_have(shown.species, named):
                shown.ability = to_id_str(named)
                return

    def _can_have(self, species: str, ability: str) -> bool:
        own = self._dex.get(species, {}).get("abilities", {})
        return to_id_str(ability) in {to_id_str(name) for name in own.values()}

    def _item(self, line: Line) -> None:
        ident, item = line.ident, ""
        if line.kind in ("-item", "-enditem"):
            item = line.argument(1)
            if line.kind == "-item" and "ability: Frisk" not in line.source and line.source:
                self._swapped.add(ident)
                return
        elif line.source.startswith("item: "):
            item = line.source[6:]
            ident = line.of if line.of and line.kind in _HURTING else line.ident
        elif line.kind in ("-activate", "-mega") and (line.argument(1).startswith("item: ") or line.kind == "-mega"):
            item = line.argument(2) if line.kind == "-mega" else line.argument(1)[6:]
        shown = self.teams.get(ident[:2], {}).get(ident)
        if not item or shown is None:
            return
        if ident not in self._swapped and shown.item is None:
            shown.item = to_id_str(item)
        if line.kind == "-enditem":
            self._swapped.add(ident)
