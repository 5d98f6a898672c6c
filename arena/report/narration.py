"""The narration of a battle: a sentence for each of Showdown's protocol lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

STATUS = {
    "brn": "is burned",
    "par": "is paralysed",
    "slp": "is asleep",
    "frz": "is frozen",
    "psn": "is poisoned",
    "tox": "is badly poisoned",
}
STATS = {
    "atk": "Attack",
    "def": "Defense",
    "spa": "Special Attack",
    "spd": "Special Defense",
    "spe": "Speed",
    "accuracy": "accuracy",
    "evasion": "evasion",
}
_SILENT = frozenset({"", "t:", "gametype", "gen", "tier", "rule", "player", "teamsize", "start", "upkeep", "request"})
_QUIET_MARKS = ("[silent]",)
_PREFIX = re.compile(r"^(move|ability|item): ?")
_STAT_BOOSTED = re.compile(r"^(protosynthesis|quarkdrive)(atk|def|spa|spd|spe)$")
_STAT_BOOSTERS = {"protosynthesis": "Protosynthesis", "quarkdrive": "Quark Drive"}
_CAUSES = {"brn": "its burn", "psn": "poison", "tox": "poison", "par": "paralysis", "slp": "sleep", "frz": "the ice"}


def status_name(code: str) -> str:
    """ "par" -> "paralysed"."""
    return STATUS.get(code, code).removeprefix("is ")


def effect_name(effect: str) -> str:
    """ "move: Leech Seed" -> "Leech Seed", "quarkdrivespe" -> "Quark Drive (Speed)"."""
    name = _PREFIX.sub("", effect)
    boosted = _STAT_BOOSTED.match(name)
    return f"{_STAT_BOOSTERS[boosted[1]]} ({STATS[boosted[2]]})" if boosted else name


def narrate(lines: Iterable[str], names: dict[str, str]) -> Iterator[str]:
    """The sentences for protocol lines, in order; a line of `== Turn N ==` before each turn.

    names: how to call the two sides, {"p1": …, "p2": …}.
    """
    narrator = Narrator(names)
    for line in lines:
        sentence = narrator.sentence(line)
        if sentence:
            yield sentence


class Narrator:
    """Narrates the lines of one battle in their order: what a line says may depend on the move before it.

    names: as in `narrate`.
    """

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._spread = False

    def sentence(self, line: str) -> str:
        """The sentence for a line, empty for some. A line of an unknown kind is given as Showdown wrote it."""
        kind, *parts = line.split("|")[1:] or [""]
        if kind in ("move", ""):
            self._spread = any(part.startswith("[spread]") for part in parts)
        if kind in _SILENT or any(mark in parts for mark in _QUIET_MARKS):
            return ""
        narration = _NARRATORS.get(kind)
        if narration is not None:
            try:
                return narration(_Line(parts, self._names, self._spread))
            except IndexError:  # shorter than it should be: then as it stands
                pass
        words = " ".join(part for part in parts if part)
        return f"  ({kind.lstrip('-')}: {words})" if words else f"  ({kind.lstrip('-')})"


class _Line:
    """The parts of one protocol line behind its kind. spread: whether it belongs to a move with several targets."""

    def __init__(self, parts: list[str], names: dict[str, str], spread: bool) -> None:
        self.parts, self.names, self.spread = parts, names, spread

    def __getitem__(self, index: int) -> str:
        return self.parts[index]

    def who(self, index: int = 0) -> str:
        """ "p1a: Tauros" -> "Tauros (random)"."""
        side, _, name = self.parts[index].partition(": ")
        return f"{name} ({self.names.get(side[:2], side)})"

    def side(self, index: int = 0) -> str:
        return self.names.get(self.parts[index][:2], self.parts[index])

    def on_target(self) -> str:
        """The target that the line is about, " on Lapras (random)"; empty if the move has this target alone."""
        return f" on {self.who()}" if self.spread else ""

    def effect(self, index: int) -> str:
        return effect_name(self.parts[index])

    def health(self, index: int) -> str:
        """ "204/353 par" -> "204/353 HP, paralysed"; "67/100" stays a share, as the other side sees it."""
        condition = self.parts[index]
        if condition.startswith("0 "):
            return "0 HP"
        hp, _, status = condition.partition(" ")
        shown = f"{hp.split('/')[0]} %" if hp.endswith("/100") else f"{hp} HP"
        return f"{shown}, {status_name(status)}" if status in STATUS else shown

    def cause(self) -> str:
        """What the mark `[from] …` names, as " by …"; empty without one."""
        for part in self.parts:
            if part.startswith("[from]"):
                source = effect_name(part.removeprefix("[from]").strip())
                return f" by {_CAUSES.get(source, source)}"
        return ""


def _move(line: _Line) -> str:
    target = line[2] if len(line.parts) > 2 else ""
    if line.spread:  # the line names one target of several
        return f"  {line.who()} uses {line[1]} at several targets."
    aimed = f" at {line.who(2)}" if target and target != line[0] and not target.startswith("[") else ""
    return f"  {line.who()} uses {line[1]}{aimed}."


def _switch(line: _Line) -> str:
    return f"  {line.side()} sends out {line[1].split(',')[0]}, {line.health(2)}."


def _boost(direction: str) -> Callable[[_Line], str]:
    def narration(line: _Line) -> str:
        amount = f" by {line[2]}" if line[2] != "1" else ""
        stat = f"  {line.who()}'s {STATS.get(line[1], line[1])}"
        if line[2] == "0":
            return f"{stat} cannot go any {'higher' if direction == 'rises' else 'lower'}."
        return f"{stat} {direction}{amount}."

    return narration


_REASONS = {
    "slp": "sleeps",
    "par": "is fully paralysed",
    "frz": "is frozen solid",
    "flinch": "flinches",
    "recharge": "must recharge",
    "partiallytrapped": "is held fast and cannot move",
}


def _cannot(line: _Line) -> str:
    reason = _REASONS.get(line[1])
    return f"  {line.who()} {reason}." if reason else f"  {line.who()} cannot move: {line.effect(1)}."


def _miss(line: _Line) -> str:
    missed = f" {line.who(1)}" if line.spread and len(line.parts) > 1 else ""
    return f"  {line.who()} misses{missed}."


def _immune(line: _Line) -> str:
    return f"  It does not affect {line.who()}{line.cause()}."


def _weather(line: _Line) -> str:
    if "[upkeep]" in line.parts:
        return ""
    return "  The weather clears up." if line[0] == "none" else f"  Weather: {line[0]}{line.cause()}."


def _start(line: _Line) -> str:
    if line[1] == "typechange":
        return f"  {line.who()} changes its type to {line[2]}{line.cause()}."
    detail = line[2] if len(line.parts) > 2 and not line[2].startswith("[") else ""
    of = " (Gigantamax)" if detail == "Gmax" else f" of {detail}" if detail else ""
    return f"  {line.who()}: {line.effect(1)}{of} begins{line.cause()}."


def _form(line: _Line) -> str:
    return f"  {line.who()} takes the form {line[1].split(',')[0]}{line.cause()}."


_NARRATORS: dict[str, Callable[[_Line], str]] = {
    "turn": lambda line: f"\n== Turn {line[0]} ==",
    "win": lambda line: f"\n{line.names.get(line[0], line[0])} wins.",
    "tie": lambda line: "\nA tie.",
    "move": _move,
    "switch": _switch,
    "swap": lambda line: f"  {line.who()} changes places with its ally{line.cause()}.",
    "replace": lambda line: f"  It was {line[1].split(',')[0]} of {line.side()} in disguise.",
    "detailschange": _form,
    "-formechange": _form,
    "-mega": lambda line: f"  {line.who()} mega-evolves with {line[2]}.",
    "-zpower": lambda line: f"  {line.who()} gathers its Z-Power.",
    "-zbroken": lambda line: f"  {line.who()} could not protect itself fully from the Z-Move.",
    "-primal": lambda line: f"  {line.who()} reverts to its primal form.",
    "-burst": lambda line: f"  {line.who()} bursts into {line[1].split(',')[0]}.",
    "-fieldactivate": lambda line: f"  {line.effect(0)}.",
    "-nothing": lambda line: "  Nothing happens.",
    "-block": lambda line: f"  {line.who()} is safe: {line.effect(1)}.",
    "-endability": lambda line: f"  {line.who()} has its ability no more{line.cause()}.",
    "-cureteam": lambda line: f"  The team of {line.who()} is cured{line.cause()}.",
    "-clearnegativeboost": lambda line: f"  {line.who()}'s lowered stats are as they were.",
    "-clearpositiveboost": lambda line: f"  {line.who()}'s raised stats are as they were.",
    "-invertboost": lambda line: f"  {line.who()}'s changes of stats are turned round.",
    "-copyboost": lambda line: f"  {line.who()} copies the changes of stats of {line.who(1)}.",
    "-swapboost": lambda line: f"  {line.who()} and {line.who(1)} swap changes of stats.",
    "-swapsideconditions": lambda line: "  What lies on the two sides is swapped.",
    "drag": lambda line: f"  {line[1].split(',')[0]} of {line.side()} is dragged out, {line.health(2)}.",
    "faint": lambda line: f"  {line.who()} faints.",
    "cant": _cannot,
    "poke": lambda line: f"  {line.side()} shows {line[1].split(',')[0]}.",
    "showteam": lambda line: f"  {line.side()} shows its team sheet.",
    "clearpoke": lambda line: "Team preview:",
    "teampreview": lambda line: "",
    "message": lambda line: f"  {line[0]}",
    "-message": lambda line: f"  {line[0]}",
    "bigerror": lambda line: f"  {line[0]}",
    "-damage": lambda line: f"  {line.who()} is hurt{line.cause()}: {line.health(1)}.",
    "-heal": lambda line: f"  {line.who()} is healed{line.cause()}: {line.health(1)}.",
    "-sethp": lambda line: f"  {line.who()} now has {line.health(1)}{line.cause()}.",
    "-status": lambda line: f"  {line.who()} {STATUS.get(line[1], line[1])}{line.cause()}.",
    "-curestatus": lambda line: f"  {line.who()} {STATUS.get(line[1], line[1])} no longer.",
    "-boost": _boost("rises"),
    "-unboost": _boost("falls"),
    "-setboost": lambda line: f"  {line.who()}'s {STATS.get(line[1], line[1])} is set to {line[2]}.",
    "-clearallboost": lambda line: "  All changes of stats are gone.",
    "-clearboost": lambda line: f"  {line.who()}'s changes of stats are gone.",
    "-supereffective": lambda line: f"  It is super effective{line.on_target()}.",
    "-resisted": lambda line: f"  It is not very effective{line.on_target()}.",
    "-crit": lambda line: f"  A critical hit{line.on_target()}!",
    "-miss": _miss,
    "-fail": lambda line: f"  It fails{line.cause()}.",
    "-notarget": lambda line: "  There is no target.",
    "-immune": _immune,
    "-hitcount": lambda line: f"  It hits {line[1]} times.",
    "-ohko": lambda line: "  A one-hit knock-out!",
    "-weather": _weather,
    "-fieldstart": lambda line: f"  {line.effect(0)} begins{line.cause()}.",
    "-fieldend": lambda line: f"  {line.effect(0)} ends.",
    "-sidestart": lambda line: f"  {line.effect(1)} on the side of {line.side()}.",
    "-sideend": lambda line: f"  {line.effect(1)} is gone from the side of {line.side()}.",
    "-start": _start,
    "-end": lambda line: f"  {line.who()}: {line.effect(1)} ends.",
    "-activate": lambda line: f"  {line.who()}: {line.effect(1)}." if line[0] else f"  {line.effect(1)}.",
    "-singleturn": lambda line: f"  {line.who()}: {line.effect(1)}.",
    "-singlemove": lambda line: f"  {line.who()}: {line.effect(1)}.",
    "-prepare": lambda line: f"  {line.who()} prepares {line[1]}.",
    "-mustrecharge": lambda line: "",
    "-item": lambda line: f"  {line.who()} has {line[1]}{line.cause()}.",
    "-enditem": lambda line: f"  {line.who()} has {line[1]} no more{line.cause()}.",
    "-ability": lambda line: f"  {line.who()}: {line[1]}.",
    "-terastallize": lambda line: f"  {line.who()} terastallizes into {line[1]}.",
    "-transform": lambda line: f"  {line.who()} transforms into {line.who(1)}.",
    "-anim": lambda line: "",
    "-hint": lambda line: f"  ({line[0]})",
}
