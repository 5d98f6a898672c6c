"""Converts metamon's states to the log of one player.

A state describes the battle at one decision. For each transition this writes protocol lines that produce the next state, and
then the player's request, in the format of the store's side logs, so that poke-env and our observations can read them. What
a state omits is inferred from neighbouring states where possible.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import orjson

from arena.replays.completing import Completed, complete
from arena.replays.decisions import ChoiceEvidence
from arena.replays.locks import RECHARGE
from arena.replays.reading import UnusableReplay
from arena.replays.reconstruction import SideLog
from arena.replays.requests import answer
from arena.replays.revealed import ILLUSIONISTS, Shown
from teamsets.formats import get_singles_format
from training.data.metamon.choices import chosen, request_at
from training.data.metamon.moves import leave_foe, move_foe, move_own, spent
from training.data.metamon.names import (
    NOTHING,
    UNKNOWN,
    Dex,
    State,
    condition_name,
    effect_name,
    untype_hidden_power,
    weather_name,
)
from training.data.metamon.seen import LAYING, SeenConditions
from training.data.metamon.stage import OTHER, ROLE, Half, LogStage, fainted


def side_log(states: Sequence[State], actions: Sequence[int], format_id: str, seed: str) -> SideLog:
    """Return the log of a trajectory. seed: for sampling stats (and moves) that metamon omits.

    The last state is the end of the battle and no decision. Raises UnusableReplay, and KeyError for a missing key.
    """
    if any(mon["name"] in ILLUSIONISTS for state in states for mon in _everyone(state)):
        raise UnusableReplay("a Pokémon with Illusion: the active Pokémon is ambiguous")
    for state in states:
        untype_hidden_power(move for mon in _everyone(state) for move in mon["moves"])
        untype_hidden_power((state["player_prev_move"], state["opponent_prev_move"]))
    dex = Dex(get_singles_format(format_id, "metamon").gen)
    members = _members(states, dex, format_id, seed)
    lines, choices = _Writer(states, actions, dex, members).write()
    return SideLog(ROLE, format_id, lines, choices, tuple(members))


def _everyone(state: State) -> tuple[State, ...]:
    return (state["player_active_pokemon"], state["opponent_active_pokemon"], *state["available_switches"])


def _members(states: Sequence[State], dex: Dex, format_id: str, seed: str) -> list[Completed]:
    """Return the own team as first seen, with sampled stats and other missing information."""
    shown: dict[str, Shown] = {}
    for state in states:
        for mon in (state["player_active_pokemon"], *state["available_switches"]):
            shown.setdefault(dex.base(mon), dex.shown(mon, ROLE))
    return complete(list(shown.values()), len(shown), ROLE, format_id, dex.gen, random.Random(seed))


class _Writer:
    """Writes the log in one pass over the states."""

    def __init__(self, states: Sequence[State], actions: Sequence[int], dex: Dex, members: list[Completed]) -> None:
        self._states, self._actions, self._dex = states, actions, dex
        benched = (mon for state in states for mon in state["available_switches"])
        keeps_pp = any(move["current_pp"] < move["max_pp"] for mon in benched for move in mon["moves"])
        self._stage = LogStage(dex.gen, members, dex, keeps_pp)
        self._turn, self._weather, self._field = 0, "none", SeenConditions()
        # The opponent's Pokémon -> index of the last state in which it is active and has not fainted.
        foes = [state["opponent_active_pokemon"] for state in states]
        self._stood = {dex.base(foe): place for place, foe in enumerate(foes) if not fainted(foe)}

    def write(self) -> tuple[list[str], list[str | None]]:
        """Return the lines, and the answer to each request."""
        choices, evidence = [], ChoiceEvidence()
        for place, state in enumerate(self._states[:-1]):
            if place == 0:
                self._write_start(state)
            else:
                self._write_transition(place, self._states[place - 1], evidence, state)
            evidence = chosen(self._stage, self._states, self._actions[place], place)
            continued = self._actions[place] >= 0 or place < len(self._states) - 2
            request, ask = request_at(self._stage, state, evidence, continued)
            self._stage.lines.append("|request|" + orjson.dumps(request).decode())
            choices.append(answer(request, self._stage.own.side, ask))
        return self._stage.lines, choices

    def _write_start(self, state: State) -> None:
        stage, seen = self._stage, dict[str, State]()
        for each in self._states:
            seen.setdefault(self._dex.base(each["opponent_active_pokemon"]), each["opponent_active_pokemon"])
        for name in state.get("opponent_teampreview", ()):
            stage.lines.append(f"|poke|{OTHER}|{self._dex.previewed(name, seen.get(self._dex.base({'name': name})))}|")
        stage.enter(stage.own, state["player_active_pokemon"])
        stage.enter(stage.foe, state["opponent_active_pokemon"])
        self._settle(state, {})

    def _write_transition(self, place: int, before: State, evidence: ChoiceEvidence, state: State) -> None:
        """Write the transition to a state: switches, moves, and resulting conditions. evidence: of the player's choice."""
        stage, own, foe = self._stage, state["player_active_pokemon"], state["opponent_active_pokemon"]
        if evidence.kind == "switch":
            stage.enter(stage.own, own)
        if stage.is_other(stage.foe, foe):
            leave_foe(stage, self._states[place:])
        if before["opponents_remaining"] - state["opponents_remaining"] > fainted(foe):
            self._fall(place, stage.is_other(stage.foe, foe))
        if stage.foe.standing.hp > 0:
            stage.enter(stage.foe, foe)
        moved = {ROLE: move_own(stage, evidence, before, state)}
        recharging = stage.own.side.stay.locks.move == RECHARGE
        if self._dex.has_flag(moved[ROLE], "recharge") and not recharging and self._rests(place):
            stage.say(f"|-mustrecharge|{stage.own.place}")
        stage.enter(stage.own, own)
        stage.enter(stage.foe, foe)
        moved[OTHER] = move_foe(stage, before, state)
        self._settle(state, moved)

    def _rests(self, place: int) -> bool:
        """Return whether our Pokémon recharges at a state: its action is 0, and no move is used."""
        now, then = (self._states[at]["player_active_pokemon"] for at in (place, place + 1))
        stays = self._dex.base(now) == self._dex.base(then) == self._stage.own.standing.base
        return self._actions[place] == 0 and stays and not spent(now, then)

    def _fall(self, place: int, gone: bool) -> None:
        """Record that one of the opponent's Pokémon has fainted between two states.

        It is the active one if it left and never returns, else the one with the lowest HP of those that never return. A
        Pokémon that entered and fainted in between is unknown.
        """
        stage = self._stage
        able = [each for each in stage.foe.known.values() if each.hp > 0 and self._stood.get(each.base, -1) < place]
        others = [each for each in able if each is not stage.foe.standing]
        if gone and stage.foe.standing in able:
            stage.fall(stage.foe.standing)
        elif others:
            stage.fall(min(others, key=lambda each: each.hp))

    def _settle(self, state: State, moved: dict[str, str]) -> None:
        """Write the conditions at a state. moved: role -> move used before it."""
        stage, turns = self._stage, not state["forced_switch"]
        for half, whose in ((stage.own, "player"), (stage.foe, "opponent")):
            now = state[f"{whose}_active_pokemon"]
            if self._dex.terastallized(now, half is stage.foe) and (half is stage.foe or not state.get("can_tera")):
                stage.terastallize(half, now)
            self._settle_one(half, now, turns)
        for half, other, whose in ((stage.own, OTHER, "player"), (stage.foe, ROLE, "opponent")):
            shown, laid = str(state[f"{whose}_conditions"]), LAYING.get(moved.get(other, ""), "")
            self._lie(half.conditions.changed(shown, self._turn, laid), "-side", f"{half.role}: {half.role}|")
        self._lie(self._field.changed(str(state["battle_field"]), self._turn), "-field", "")
        weather = weather_name(str(state["weather"]))
        # From generation 4 on a fainted Pokémon is replaced at the end of the turn.
        ends = turns or (stage.gen >= 4 and fainted(state["player_active_pokemon"]))
        if weather != self._weather or (weather != "none" and ends):
            stage.say(f"|-weather|{weather}" + ("|[upkeep]" if weather == self._weather else ""))
        self._weather = weather
        if turns:
            self._turn += 1
            stage.say(f"|turn|{self._turn}")

    def _settle_one(self, half: Half, now: State, turns: bool) -> None:
        """Write the active Pokémon's forme, status, HP, ability, item, boosts and effects."""
        stage, known, at = self._stage, half.standing, half.place
        if known.forme != now["name"]:
            known.forme = str(now["name"])
            stage.say(f"|detailschange|{at}|{self._dex.details(now)}")
        stage.become(half, now)
        if now["hp_pct"] != known.hp or fainted(now):
            stage.say(f"|-damage|{at}|{stage.condition(half, now)}")
            if fainted(now):
                stage.say(f"|faint|{at}")
        known.hp = float(now["hp_pct"])
        ability, item = str(now["ability"]), str(now["item"])
        if ability != known.ability and ability not in NOTHING | UNKNOWN and stage.gen >= 3:
            stage.say(f"|-ability|{at}|{ability}")
        if item != known.item and item not in UNKNOWN and stage.gen >= 2:
            gone = "" if known.item in UNKNOWN else known.item
            stage.say(f"|-enditem|{at}|{gone}" if item == "noitem" else f"|-item|{at}|{item}")
        known.ability, known.item = ability, item
        for stat, stages in known.changed_boosts(now):
            stage.say(f"|-setboost|{at}|{stat}|{stages}")
        for kind, effects in zip(("start", "end"), known.changed_effects(str(now["effect"])), strict=True):
            for name in filter(None, map(effect_name, effects)):
                stage.say(f"|-{kind}|{at}|{name}")
        if "perish" in known.effects and turns:
            stage.say(f"|-start|{at}|PERISH{max(0, 3 - known.perishing)}")
            known.perishing += 1

    def _lie(self, changed: tuple[list[str], list[str]], kind: str, where: str) -> None:
        for names, word in zip(changed, ("start", "end"), strict=True):
            for name in filter(None, map(condition_name, names)):
                self._stage.say(f"|{kind}{word}|{where}{name}")
