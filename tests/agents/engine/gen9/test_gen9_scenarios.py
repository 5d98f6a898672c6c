"""scripts/parity/gen9_scenarios.py: written situations are played alike, and what it would say if they were not."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import yaml
from support.command_line import PROJECT
from support.compilers import need_compiler
from support.scripts import script

from agents.engine.gen9.engine import Engine, records
from teamsets.errors import BadInput

need_compiler()

scenarios = script("parity/gen9_scenarios.py")
#: Of the rings, what no situation can be about, and why.
NO_SITUATION = {"healer": "heals its allies: of doubles"}
TOXIC = {
    "name": "Toxic poisons",
    "of": "toxic",
    "p1": "blissey @leftovers (healer) sleeptalk | level=50 evs=hp252/spe4 nature=Bold gender=F ivs=atk0 tera=Ghost",
    "p2": ["toxapex (regenerator) toxic", "corviknight (pressure) roost"],
    "turns": ["sleeptalk / toxic", "sleeptalk / toxic x2"],
}


def one(**fields: Any) -> Any:
    """A situation in which Toxapex poisons Blissey, with other fields."""
    return scenarios.situation("moves", TOXIC | fields)


def test_some_situations_of_each_kind_are_played_alike() -> None:
    chosen = scenarios.situations()[::16]
    assert {situation.kind for situation in chosen} == set(scenarios.KINDS)
    results, unread = scenarios.play(chosen, seeds=1)
    assert not unread and sum(result.decisions for result in results) > 4 * len(chosen)
    assert [result.shown for result in results if result.different] == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", scenarios.KINDS)
def test_every_situation_is_played_alike_and_as_written(kind: str) -> None:
    chosen = scenarios.situations([kind])
    results, unread = scenarios.play(chosen)
    assert not unread
    differing = {situation.name for situation, result in zip(chosen, results, strict=True) if result.different}
    assert differing == {situation.name for situation in chosen if situation.differs}
    assert [situation.name for situation, result in zip(chosen, results, strict=True) if not result.written] == []


def test_every_ability_item_and_move_of_the_rings_has_a_situation() -> None:
    about = {id for situation in scenarios.situations() for id in situation.of}
    played = scenarios.gen9_parity.gen9_teams.played()
    assert {id for kind in ("abilities", "items", "moves") for id in played[kind]} - about == NO_SITUATION.keys()


def test_a_pokemon_is_packed_as_showdown_packs_it() -> None:
    assert one().teams == (
        "blissey||leftovers|healer|sleeptalk|Bold|252,0,0,0,0,4|F|31,0,31,31,31,31||50|,,,,,Ghost",
        "toxapex|||regenerator|toxic|Serious|84,84,84,84,84,84||31,31,31,31,31,31|||,,,,,Normal]"
        "corviknight|||pressure|roost|Serious|84,84,84,84,84,84||31,31,31,31,31,31|||,,,,,Normal",
    )
    assert one().turns == 3 * [["sleeptalk", "toxic"]]
    assert one(showdown=["moves/toxic x2", "misc/statuses"]).showdown == {"moves/toxic": 2, "misc/statuses": 1}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"p1": "blissey sleeptalk"}, "is no Pokémon"),
        ({"p1": "blissey (healer) sleeptalk | speed=3"}, "is no Pokémon"),
        ({"p1": "blissey (healer) sleeptalk | evs=speed3"}, "the stats are"),
        ({"turns": ["sleeptalk"]}, "is no turn"),
        ({"of": "toxic doubleteam"}, "the engine knows no doubleteam"),
        ({"expected": "poison"}, "the keys are"),
    ],
)
def test_what_is_no_situation_is_refused_by_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=f"moves.yaml, Toxic poisons: .*{message}"):
        one(**fields)


def test_a_choice_that_cannot_be_made_is_seen() -> None:
    lines = ["sleeptalk / roost", "sleeptalk / switch corviknight", "send blissey / roost"]
    (result,), _ = scenarios.play([one(turns=lines)], seeds=1)
    assert (result.written, result.different) == (0, 0)
    assert result.other == "turn 1: sleeptalk / roost; turn 3: send blissey / roost"


def test_a_difference_is_counted_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    parity, right = scenarios.gen9_parity, scenarios.gen9_parity.started

    def wrong(battles: list[dict[str, Any]]) -> Engine:
        engine: Engine = right(battles)
        records(engine.words)["sides"]["pokemon"][:, 0, 0]["hp"] -= 1
        return engine

    monkeypatch.setattr(parity, "started", wrong)
    chosen = [one(), one(name="Toxic poisons again", differs="Its HP are wrong.")]
    results, _ = scenarios.play(chosen, seeds=1)
    assert [result.different for result in results] == [1, 1]
    assert "sides.0.pokemon.0.hp: 361, Showdown 362" in results[1].shown
    assert scenarios.table(chosen, results).splitlines()[-1].endswith("| 2 | 1 |")


def test_situations_are_played_until_what_they_are_about_has_acted_often_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acted = iter([3, 4, 0])  # of toxic, in three rounds
    monkeypatch.setattr(scenarios.gen9_coverage, "counts", lambda: {"moves": {"toxic": [9, next(acted)]}})
    monkeypatch.setattr(scenarios, "ROUND", 2)
    total: dict[str, Any] = {"moves": {"sleeptalk": [50, 50]}}
    results, unread = scenarios.play_until([one(), one(name="Sleep", of="sleeptalk")], 50, scenarios.Manner(), total)
    assert unread == [] and list(results) == ["Toxic poisons"] and results["Toxic poisons"].battles == 6
    assert total["moves"]["toxic"] == [27, 7]
    found = scenarios.reached([one(), one(name="Sleep", of="sleeptalk")], 50, total)
    assert found == "1 of 2 acted 50 times or more; given up: toxic 7"


def test_what_of_showdowns_tests_is_not_played_is_listed_with_reasons() -> None:
    listed = yaml.safe_load(scenarios.NOT_PLAYED.read_text())
    used = {reason for counts in listed["files"].values() for reason in counts}
    assert used == listed["reasons"].keys()
    assert {file for situation in scenarios.situations() for file in situation.showdown} <= listed["files"].keys()
    assert "of them played" in scenarios.showdowns()


@pytest.mark.slow
def test_the_command_plays_what_is_asked_for() -> None:
    command = [sys.executable, str(PROJECT / "scripts/parity/gen9_scenarios.py")]
    done = subprocess.run([*command, "items", "--only", "custapberry"], capture_output=True, text=True, cwd=PROJECT)
    assert done.returncode == 0 and "| items | 3 | 12 |" in done.stdout
    done = subprocess.run([*command, "--only", "splash"], capture_output=True, text=True, cwd=PROJECT)
    assert done.returncode == 2
    assert done.stderr == "gen9_scenarios: --only splash: no situation is called so or is about it.\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "0"], "--seeds 0: must be 1 or more."),
        (["--after", "-1"], "--after -1: must be 0 or more."),
        (["--ledger", "x.jsonl"], "--ledger: what acted there counts for --until alone: add it."),
        (["--until", "5", "--ledger", "/none/x.jsonl"], "--ledger /none/x.jsonl: no such file."),
    ],
)
def test_options_that_cannot_be_are_refused(
    options: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["gen9_scenarios.py", "items", *options])
    monkeypatch.setattr(scenarios.gen9_coverage, "compile_counting", lambda: None)
    assert scenarios.main() == 2
    assert capsys.readouterr().err == f"gen9_scenarios: {message}\n"
