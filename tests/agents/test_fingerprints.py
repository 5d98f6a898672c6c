"""Fingerprints: each file that an agent's step may run or read changes that agent's, and no other's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.command_line import PROJECT

from agents import coached, fingerprint, resolve

RANDOM, MAX_POWER, MAX_DAMAGE, EXPERT = "random", "heuristic:max-power", "heuristic:max-damage", "heuristic:expert"
EMERALD, STALLER, SEARCH, NETWORK = "heuristic:emerald", "heuristic:staller", "search:mcts", "policy:gen1ou-tiny"
POKE_ENV, COACHED = "poke-env:RandomPlayer", "coached?learner=random&coach=heuristic:max-power"
FORMULA = {MAX_POWER, MAX_DAMAGE, EXPERT, EMERALD, STALLER, SEARCH, NETWORK, COACHED}
ALL = FORMULA | {RANDOM, POKE_ENV}
ONES_OWN = {
    "agents/battle/seat_battle.py": ALL,
    "agents/battle/choices.py": ALL,
    "agents/contract.py": ALL,
    "agents/poke_env_adapter.py": {POKE_ENV},
    "agents/registry.py": set(),
    "agents/fingerprint.py": set(),
    "agents/__init__.py": set(),
    "agents/coached.py": {COACHED},
    "agents/rules/__init__.py": set(),
    "agents/rules/uniform.py": {RANDOM, COACHED},
    "agents/mechanics/damage.py": FORMULA - {NETWORK},
    "agents/mechanics/modifiers.py": FORMULA,
    "agents/mechanics/moves.py": FORMULA,
    "agents/mechanics/fighters.py": FORMULA,
    "agents/mechanics/sets.py": FORMULA,
    "agents/mechanics/type_chart.py": FORMULA,
    "agents/rules/turn_view.py": {MAX_POWER, MAX_DAMAGE, EMERALD, STALLER, COACHED},
    "agents/rules/simple_players.py": {MAX_POWER, COACHED},
    "agents/rules/damage_players.py": {MAX_DAMAGE},
    "agents/rules/game_trainers.py": {EMERALD},
    "agents/rules/support_players.py": {MAX_DAMAGE, EMERALD, STALLER},
    "agents/mechanics/matchups.py": {EXPERT, SEARCH},
    "agents/rules/expert.py": {EXPERT},
    "agents/mechanics/pokemon_worth.py": {EXPERT, SEARCH},
    "agents/mechanics/preview.py": {EXPERT, SEARCH},
    "agents/mechanics/status.py": {EXPERT, EMERALD, STALLER, MAX_DAMAGE},
    "agents/rules/planner.py": {EXPERT},
    "agents/search/__init__.py": set(),
    "agents/search/poke_engine/mcts.py": {SEARCH},
    "agents/search/poke_engine/engine.py": {SEARCH},
    "agents/search/poke_engine/serve.py": {SEARCH},
    "agents/mechanics/set_sampling.py": {SEARCH},
    "agents/search/poke_engine/state.py": {SEARCH},
    "agents/search/weights/gen1.txt": {SEARCH},
    "agents/policy/player.py": {NETWORK},
    "agents/policy/serve.py": {NETWORK},
    "agents/policy/network.py": {NETWORK},
    "agents/observation/estimates.py": {NETWORK},
    "agents/observation/vocabulary.json": {NETWORK},
    "agents/policy/shipped/gen1ou-tiny/README.md": set(),
    "agents/external/command.py": set(),
    "teamsets/builder/published.py": FORMULA,
    "teamsets/builder/competitive.py": set(),
    "teamsets/competitive/gen1ou/01-zapdos-cloyster.txt": {SEARCH},
    "teamsets/validator.mjs": set(),
}


@pytest.fixture(autouse=True)
def read_anew() -> Iterator[None]:
    """Each test reads the files itself, and leaves nothing of what it has changed."""
    _forget(imports=False)
    yield
    _forget(imports=False)


def _forget(imports: bool = True) -> None:
    """As if the process had just begun. imports: which file imports which, too."""
    for kept in (fingerprint._content, coached._source):
        kept.cache_clear()
    if imports:
        for kept in (fingerprint._closure, fingerprint._facts, fingerprint._data, fingerprint._located):
            kept.cache_clear()


def prints(specs: set[str], imports: bool = True) -> dict[str, str]:
    """Each spec's fingerprint, the files read anew."""
    _forget(imports)
    return {spec: resolve(spec).fingerprint for spec in specs}


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    return prints(ALL)


@pytest.mark.parametrize("name", ONES_OWN)
def test_a_changed_file_changes_whose_step_it_is_in_and_nobody_else(
    name: str, before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read, changed = fingerprint._read, PROJECT / name
    assert changed.is_file()
    monkeypatch.setattr(fingerprint, "_read", lambda path: read(path) + b"\n" * (path == changed))
    after = prints(ALL, imports=False)
    assert {spec for spec in ALL if after[spec] != before[spec]} == ONES_OWN[name]


def test_the_version_of_an_installed_package_counts_whose_data_is_read_by_path(
    before: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fingerprint, "version", lambda package: f"another {package}")
    after = prints(ALL, imports=False)
    assert {spec for spec in ALL if after[spec] != before[spec]} == FORMULA


def test_a_file_is_read_once_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Path] = []
    read = fingerprint._read

    def counted(path: Path) -> bytes:
        reads.append(path)
        return read(path)

    monkeypatch.setattr(fingerprint, "_read", counted)
    prints(ALL)
    first = len(reads)
    assert all(reads.count(path) <= 2 for path in reads)  # once for its imports, once for its content
    for spec in ALL:
        assert resolve(spec).fingerprint
    assert len(reads) == first


