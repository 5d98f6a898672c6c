"""Metamon's parsed trajectories: from its files to what a model learns from."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from support.command_line import Said, run_arena
from support.made_logs import replays
from support.metamon_files import in_play, mon, move, state, write

from agents.observation.vocabulary import vocabulary
from arena.replays.reading import UnusableReplay
from training.data.from_store import selected, sides, trajectory
from training.data.metamon.export import states_and_actions
from training.data.metamon.files import metamon_trajectories, parsed_files, people_trajectories, read_states
from training.data.metamon.log import side_log
from training.data.replay_import import Filters
from training.data.shards import BadData
from training.data.trajectory import MISSING, Trajectory

WON = "gen9ou-77_1512_Ann_vs_Bob_03-31-2024_WIN.json.lz4"
LOST = "metamon-gen9ou-0123456789_Unrated_Big_Model_vs_Bob_04-02-2024-10:20:30_LOSS.json.lz4"
TUSK = [move("earthquake"), move("icespinner", 24, 24), move("knockoff", 32, 32), move("rapidspin", 64, 64)]


def imported(*paths: Path, filters: Filters | None = None, **more: Any) -> tuple[list[Trajectory], dict[str, int]]:
    """The trajectories of some files, and what was left out."""
    refused: Counter[str] = Counter()
    return list(metamon_trajectories(list(paths), filters or Filters(), refused, **more)), dict(refused)


def battle() -> tuple[list[dict[str, Any]], list[int]]:
    """Five decisions: Earthquake with terastallizing, a switch, an action that was not revealed, a forced switch, a move."""
    kept = {"item": "leftovers", "ability": "protosynthesis", "types": "fighting ground", "tera_type": "steel"}
    tusk = mon("greattusk", *TUSK, **kept)
    worn = tusk | {"moves": [move("earthquake", 15), *TUSK[1:]], "types": "notype steel", "hp_pct": 0.6}
    dragon = mon(
        "dragonite", move("extremespeed", 8, 8), types="dragon flying", tera_type="normal", item="heavydutyboots"
    )
    fallen = dragon | {"hp_pct": 0.0, "status": "fnt"}
    cat = mon("chienpao", move("iciclecrash"), types="dark ice", tera_type="ice")
    rest = [mon("chiyu"), mon("slowkinggalar", base_species="slowking"), mon("kingambit")]
    drake = mon("dragapult", types="dragon ghost")
    shown = mon("dragapult", move("dracometeor", 7, 8), types="dragon ghost", spa_boost=-2, hp_pct=0.5)
    later = {"can_tera": False, "opponent_prev_move": move("dracometeor")}
    states = [
        state(tusk, drake, [dragon, cat, *rest], opponent_teampreview=["dragapult", "kingambit"]),
        state(worn, shown, [dragon, cat, *rest], **later),
        state(dragon | {"hp_pct": 0.4}, shown, [worn, cat, *rest], weather="raindance", **later),
        state(fallen, shown, [worn, cat, *rest], forced_switch=True, weather="raindance", **later),
        state(cat, shown, [worn, *rest], opponent_conditions="stealthrock", **later),
        state(cat, shown | {"hp_pct": 0.0, "status": "fnt"}, [worn, *rest], battle_won=True, **later),
    ]
    return states, [9, 6, -1, 4, 0, -1]


@pytest.mark.slow
def test_a_battle_that_metamon_kept_is_seen_as_we_kept_it(played: Path, tmp_path: Path) -> None:
    same: dict[str, list[bool]] = {}
    for number, side in enumerate(sides(played, selected(played, "format IN ('gen1ou', 'gen9ou')"))):
        truth = trajectory(side)
        if truth is None:
            continue
        truth = in_play(truth)
        result = "WIN" if side.score == 1 else "LOSS"
        path = write(
            tmp_path / f"{side.format}-{number}_1500_A_vs_B_01-31-2024_{result}.json.lz4", *states_and_actions(side)
        )
        (made,), refused = imported(path)
        assert not refused and len(made) == len(truth) and made.result == float(side.score == 1)
        assert made.legal[np.arange(len(made)), made.actions][made.actions != MISSING].all()
        known = truth.actions != MISSING
        same.setdefault("actions", []).extend(made.actions[known] == truth.actions[known])
        same.setdefault("legal", []).extend((made.legal == truth.legal).all(axis=1))
        parts = {
            "field": [0],
            "sides": [1, 2],
            "ours": [3],
            "our bench": range(4, 9),
            "theirs": [9],
            "moves": range(15, 19),
        }
        for part, tokens in parts.items():
            for token in tokens:
                there = (made.token_ids[:, token] > 0) | (truth.token_ids[:, token] > 0)
                same.setdefault(part, []).extend((made.token_ids == truth.token_ids)[:, token][there])
                near = np.isclose(made.features[:, token], truth.features[:, token], atol=0.03)
                same.setdefault(part, []).extend(near[(truth.features[:, token] != 0)])
    shares = {part: float(np.mean(values)) for part, values in same.items()}
    assert len(same["actions"]) > 300
    assert shares["actions"] > 0.995 and shares["legal"] > 0.98, shares
    assert all(share > 0.95 for share in shares.values()), shares


def test_what_was_chosen_is_found_by_its_meaning(tmp_path: Path) -> None:
    (one,), refused = imported(write(tmp_path / WON, *battle()))
    words = vocabulary().region("species")
    assert not refused and one.result == 1.0 and len(one) == 5
    assert list(one.actions[[0, 2]]) == [9, MISSING]  # Earthquake is the first of its moves
    assert (
        one.token_ids[4, 15 + one.actions[4], 0] == vocabulary().region("moves")["iciclecrash"]
    )  # the others were drawn
    bench = [list(one.token_ids[place, 4:9, 0]) for place in range(5)]
    assert bench[1][one.actions[1] - 4] == words["dragonite"]
    # Metamon's order is that of chienpao and chiyu, ours that of Chi-Yu and Chien-Pao.
    assert one.actions[3] == 5 and bench[3][1] == words["chienpao"]
    assert one.legal[0, 9:13].all() and not one.legal[1:, 9:13].any()
    assert list(np.flatnonzero(one.legal[3])) == [4, 5, 6, 7, 8] and one.features[3, 0, 3] == 1.0
    weathers = vocabulary().region("weathers")
    assert list(one.token_ids[:, 0, 1]) == [weathers.none] * 2 + [weathers["raindance"]] * 2 + [weathers.none]
    assert one.features[4, 2, 1] == 1.0 and one.features[4, 1, 1] == 0.0  # Stealth Rock on their side
    assert list(one.token_ids[0, 9:11, 0]) == [words["dragapult"], words["kingambit"]]  # as the preview told
    assert one.features[1, 9, 29] == np.float16(-2 / 6)  # its special attack
    assert one.about["source"] == "metamon" and one.about["agent"] == "person" and one.about["rating"] == 1512


def test_files_of_older_versions_are_read_too(tmp_path: Path) -> None:
    ours = mon("tauros", *(move(name) for name in ("blizzard", "bodyslam", "earthquake", "hyperbeam")), item="noitem")
    used = ours | {"moves": [*ours["moves"][:3], move("hyperbeam", 15)]}
    foe, hurt = mon("chansey"), mon("chansey", hp_pct=0.5)
    states = [
        state(ours, foe, [mon("snorlax", move("bodyslam"))]),
        state(used, hurt, [mon("snorlax", move("bodyslam"))], player_prev_move=move("hyperbeam")),
        state(used, hurt, [mon("snorlax", move("bodyslam"))], player_prev_move=move("hyperbeam")),
        state(used, hurt, [mon("snorlax", move("bodyslam"))], player_prev_move=move("hyperbeam"), battle_lost=True),
    ]
    for told in states:
        for key in ("can_tera", "opponent_teampreview"):
            del told[key]
        for each in (told["player_active_pokemon"], told["opponent_active_pokemon"], *told["available_switches"]):
            each.pop("base_species", None)
            each.pop("tera_type", None)
    path = write(tmp_path / "gen1ou-1_Unrated_Ann_vs_Bob_01-01-2015_LOSS.json.lz4", states, [0, -1, 4, -1])
    (one,), refused = imported(path)
    # Metamon tells the rest that follows in place of Hyper Beam; then there is nothing else to do.
    assert not refused and list(one.actions) == [3, 0, 4]
    assert list(np.flatnonzero(one.legal[1])) == [0] and one.features[1, 3, 35] == 1.0


def test_a_file_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    lz4 = pytest.importorskip("lz4.frame")
    path = tmp_path / WON
    path.write_bytes(lz4.compress(b'{"states":[' + b"[]," * 4_000_000 + b'[]],"actions":[]}'))
    with pytest.raises(UnusableReplay, match="JSON that contains more than 4,000,000 values"):
        read_states(path)


def test_files_that_cannot_be_used_are_counted_and_the_rest_is_taken(
    tmp_path: Path, train_command: Callable[..., Said]
) -> None:
    states, actions = battle()
    write(tmp_path / "gen9ou" / WON, states, actions)
    write(tmp_path / "gen9ou" / LOST, states, actions)
    whole = (tmp_path / "gen9ou" / WON).read_bytes()
    (tmp_path / "gen9ou" / WON.replace("-77", "-78")).write_bytes(whole[: len(whole) // 2])
    (tmp_path / "gen9ou" / WON.replace("-77", "-79")).write_bytes(b"no lz4")
    (tmp_path / "gen9ou" / "team.json.lz4").write_bytes(whole)
    write(tmp_path / "gen9ou" / WON.replace("-77", "-80"), [{"format": "gen9ou"}] * 6, actions)
    write(tmp_path / "gen9ou" / WON.replace("-77", "-81"), states, actions[:-1])
    disguised = [told | {"opponent_active_pokemon": mon("zoroark")} for told in states]
    write(tmp_path / "gen9ou" / WON.replace("-77", "-82"), disguised, actions)
    write(tmp_path / "gen9ou" / WON.replace("gen9ou", "gen9doublesou"), states, actions)
    said = train_command("data", "import", tmp_path, "--out", tmp_path / "made", "--json")
    assert said.code == 0, said.err
    told = json.loads(said.out)
    assert told["by"]["result"] == {"won": 1, "lost": 1} and told["decisions"] == 10
    assert told["by"]["agent"] == {"person": 1, "Big_Model": 1}
    assert told["left_out"] == {
        "lz4 that is damaged or cut off": 2,
        "a name that is not metamon's": 1,
        "states of another form": 1,
        "states and actions that do not match": 1,
        "unknown format": 1,
        "a Pokémon with Illusion: the active Pokémon is ambiguous": 1,
    }


@pytest.mark.parametrize(
    ("filters", "results", "left", "reason"),
    [
        (Filters(least_rating=1500), (0.0, 1.0), [1.0], "not rated"),
        (Filters(least_rating=1600), (1.0,), [], "rated below 1600"),
        (Filters(since=1712000000.0), (0.0, 1.0), [0.0], "outside the dates"),
        (Filters(format_id="gen1ou"), (0.0, 1.0), [], "another format"),
        (Filters(ends=("win",)), (0.0, 1.0), [], "unknown how it ended"),
        (Filters(least_turns=5), (0.0, 1.0), [], "fewer than 5 turns"),
        (Filters(), (1.0,), [1.0], "another result"),
    ],
)
def test_filters_take_what_names_and_states_tell(
    tmp_path: Path, filters: Filters, results: tuple[float, ...], left: list[float], reason: str
) -> None:
    for name in (WON, LOST):
        write(tmp_path / name, *battle())
    found, refused = imported(*parsed_files(tmp_path), filters=filters, results=results)
    assert [one.result for one in found] == left
    assert reason in refused


def test_a_folder_may_hold_replays_too(tmp_path: Path) -> None:
    folder = replays(tmp_path / "people")
    write(folder / "gen9ou" / WON, *battle())
    refused: Counter[str] = Counter()
    found = list(people_trajectories(folder, Filters(), refused, results=(0.0, 1.0)))
    assert Counter(one.about["source"] for one in found) == {"replay": 4, "metamon": 1}
    assert dict(refused) == {"truncated: no end in the log": 1}


def test_several_processes_make_the_same(tmp_path: Path) -> None:
    for number in range(120):
        write(tmp_path / WON.replace("-77", f"-{number}"), *battle())
    paths = parsed_files(tmp_path)
    (many, _), (few, _) = imported(*paths, workers=2), imported(*paths, workers=1)
    assert [one.about for one in many] == [one.about for one in few] and len(many) == 120
    assert all(
        np.array_equal(a.token_ids, b.token_ids) and np.array_equal(a.features, b.features)
        for a, b in zip(many, few, strict=True)
    )


def test_without_lz4_one_line_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arena: Callable[..., Any]
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / WON).write_bytes(b"")
    monkeypatch.setitem(sys.modules, "lz4.frame", None)
    with pytest.raises(BadData, match="need the package lz4: `make training` installs it"):
        imported(tmp_path / "files" / WON)
    hidden = tmp_path / "hidden"
    (hidden / "lz4").mkdir(parents=True)
    (hidden / "lz4" / "__init__.py").write_text("raise ImportError('not here')\n")
    words = ("data", "import", tmp_path / "files", "--out", tmp_path / "made")
    said = run_arena(*words, program="train", PYTHONPATH=f"{hidden}:{Path.cwd()}")
    assert said.code == 2 and "pip install lz4" in said.err and said.err.strip().count("\n") == 0
    assert not (tmp_path / "made").exists()


def test_what_is_neither_won_nor_lost_is_no_loss(tmp_path: Path) -> None:
    states, actions = battle()
    states[-1] = states[-1] | {"battle_won": False, "battle_lost": False}
    write(tmp_path / LOST, states, actions)
    found, refused = imported(*parsed_files(tmp_path))
    assert [one.result for one in found] == [0.5] and not refused
    for results, left in (((0.0,), []), ((0.5,), [0.5]), ((1.0,), [])):
        found, _ = imported(*parsed_files(tmp_path), results=results)
        assert [one.result for one in found] == left


@pytest.mark.parametrize("told", [{**move("hiddenpower"), "move_type": "ice"}, move("hiddenpowerice")])
def test_hidden_power_has_the_type_that_is_told(told: dict[str, Any]) -> None:
    """By its name or beside it; a log names no type."""
    first, second = (
        state(mon("zapdos", {**told, "current_pp": pp}, move("rest")), mon("jolteon", dict(told)), [], format="gen4ou")
        for pp in (16, 15)
    )
    log = side_log([first, second, {**second, "battle_won": True}], [0, 0, -1], "gen4ou", "seed")
    request = next(orjson.loads(line[9:]) for line in log.lines if line.startswith("|request|"))
    assert request["active"][0]["moves"][0]["move"] == "Hidden Power Ice 70"
    assert request["side"]["pokemon"][0]["moves"][0] == "hiddenpowerice"
    assert log.choices[0] == "move hiddenpower"
    assert any(line.startswith("|move|") and "|Hidden Power|" in line for line in log.lines)
