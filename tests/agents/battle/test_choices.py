"""What is legal in a request, and what an answer means."""

from __future__ import annotations

from typing import Any

import pytest
from poke_env.battle.move import Move
from poke_env.battle.pokemon import Pokemon
from poke_env.player.battle_order import DefaultBattleOrder, SingleBattleOrder

from agents.battle.choices import Choice, legal_choices, read_answer

Request = dict[str, Any]


def mon(name: str, *, active: bool = False, condition: str = "100/100", nickname: str = "", **more: Any) -> Request:
    return {
        "ident": f"p1: {nickname or name}", "details": f"{name}, L50, M", "condition": condition, "active": active, **more
    }  # fmt: skip


def move(name: str, **more: Any) -> Request:
    return {"move": name, "id": "".join(c for c in name.lower() if c.isalnum()), **more}


BENCH = [mon("Pikachu", active=True), mon("Snorlax"), mon("Mr. Mime"), mon("Onix", condition="0 fnt")]


def request(*moves: Request, team: list[Request] = BENCH, **active: Any) -> Request:
    return {"active": [{"moves": list(moves), **active}], "side": {"pokemon": team}}


FOUR = (move("Thunderbolt"), move("Surf"), move("Hidden Power Ice", id="hiddenpower"), move("Return 102", id="return"))


def words(asked: Request) -> list[str]:
    return [choice.label for choice in legal_choices(asked)]


def wires(asked: Request) -> list[str]:
    return [choice.wire for choice in legal_choices(asked)]


class TestLegalChoices:
    def test_moves_come_first_then_the_healthy_on_the_bench(self) -> None:
        asked = request(move("Thunderbolt"), move("Surf"))
        assert words(asked) == ["move thunderbolt", "move surf", "switch snorlax", "switch mrmime"]
        assert wires(asked) == ["move 1", "move 2", "switch 2", "switch 3"]
        assert [choice.kind for choice in legal_choices(asked)] == ["move", "move", "switch", "switch"]

    def test_a_disabled_move_is_left_out_and_the_others_keep_their_slots(self) -> None:
        asked = request(move("Thunderbolt", disabled=True), move("Surf"), team=BENCH[:1])
        assert (words(asked), wires(asked)) == (["move surf"], ["move 2"])

    def test_the_trapped_cannot_switch(self) -> None:
        assert words(request(move("Surf"), trapped=True)) == ["move surf"]

    def test_the_maybe_trapped_may_try(self) -> None:
        assert "switch snorlax" in words(request(move("Surf"), maybeTrapped=True))

    @pytest.mark.parametrize("name", ["Recharge", "Struggle", "Fight"])
    def test_a_forced_move_is_the_only_one(self, name: str) -> None:
        assert words(request(move(name), trapped=True)) == [f"move {name.lower()}"]

    def test_a_forced_switch_offers_no_moves(self) -> None:
        fainted = [mon("Pikachu", active=True, condition="0 fnt"), *BENCH[1:]]
        asked = {"forceSwitch": [True], "side": {"pokemon": fainted}}
        assert words(asked) == ["switch snorlax", "switch mrmime"]

    def test_revival_blessing_offers_the_fainted_only(self) -> None:
        reviving = [mon("Pawmot", active=True, reviving=True), *BENCH[1:]]
        assert words({"forceSwitch": [True], "side": {"pokemon": reviving}}) == ["switch onix"]

    def test_who_waits_has_no_choice(self) -> None:
        assert legal_choices({"wait": True, "side": {"pokemon": BENCH}}) == []

    def test_at_team_preview_each_may_lead(self) -> None:
        asked = {"teamPreview": True, "side": {"pokemon": BENCH}}
        assert words(asked) == ["team 1234", "team 2134", "team 3124", "team 4123"]

    def test_two_of_the_same_species_are_told_apart_by_their_slot(self) -> None:
        asked = request(move("Surf"), team=[BENCH[0], mon("Ditto"), mon("Ditto", nickname="Other")])
        assert words(asked) == ["move surf", "switch ditto", "switch ditto #3"]
        assert wires(asked) == ["move 1", "switch 2", "switch 3"]

    @pytest.mark.parametrize(
        ("flag", "word"),
        [
            ("canMegaEvo", "mega"), ("canMegaEvoX", "megax"), ("canMegaEvoY", "megay"), ("canUltraBurst", "ultra"),
            ("canDynamax", "dynamax"), ("canTerastallize", "terastallize"),
        ],
    )  # fmt: skip
    def test_an_extra_goes_with_every_usable_move(self, flag: str, word: str) -> None:
        asked = request(move("Surf"), move("Fly", disabled=True), move("Cut"), team=BENCH[:1], **{flag: "Water"})
        assert words(asked) == ["move surf", "move cut", f"move surf {word}", f"move cut {word}"]
        assert wires(asked) == ["move 1", "move 3", f"move 1 {word}", f"move 3 {word}"]

    def test_a_z_move_goes_with_the_moves_that_have_one(self) -> None:
        z_moves = [None, {"move": "Hydro Vortex", "target": "normal"}]
        asked = request(move("Cut"), move("Surf"), team=BENCH[:1], canZMove=z_moves)
        assert words(asked) == ["move cut", "move surf", "move surf zmove"]

    def test_a_disabled_move_has_its_z_move_and_its_max_move(self) -> None:
        """A choice item, Disable, Torment: Showdown accepts them, and they are used."""
        listed = (move("Cut"), move("Surf", disabled=True), move("Taunt", disabled=True))
        z_moves = [None, {"move": "Hydro Vortex", "target": "normal"}, None]
        assert words(request(*listed, team=BENCH[:1], canZMove=z_moves)) == ["move cut", "move surf zmove"]
        shown = [{"move": "maxstrike"}, {"move": "maxgeyser"}, {"move": "maxguard", "disabled": True}]
        asked = request(*listed, team=BENCH[:1], canDynamax=True, maxMoves={"maxMoves": shown})
        assert words(asked) == ["move cut", "move cut dynamax", "move surf dynamax"]
        dynamaxed = request(*listed, team=BENCH[:1], maxMoves={"maxMoves": shown})
        assert (words(dynamaxed), wires(dynamaxed)) == (["move cut", "move surf"], ["move 1", "move 2"])


