"""scripts/parity/engine_parity.py: its policies, the count of branches, and the ledger by which a stopped range resumes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba")

from support.scripts import script

from agents.engine.gen1.tables import MOVE_IDS

engine_parity = script("parity/engine_parity.py")
engine_ranges, engine_coverage = engine_parity.engine_ranges, engine_parity.engine_coverage
engine_ledger = engine_ranges.engine_ledger
RANGE = ("--battles", "3", "--seed", "11", "--policy", "rules")


@pytest.fixture
def parity(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the script in this process: (exit code, what it printed)."""

    def run(*words: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["engine_parity.py", *words])
        code = engine_ranges.main(engine_parity.GAME, engine_parity.__doc__)
        out, err = capsys.readouterr()
        return code, out + err

    return run


@pytest.fixture(scope="module")
def rules() -> list[dict[str, Any]]:
    """Battles of rule players, and the counts behind them."""
    options = {"battles": 30, "seed": 4, "teams": "any", "policy": "rules", "coverage": True}
    played: list[dict[str, Any]] = engine_parity.oracle(options)
    return played


def test_rule_players_play_the_same_on_both(rules: list[dict[str, Any]]) -> None:
    battles = rules[:-1]
    assert len(battles) == 30
    assert engine_parity.compare(battles) == {}


def test_rule_players_end_battles_sooner_than_random_ones(rules: list[dict[str, Any]]) -> None:
    random = engine_parity.oracle({"battles": 30, "seed": 4, "teams": "any", "policy": "random"})
    lengths = [sum(len(battle["decisions"]) for battle in battles) for battles in (rules[:-1], random)]
    assert lengths[0] < lengths[1]


def test_a_policy_that_there_is_not_is_refused() -> None:
    with pytest.raises(engine_ranges.subprocess.CalledProcessError):
        engine_parity.oracle({"battles": 1, "seed": 1, "teams": "any", "policy": "clever"})


def test_counting_changes_no_battle(rules: list[dict[str, Any]]) -> None:
    uncounted = engine_parity.oracle({"battles": 30, "seed": 4, "teams": "any", "policy": "rules"})
    assert uncounted == rules[:-1]


def test_uses_are_counted_by_move_effect_and_state(rules: list[dict[str, Any]]) -> None:
    counts = rules[-1]["coverage"]
    assert set(counts["moves"]) <= set(MOVE_IDS)
    uses = {
        effect: counts["branches"].get(f"{effect}|plain", [0, 0])[0] for effect in ("sleep", "damage by the formula")
    }
    assert uses["damage by the formula"] > uses["sleep"] > 0
    for name, (used, happened) in counts["branches"].items():
        assert used >= happened, name
    # Nothing but Swift hits what is invulnerable, and Transform.
    assert counts["branches"].get("sleep|hid", [0, 0])[1] == 0


def test_every_move_has_an_effect(rules: list[dict[str, Any]]) -> None:
    effects: dict[str, set[str]] = {}
    for name in rules[-1]["coverage"]["branches"]:
        effect, state = name.split("|")
        effects.setdefault(effect, set()).add(state)
    assert set(effects) <= {branch["effect"] for branch in engine_coverage.branches()}
    assert sum(used for used, _ in rules[-1]["coverage"]["moves"].values()) > 500


def test_the_table_says_what_was_not_reached_and_what_cannot_be() -> None:
    branches = engine_coverage.branches()
    impossible = next(branch for branch in branches if branch["impossible"])
    possible = [branch for branch in branches if not branch["impossible"]]
    first, missing = possible[0], possible[-1]
    counts = {f"{branch['effect']}|{branch['state']}": [1200, 1200] for branch in possible[:-1]}
    shown = engine_coverage.report({"moves": {"surf": [1200, 9], "splash": [3, 0]}, "branches": counts})
    assert f"{len(possible) - 1} of {len(possible)} branches reached" in shown
    assert f"not reached: {missing['effect']}: {missing['state']}\n" in shown
    assert f"impossible, for {impossible['impossible']}:\n" in shown
    assert "REACHED" not in shown
    assert "splash 3" in shown.partition("uses (hits)")[0] and "surf 1" not in shown.partition("uses (hits)")[0]
    counts[f"{impossible['effect']}|{impossible['state']}"] = [1, 1]
    shown = engine_coverage.report({"moves": {}, "branches": counts})
    assert f"REACHED, though called impossible: {impossible['effect']}: {impossible['state']}" in shown
    assert first["effect"] in shown


