"""metamon's models as agents: with a stand-in for its environment, and with metamon itself where it is installed."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.command_line import PROJECT, TESTS, Said
from support.metamon_environment import needs_metamon, run_in_metamon
from support.real_battles import fixtures
from support.tournaments import tournament

from agents import new_battle, resolve
from agents.external import processes
from agents.external.metamon import environment, setup
from agents.external.metamon.player import meant
from agents.external.metamon.serve import ask_of
from agents.serving import client as serving
from agents.serving.client import ServerFailed
from arena.battles.guard import StepGuard
from arena.record import BattleRecord
from arena.store import rows
from arena.venue import Rules
from arena.venues.server.local import LocalServer
from arena.venues.simulator.host import Host
from arena.venues.simulator.simulator import Simulator
from teamsets.errors import ArenaError, BadInput

STAND_IN = TESTS / "support" / "stand_ins" / "metamon"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The stand-in as metamon's environment, with weights in its cache; the file of what it is asked."""
    monkeypatch.setenv("ARENA_METAMON", str(STAND_IN / "python"))
    monkeypatch.setenv("METAMON_CACHE_DIR", str(tmp_path))
    weights = tmp_path / "pretrained_models" / "abra" / "policy_epoch_40.pt"
    weights.parent.mkdir(parents=True)
    weights.touch()
    log = tmp_path / "asked.jsonl"
    monkeypatch.setenv("ARENA_STAND_IN_LOG", str(log))
    yield log
    serving.close_all()


def a_run(folder: Path, *numbers: int, own: str = "") -> Path:
    """A run's folder as amago writes it, with empty weights."""
    weights = folder / "ckpts" / "policy_weights"
    weights.mkdir(parents=True)
    for number in numbers:
        (weights / f"policy_epoch_{number}.pt").touch()
    if own:
        (folder / "metamon.json").write_text(own)
    return folder


def played(spec: str, format_id: str, battles: int = 1) -> list[BattleRecord]:
    chosen = [replace(one, agents=(spec, "random")) for one in fixtures(format_id, battles)]

    async def all_at_once() -> list[BattleRecord]:
        async with await Host.launch() as host:
            simulator = Simulator(host, StepGuard(), Rules(think_limit=60.0))
            return await asyncio.gather(*(simulator.play(one, index) for index, one in enumerate(chosen)))

    return asyncio.run(all_at_once())


@pytest.mark.parametrize("format_id", ["gen1ou", pytest.param("gen9ou", marks=pytest.mark.slow)])
def test_its_process_receives_all_lines_and_requests_of_the_seat(format_id: str, installed: Path) -> None:
    records = played("metamon:Abra", format_id, 2)
    assert [record.reason in ("win", "tie") and record.fault is None for record in records] == [True, True]
    received: dict[str, list[str]] = {}
    orders = [json.loads(line) for line in installed.read_text().splitlines()]
    for ask in (ask for order in orders for ask in order["asks"]):
        lines = received.setdefault(ask["session"], [])
        lines += [*ask["lines"], f"|request|{json.dumps(json.loads(ask['request']))}"]
        assert ask["format"] == format_id and ask["name"] == "p1"

    def as_seen(log: list[str]) -> list[str]:
        kept = [
            f"|request|{json.dumps(json.loads(line[9:]))}" if line.startswith("|request|") else line for line in log
        ]
        while not kept[-1].startswith("|request|"):
            kept.pop()  # after the last decision
        return kept

    assert sorted(received.values()) == sorted(as_seen(record.logs[0]) for record in records)
    assert any(len(order["asks"]) == 2 for order in orders), "decisions of several battles are asked at once"


def test_its_diagnostics_name_the_legal_choices_and_it_is_repeatable(installed: Path) -> None:
    (record,) = played("metamon:Abra?device=cpu", "gen1ou")
    told = [row for row in record.decisions if row[0] == 0]
    assert all(set(row[6]["probabilities"]) <= set(row[3]) for row in told if row[6])
    assert {row[6].get("random", False) for row in told if row[6]} == {True, False}
    assert played("metamon:Abra?device=cpu", "gen1ou")[0].input_log == record.input_log
    assert resolve("metamon:Abra?device=cpu").repeatable and not resolve("metamon:Abra?device=cuda:1").repeatable


def test_what_its_process_cannot_answer_is_chosen_at_random_and_said(installed: Path) -> None:
    (record,) = played("metamon:Silent", "gen9ou")
    assert record.fault is None
    assert all("cannot read" in row[6]["failed"] for row in record.decisions if row[0] == 0 and row[6])