def test_a_later_run_parses_only_the_files_that_have_changed_since(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = prints(ALL)
    parsed: list[bytes] = []
    parse, read, changed = ast.parse, fingerprint._read, PROJECT / "agents/mechanics/moves.py"

    def counted(source: bytes | str, *more: Any) -> Any:
        parsed.extend([source] if isinstance(source, bytes) else [])  # texts are others': importlib's, pytest's
        return parse(source, *more)

    def again() -> dict[str, str]:
        fingerprint.read_again()
        return {spec: resolve(spec).fingerprint for spec in ALL}

    monkeypatch.setattr(ast, "parse", counted)
    assert again() == earlier and not parsed
    edited = b"# this line is new\n" + read(changed)
    monkeypatch.setattr(fingerprint, "_read", lambda path: edited if path == changed else read(path))
    assert again() != earlier and parsed == [edited]


PLAYER = """
from agents import Agent
from . import helper
from .deep import THRESHOLD

class Roamer(Agent):
    def act(self, battle):
        import wanderer_neighbour
        from wanderer_bots.deep.tools import best
        return best(battle, helper, wanderer_neighbour)
"""
FILES = {
    "wanderer_bots/__init__.py": "",
    "wanderer_bots/player.py": PLAYER,
    "wanderer_bots/helper.py": "from agents.mechanics.type_chart import effectiveness\n",
    "wanderer_bots/other.py": "",
    "wanderer_bots/openings/table.json": "{}",
    "wanderer_bots/deep/__init__.py": "THRESHOLD = 1\n",
    "wanderer_bots/deep/tools.py": "import subprocess\nCHILD = 'child.py'\nMODULE = 'wanderer_worker'\n",
    "wanderer_bots/deep/child.py": "import wanderer_bots.deep.weights_reader\n",
    "wanderer_bots/deep/weights_reader.py": "",
    "wanderer_bots/deep/weights.bin": "0",
    "wanderer_neighbour.py": "",
    "wanderer_alone.py": "from agents import Agent\nimport wanderer_neighbour\nNAME = 'wanderer.txt'\n"
    "class Lone(Agent):\n    def act(self, battle): return battle.legal[0]\n",
    "wanderer.txt": "1",
    "wanderer_database.duckdb": "1",
}
THEIR_OWN = {
    "wanderer_bots/player.py": "package",
    "wanderer_bots/__init__.py": "package",
    "wanderer_bots/helper.py": "package",
    "wanderer_bots/other.py": "",
    "wanderer_bots/openings/table.json": "package",
    "wanderer_bots/deep/__init__.py": "package",
    "wanderer_bots/deep/tools.py": "package",
    "wanderer_bots/deep/child.py": "package",
    "wanderer_bots/deep/weights_reader.py": "package",
    "wanderer_bots/deep/weights.bin": "package",
    "wanderer_neighbour.py": "package alone",
    "wanderer_alone.py": "alone",
    "wanderer.txt": "alone",
    "wanderer_database.duckdb": "",
}


@pytest.fixture(scope="module")
def their_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("theirs")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("name", THEIR_OWN)
def test_a_users_agent_covers_its_helpers_and_its_data(
    name: str, their_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(their_folder))
    specs = {"package": "wanderer_bots.player:Roamer", "alone": "wanderer_alone:Lone"}
    first, kept = prints(set(specs.values())), (their_folder / name).read_text()
    try:
        (their_folder / name).write_text(kept + "\n")
        second = prints(set(specs.values()))
    finally:
        (their_folder / name).write_text(kept)
    changed = [word for word, spec in specs.items() if first[spec] != second[spec]]
    assert " ".join(changed) == THEIR_OWN[name]


def test_a_users_agent_covers_what_it_uses_of_ours_and_no_more(
    their_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(their_folder))
    from wanderer_bots.player import Roamer  # type: ignore[import-not-found]

    ours = {name for name in fingerprint.sources_of(Roamer) if name.startswith(("agents", "teamsets"))}
    package = Path(fingerprint.__file__).parent / "battle"
    doubles = {"joint_answers", "joint_choices", "quick_double_battle", "seat_double_battle"}  # the registry adds these
    unused = {"__init__", "previewed", *doubles}  # the second is asked by some agents only
    battle = {f"agents.battle.{path.stem}" for path in package.glob("*.py") if path.stem not in unused}
    assert ours == battle | {"agents.contract", "agents.mechanics.type_chart"}


def test_a_file_that_an_option_names_counts(tmp_path: Path) -> None:
    weights = tmp_path / "weights.txt"
    weights.write_text("value 1\n")
    spec = f"search:mcts?weights={weights}"
    first = prints({spec})
    weights.write_text("value 2\n")
    assert prints({spec}) != first