def test_a_range_that_was_stopped_resumes_from_the_ledger(
    parity: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = tmp_path / "parity.jsonl"
    monkeypatch.setattr(engine_ranges, "CHUNK", 1)
    code, said = parity(*RANGE, "--battles", "2", "--ledger", str(ledger))
    assert code == 0 and "2 battles, " in said and "already" not in said
    first = ledger.read_text()
    ledger.write_text(first + '{"seed": 11, "tea')  # killed while it wrote
    code, said = parity(*RANGE, "--ledger", str(ledger))
    assert code == 0 and "2 battles are in" in said and "3 battles, " in said
    records = list(engine_ledger.read(ledger).values())
    assert [record["first"] for record in records] == [0, 1, 2]
    assert {record["differences"] for record in records} == {0}
    assert records[0]["engine"] == engine_parity.GAME.versions["engine"] and records[0]["showdown"] == "0.11.11"
    code, said = parity("--summary", str(ledger))
    assert code == 0 and f"3 battles, {sum(record['decisions'] for record in records)} decision points, 0 " in said


def test_a_difference_in_the_ledger_still_fails_the_range(parity: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "parity.jsonl"
    parity(*RANGE, "--ledger", str(ledger))
    (record,) = engine_ledger.read(ledger).values()
    engine_ledger.append(ledger, {**record, "differences": 1})
    for words in (("--summary", str(ledger)), (*RANGE, "--ledger", str(ledger))):
        code, said = parity(*words)
        assert code == 1 and "1 battles differ" in said


def test_coverage_is_kept_in_the_ledger_and_added_up(parity: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "parity.jsonl"
    parity(*RANGE, "--ledger", str(ledger))
    code, said = parity(*RANGE, "--coverage", "--ledger", str(ledger))
    assert code == 0 and "already" not in said  # it was not counted the first time
    (record,) = engine_ledger.read(ledger).values()
    engine_ledger.append(ledger, {**record, "seed": 12})
    _, twice = parity("--summary", str(ledger))
    used = max(record["coverage"]["moves"].items(), key=lambda item: item[1])
    assert f"{used[0]} {2 * used[1][0]} (" in twice


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("--teams", "nosuchteams"), "nosuchteams"),
        (("--summary", "absent.jsonl"), "absent.jsonl has no records"),
        (("--ledger", "notes.txt"), "notes.txt, line 1 is no record"),
        (("--ledger", "absent/ledger.jsonl"), "--ledger absent/ledger.jsonl cannot be written: No such file"),
        (("--summary", "."), ". cannot be read as a ledger"),
        (("--battles", "0"), "--battles 0: must be 1 or more"),
        (("--battles", "-3"), "--battles -3: must be 1 or more"),
        (("--workers", "0"), "--workers 0: must be 1 or more"),
    ],
)
def test_bad_input_ends_with_one_line(
    parity: Any, words: tuple[str, ...], names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text(json.dumps({"bought": "bread"}) + "\n")
    code, said = parity("--battles", "1", *words)
    assert code == 2 and names in said and said.count("\n") == 1


@pytest.mark.parametrize("teams", ["any", "random", "competitive", "variety:4"])
def test_every_source_of_teams_is_played(teams: str) -> None:
    options = {"battles": 2, "seed": 3, "policy": "rules", "teams": teams}
    assert engine_parity.compare(engine_parity.oracle(options)) == {}


def test_a_difference_of_a_policy_that_remembers_is_explained_by_the_same_battle() -> None:
    options = {"battles": 4, "seed": 3, "teams": "any", "policy": "rare"}
    battles = engine_parity.oracle(options)
    battles[3]["decisions"][6][0] ^= 1
    shown = engine_parity.explain(options, battles[3], 6)
    # The battle itself is equal: no number is named, and the legal actions are those of the record.
    head, numbers, *_ = shown.splitlines()
    assert head.endswith(f"legal {battles[3]['decisions'][6][1:3]}, not {battles[3]['decisions'][6][1:3]}")
    assert numbers == ""