def test_a_choice_that_is_not_legal_is_replaced_and_said(installed: Path) -> None:
    (record,) = played("metamon:Confused", "gen1ou")
    assert record.fault is None
    assert all(row[6]["refused"] == "/choose move splash" for row in record.decisions if row[0] == 0 and row[6])


def test_a_switch_by_another_forme_s_name_is_understood() -> None:
    battle = new_battle("battle-gen9ou-1", "p1", "p1", 9, "gen9ou", random.Random(0))
    names = ("Tauros-Paldea-Aqua", "Minior", "Ogerpon-Cornerstone", "Ogerpon-Wellspring")
    team = [
        {"ident": f"p1: {name}", "details": name, "condition": "100/100", "active": not index}
        for index, name in enumerate(names)
    ]
    battle._last_request = {"forceSwitch": [True], "side": {"pokemon": team}}
    battle.list_choices(battle._last_request)
    found = meant(battle, "/choose switch miniormeteor")
    assert found is not None and found.label == "switch minior"
    assert meant(battle, "/choose switch ogerpon") is None, "two of this base species"
    assert meant(battle, "/choose switch taurospaldeablaze") is None and meant(battle, "") is None


@pytest.mark.parametrize("model", ["Lost", "Torn"])
def test_a_process_that_ends_loses_the_battle_with_its_exit_code(model: str, installed: Path) -> None:
    (record,) = played(f"metamon:{model}", "gen1ou")
    assert record.fault == "p1" and record.reason == "error"
    assert "metamon's process has ended with code 3" in str(record.detail)


def test_a_checkpoint_that_does_not_load_says_why(installed: Path) -> None:
    with pytest.raises(ServerFailed, match="FileNotFoundError: no weights"):
        resolve("metamon:Broken").make()


def test_the_settings_of_a_folder_reach_its_process(installed: Path, tmp_path: Path) -> None:
    own = '{"model_gin_config": "minikazam.gin", "train_gin_config": "binary_rl.gin", "obs_space": "X"}'
    folder = a_run(tmp_path / "mine", 2, 40, own=own)
    (record,) = played(f"metamon:{folder}?temperature=1.2&backend=pokeagent", "gen1ou")
    assert record.fault is None
    assert {ask["temperature"] for line in installed.read_text().splitlines() for ask in json.loads(line)["asks"]} == {
        1.2
    }
    settings = type(resolve(f"metamon:{folder}").make())._settings("", "", "", "", "auto")  # type: ignore[attr-defined]
    assert settings.checkpoint == 40 and settings.own["obs_space"] == "X"
    assert settings.own["tokenizer"] == "DefaultObservationSpace-v1", "as metamon.rl.train has it by default"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("metamon:Abra?checkpoint=last", "must be a number"),
        ("metamon:Abra?temperature=-1", "must be 0 (most probable action) or more"),
        ("metamon:Abra?backend=mine", "must be metamon, pokeagent, poke-env"),
        ("metamon:Abra?device=tpu", "must be auto, cpu, cuda or cuda:N"),
        ("metamon:Abra?model=Kakuna", "has its own architecture: leave it out"),
        ("metamon:Abra?preview=nowhere.pt", "preview=nowhere.pt: no such file"),
        ("metamon:./nowhere", "no weights in ./nowhere/ckpts/policy_weights"),
        ("metamon:{plain}?checkpoint=3", "its checkpoints are 2, 40"),
        ("metamon:{plain}", "how its network is built is not known: add model=NAME"),
        ("metamon:{half}", "lacks train_gin_config"),
        ("metamon:{odd}", "has unknown fields: colour"),
        ("metamon:{broken}", "not an object of texts"),
    ],
)
def test_bad_options_are_refused_in_one_line(spec: str, words: str, installed: Path, tmp_path: Path) -> None:
    whole = '"model_gin_config": "a.gin", "train_gin_config": "b.gin"'
    runs = {
        "plain": a_run(tmp_path / "plain", 2, 40),
        "half": a_run(tmp_path / "half", 1, own='{"model_gin_config": "a.gin"}'),
        "odd": a_run(tmp_path / "odd", 1, own=f'{{{whole}, "colour": "red"}}'),
        "broken": a_run(tmp_path / "broken", 1, own="[]"),
    }
    source = resolve(spec.format(**runs))
    assert words in source.missing(None)
    with pytest.raises(BadInput, match="metamon:"):
        source.make()