class TestReadAnswer:
    ASKED = request(*FOUR, canTerastallize="Electric")
    LEGAL = legal_choices(ASKED)

    def read(self, answer: Any) -> str | None:
        choice = read_answer(answer, self.LEGAL, self.ASKED)
        assert choice is None or choice in self.LEGAL
        return choice.wire if choice else None

    def test_every_legal_choice_means_itself_as_object_words_and_wire(self) -> None:
        for choice in self.LEGAL:
            for answer in (choice, choice.label, choice.wire, f"/choose {choice.wire}", f" {choice.label} "):
                assert read_answer(answer, self.LEGAL, self.ASKED) == choice

    @pytest.mark.parametrize(
        ("answer", "wire"),
        [
            ("move Thunderbolt", "move 1"),
            ("/choose move thunderbolt terastallize", "move 1 terastallize"),
            ("move hiddenpower", "move 3"),
            ("move hiddenpowerice", "move 3"),
            ("move return", "move 4"),
            ("move return102", "move 4"),
            ("switch Snorlax", "switch 2"),
            ("switch Mr. Mime", "switch 3"),
            ("switch mrmime", "switch 3"),
            ("default", "move 1"),
            ("/choose default", "move 1"),
            (Move("thunderbolt", gen=9), "move 1"),
            (SingleBattleOrder(Move("surf", gen=9)), "move 2"),
            (SingleBattleOrder(Move("surf", gen=9), terastallize=True), "move 2 terastallize"),
            (SingleBattleOrder(Pokemon(gen=9, species="snorlax", name="Snorlax")), "switch 2"),
            (Pokemon(gen=9, species="snorlax", name="Snorlax"), "switch 2"),
            (DefaultBattleOrder(), "move 1"),
        ],
    )
    def test_what_an_answer_means(self, answer: Any, wire: str) -> None:
        assert self.read(answer) == wire

    @pytest.mark.parametrize(
        "answer",
        [
            None, 3, b"move 1", ["move 1"], {}, "", "move", "switch", "move 5", "move 0", "move cut", "move surf mega",
            "switch 1", "switch 4", "switch onix", "switch 9", "team 123456", "dance", "/forfeit", "move 1, move 2",
            Choice("move surf mega", "move 2 mega", "move", 2, "mega"), Move("cut", gen=9),
            Pokemon(gen=9, species="onix", name="Onix"),
        ],
    )  # fmt: skip
    def test_what_is_not_legal_means_nothing(self, answer: Any) -> None:
        assert self.read(answer) is None

    def test_a_nickname_goes_before_a_species(self) -> None:
        asked = request(move("Surf"), team=[BENCH[0], mon("Ditto", nickname="Blob"), mon("Mew", nickname="Ditto")])
        assert read_answer("switch Ditto", legal_choices(asked), asked).wire == "switch 3"  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        ("answer", "wire"),
        [
            ("team 4321", "team 4321"), ("/team 4321", "team 4321"), ("team 4, 3, 2, 1", "team 4321"),
            ("team 3", "team 3124"), ("team 43", "team 4312"), ("default", "team 1234"),
        ],
    )  # fmt: skip
    def test_at_team_preview_any_order_can_be_said(self, answer: str, wire: str) -> None:
        asked = {"teamPreview": True, "side": {"pokemon": BENCH}}
        choice = read_answer(answer, legal_choices(asked), asked)
        assert choice is not None and choice.wire == wire

    @pytest.mark.parametrize("answer", ["team 5", "team 11", "team 0123", "team", "team x", "move 1", "switch 2"])
    def test_at_team_preview_no_other_order_can(self, answer: str) -> None:
        asked = {"teamPreview": True, "side": {"pokemon": BENCH}}
        assert read_answer(answer, legal_choices(asked), asked) is None
