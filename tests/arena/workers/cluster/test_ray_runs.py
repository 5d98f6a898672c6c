"""Runs on a Ray cluster: the battles are those of one machine, whatever happens to the cluster's machines."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.ray_cluster import SMALL, ray_cluster
from support.tournaments import first_difference, tournament

from arena.run.tournament import EvaluateSettings, PlayedRun, play_into
from arena.workers.progress import RunProgress

# Not `importorskip`: Ray reads its environment when it is imported (support/ray_cluster.py).
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: make ray"),
]

AGENTS = ("random", "heuristic:max-damage", "travelling_players:Reads?path=notes/line.txt")
FORMAT = "gen1randombattle"
#: Of each pairing, of three: enough that none of them has run out when the second machine has begun to play.
BATTLES = 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder: an agent that imports a module beside it, and reads a file that its option names."""
    made = tmp_path_factory.mktemp("mine")
    (made / "travelling_players.py").write_text(
        "from agents import Agent\n"
        "from travelling_helper import pick\n\n"
        "class Reads(Agent):\n"
        "    '''Picks by a number in a file.'''\n"
        "    def __init__(self, path: str = '') -> None:\n"
        "        self.number = int(open(path).read())\n\n"
        "    def act(self, battle):\n"
        "        return pick(battle.legal, self.number)\n"
    )
    (made / "travelling_helper.py").write_text("def pick(legal, number):\n    return legal[number % len(legal)]\n")
    (made / "notes").mkdir()
    (made / "notes" / "line.txt").write_text("5")
    return made


@pytest.fixture(scope="module")
def undisturbed(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    db = tmp_path_factory.mktemp("here") / "arena.duckdb"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        tournament(db, *AGENTS, formats=(FORMAT,), battles=BATTLES, workers=2, seed=5, think_limit=60.0)
    return db


def played_on_ray(db: Path, show: Callable[[RunProgress], None]) -> PlayedRun:
    settings = EvaluateSettings(
        agents=AGENTS, formats=(FORMAT,), battles=BATTLES, seed=5, rules={"think_limit": 60.0, "max_turns": 1000}
    )
    return play_into(db, settings, on="ray", show=show)


def test_a_killed_machine_costs_no_battle_and_a_new_one_is_used(
    undisturbed: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = tmp_path / "arena.duckdb"
    monkeypatch.chdir(folder)
    seen: list[dict[str, tuple[int, int]]] = []
    with ray_cluster() as (cluster, other):
        steps = iter((lambda: cluster.remove_node(other, allow_graceful=False), lambda: cluster.add_node(**SMALL)))

        def show(progress: RunProgress) -> None:
            """Called on the run's own loop: no battle is handed out while machines leave and join."""
            seen.append(dict(progress.nodes))
            if sum(played > 0 for _, played in progress.nodes.values()) == 2:
                next(steps, lambda: None)()

        played = played_on_ray(db, show)
    assert played.finished and played.progress.played == 3 * BATTLES
    assert any("their" in remark for remark in played.progress.remarks), "a machine was lost with battles in progress"
    assert not first_difference(undisturbed, db)
    assert max(map(len, seen)) == 3, "the display names the machine that joined, too"