def test_the_doctor_leads_to_metamon(
    arena: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert "metamon is not installed: run `arena agents setup metamon`" in arena("agents", "doctor", "metamon").out
    monkeypatch.setenv("ARENA_METAMON", "/bin/true")
    assert "has no metamon with pretrained models" in arena("agents", "doctor", "metamon:Abra").out
    monkeypatch.setenv("ARENA_METAMON", str(STAND_IN / "python"))
    assert "`arena agents setup metamon --model Abra` downloads them" in arena("agents", "doctor", "metamon:Abra").out
    weights = tmp_path / "cache" / "battle-arena" / "metamon" / "cache" / "pretrained_models" / "abra.pt"
    weights.parent.mkdir(parents=True)
    weights.touch()
    assert (
        arena("agents", "doctor", "metamon:Kadabra3").out == "metamon:Kadabra3: ready for generations 1, 2, 3, 4, 9\n"
    )
    assert "choose one of these" in resolve("metamon:Abra").missing("gen8ou")
    with pytest.raises(BadInput, match="not a model name"):
        resolve("metamon:no-name")


def test_other_weights_or_code_are_another_agent(installed: Path, tmp_path: Path) -> None:
    folder = a_run(tmp_path / "mine", 1, 2)
    spec = f"metamon:{folder}?model=Abra"
    before = resolve(spec).fingerprint
    assert resolve(f"{spec}&temperature=2").fingerprint != before
    (folder / "ckpts" / "policy_weights" / "policy_epoch_2.pt").write_text("other")
    assert resolve(spec).fingerprint != before
    assert resolve("metamon:Abra").fingerprint != resolve("metamon:Kakuna").fingerprint


@pytest.mark.parametrize(
    ("field", "value"), [("lines", "x"), ("lines", [1]), ("temperature", -1), ("seed", "1"), ("extra", 1)]
)
def test_a_malformed_question_is_refused(field: str, value: object) -> None:
    ask = {"format": "gen1ou", "name": "p1", "lines": [], "request": "{}", "seed": 1, "temperature": 1.0}
    assert ask_of(json.dumps(ask).encode()) == ask
    with pytest.raises(ValueError, match="a question"):
        ask_of(json.dumps({**ask, field: value}).encode())


def a_checkout(folder: Path, dependencies: str = "[]") -> Path:
    """A folder with a package that is called metamon."""
    package = folder / "metamon" / "rl"
    package.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f'[project]\nname = "metamon"\ndependencies = {dependencies}\n')
    (package.parent / "__init__.py").write_text('__version__ = "9.9"\n')
    (package / "__init__.py").touch()
    (package / "pretrained.py").write_text(
        "import os\n\ndef get_pretrained_model_names():\n    return ['Abra']\n\ndef get_pretrained_model(name):\n"
        "    class Model:\n        default_checkpoint = 40\n        def get_path_to_checkpoint(self, number):\n"
        "            return f\"{os.environ['METAMON_CACHE_DIR']}/{name}-{number}.pt\"\n    return Model()\n"
    )
    return folder


@pytest.mark.slow
def test_setup_installs_from_a_folder(
    arena: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("ARENA_METAMON", raising=False)
    monkeypatch.delenv("METAMON_CACHE_DIR", raising=False)
    checkout = a_checkout(tmp_path / "checkout")
    before = sorted(checkout.rglob("*"))
    said = arena("agents", "setup", "metamon", "--from", checkout, "--model", "Abra")
    assert "metamon 9.9 is ready, with the names of 1 models" in said.out and "Abra-40.pt" in said.out
    assert [path for path in sorted(checkout.rglob("*")) if "__pycache__" not in path.parts] == before
    assert environment.package(environment.python() or Path()) == checkout / "metamon"
    again = arena("agents", "setup", "metamon", "--from", checkout)
    assert again.code == 2 and "delete that folder to install it from another place" in again.err
    assert arena("agents", "setup", "metamon").code == 0


def test_setup_leaves_nothing_behind_when_it_fails(
    arena: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said = arena("agents", "setup", "metamon", "--from", tmp_path)
    assert said.code == 2 and "has no metamon with pretrained models" in said.err
    checkout = a_checkout(tmp_path / "checkout", '["numpy", "poke-env @ git+https://example.invalid/x"]')
    said = arena("agents", "setup", "metamon", "--from", checkout, "--with", "torch=.")
    assert said.code == 2 and "metamon does not depend on it: it does on numpy, poke-env" in said.err
    assert setup._requirements(checkout, {"poke-env": "."}) == ["numpy"]

    def fails(*_: object) -> None:
        assert (environment.home() / "environment").exists()
        raise ArenaError("no network")

    monkeypatch.setattr(processes, "run", lambda command, variables=None: Path(command[-1]).mkdir(parents=True) or "")
    monkeypatch.setattr(setup, "_install", fails)
    with pytest.raises(ArenaError, match="no network"):
        setup.set_up(str(checkout), {}, False, "", print)
    assert not (environment.home() / "environment").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("metamon", "--gen", "1"), "--gen: metamon has no such option"),
        (("foul-play", "--model", "Abra"), "--model: foul-play has no such option"),
        (("metamon", "--with", "amago"), "must be PACKAGE=PLACE"),
        (("random",), "it needs no setup"),
    ],
)
def test_setup_refuses_what_does_not_fit(words: tuple[str, ...], said: str, arena: Callable[..., Said]) -> None:
    done = arena("agents", "setup", *words)
    assert done.code == 2 and said in done.err


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("window", [(-1, -1), (3, 0)])
def test_attention_on_a_cpu_is_that_of_torch(window: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps one by one with the cache, against all at once with a mask: causal, and of the last steps only."""
    import torch

    from agents.external.metamon.inside.attention import attention_with_cache

    steps, draw = 9, torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, steps, 3, 4, generator=draw) for _ in range(3))
    keys, values = torch.full((2, 16, 3, 4), torch.nan), torch.full((2, 16, 3, 4), torch.nan)
    made = [
        attention_with_cache(
            q[:, [step]], keys, values, k[:, [step]], v[:, [step]],
            torch.full((2,), step, dtype=torch.int32), window_size=window,
        )
        for step in range(steps)
    ]  # fmt: skip
    apart = torch.arange(steps)[:, None] - torch.arange(steps)
    seen = (apart >= 0) & ((apart <= window[0]) if window[0] >= 0 else True)
    heads = (part.transpose(1, 2) for part in (q, k, v))
    want = torch.nn.functional.scaled_dot_product_attention(*heads, attn_mask=seen).transpose(1, 2)
    torch.testing.assert_close(torch.cat(made, dim=1), want)


# With metamon itself (tests/support/metamon_environment.py).


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Small runs with random weights, made by metamon's own classes: a GRU and a transformer."""
    made = {name: tmp_path_factory.mktemp("metamon") / name for name in ("gru", "transformer")}
    for name, folder in made.items():
        run_in_metamon(str(TESTS / "support" / "metamon_run.py"), str(folder), name)
    return made


@needs_metamon
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("format_id", "kind", "opponent", "backend"),
    [
        ("gen1ou", "gru", "RandomBaseline", "metamon"),
        ("gen9ou", "transformer", "PokeEnvHeuristic", "metamon"),
        ("gen9ou", "gru", "RandomBaseline", "pokeagent"),
        ("gen1ou", "transformer", "Gen1BossAI", "metamon"),
    ],
)
def test_it_decides_as_metamons_own_evaluation_does(
    format_id: str, kind: str, opponent: str, backend: str, runs: dict[str, Path], tmp_path: Path
) -> None:
    """The same messages give the same inputs of the agent, to the last bit, the same actions and the same orders."""
    (tmp_path / format_id).mkdir()
    for number, file in enumerate(sorted((PROJECT / "teamsets" / "competitive" / format_id).glob("*.txt"))):
        shutil.copy(file, tmp_path / format_id / f"{number}.{format_id}_team")
    settings = {
        "folder": str(runs[kind]), "checkpoint": 40, "backend": backend, "format": format_id, "teams": str(tmp_path),
        "opponent": opponent, "battles": 3,
    }  # fmt: skip

    async def compare() -> str:
        server = await LocalServer.launch()
        try:
            words = (str(TESTS / "support" / "metamon_loop.py"), json.dumps({**settings, "uri": server.uri}))
            return await asyncio.to_thread(run_in_metamon, *words)
        finally:
            await server.close()

    counted = json.loads(asyncio.run(compare()).splitlines()[-1])
    assert counted["battles"] == 3 and counted["decisions"] > 30
    differing = {name: counted[name] for name in ("observations", "actions", "orders", "failed")}
    assert differing == {"observations": 0, "actions": 0, "orders": 0, "failed": 0}, counted
    assert counted["largest"] < 1e-3, "probabilities differ by the order of floating-point sums only"


@needs_metamon
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou"])
def test_it_plays_many_battles_at_once_without_a_fault_and_repeats_them(
    format_id: str, runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(serving.THREADS, "1")
    spec = f"metamon:{runs['gru']}?checkpoint=40&temperature=1.2&device=cpu"
    found = []
    for again in ("one", "two"):
        db = tmp_path / f"{again}.duckdb"
        tournament(db, spec, "heuristic:max-damage", formats=(format_id,), battles=8, think_limit=120.0)
        found.append(rows("SELECT key, reason, input_log FROM battles ORDER BY key", db))
        assert not rows("SELECT 1 FROM decisions WHERE diagnostics->>'failed' <> '[]'", db)
    assert {reason for _, reason, _ in found[0]} <= {"win", "tie"} and len(found[0]) >= 8
    assert found[0] == found[1]
