"""`train push` and `policy:hf://ORG/NAME@REV`, against a hub of the test's own: weights, card, cache, and what fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import Said, run_arena
from support.hub_server import TOKEN, Hub, running
from support.made_store import MadeStore

pytest.importorskip("torch")
pytest.importorskip("huggingface_hub")

from agents.policy import checkpoint
from agents.policy.network import Network
from agents.policy.shape import PRESETS
from teamsets.checksums import sha256_of
from training.archive.ratings import stored_ratings

pytestmark = pytest.mark.slow

REPOSITORY = "team/tiny"


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with running() as hub:
        yield hub


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with two checkpoints, in which one has stored battles."""
    folder = tmp_path_factory.mktemp("hub")
    for step in (1, 2):
        checkpoint.save(checkpoint.folder_of(folder / "x", step), Network(PRESETS["micro"]), step)
    (folder / "x" / "config.yaml").write_text("name: x\nalgorithm: {name: cloning}\n")
    made = MadeStore(folder / "arena.duckdb")
    made.run("r", ["policy:x@2", "random"], anchor="random")
    made.pair("r", "policy:x@2", "random", "WW", count=6)
    made.pair("r", "policy:x@2", "random", "WL", count=4)
    made.write()
    return folder


def _said(
    hub: Hub, cwd: Path, *words: object, program: str = "train", home: Path | None = None, **environment: str
) -> Said:
    cache = str(home or cwd / "hf")
    return run_arena(
        *words,
        cwd=cwd,
        program=program,
        HF_ENDPOINT=hub.url,
        HF_TOKEN=TOKEN,
        HF_HOME=cache,
        HF_HUB_DISABLE_XET="1",
        **environment,
    )


@pytest.fixture(scope="module")
def pushed(hub: Hub, run: Path) -> str:
    said = _said(hub, run, "push", "x@2", REPOSITORY, "--license", "CC-BY-4.0", "--json")
    assert said.code == 0, said.err
    return str(json.loads(said.out)["commit"])


def _found(hub: Hub, run: Path, spec: str, home: Path | None = None, **environment: str) -> Said:
    return _said(hub, run, "agents", "show", spec, "--json", program="arena", home=home, **environment)


def test_what_is_pushed_plays_as_the_same_agent(
    hub: Hub, run: Path, pushed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = _found(hub, run, f"policy:hf://{REPOSITORY}@{pushed}")
    assert json.loads(said.out)["missing"] == "", said
    (folder,) = (run / "hf" / "hub").glob("models--*/snapshots/*")
    original = checkpoint.folder_of(run / "x", 2)
    assert sha256_of(folder / checkpoint.WEIGHTS) == sha256_of(original / checkpoint.WEIGHTS)
    assert checkpoint.identity(folder) == checkpoint.identity(original)
    checkpoint.load(folder)


def test_the_card_has_the_ratings_of_the_database(
    hub: Hub, run: Path, pushed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = hub.commits[REPOSITORY][pushed]["README.md"].decode()
    monkeypatch.chdir(run)
    (rating,) = stored_ratings(run / "arena.duckdb", checkpoint.folder_of(run / "x", 2))
    assert (rating.row["games"], rating.row["rank"], rating.of) == (20, 1, 2)
    row = rating.row
    assert f"| policy:x@2 | gen1ou | far | {row['elo']:.0f} [{row['low']:.0f}, {row['high']:.0f}] | 1 of 2 |" in card
    assert "| random | 80 [" in card
    assert card.startswith("---\nlicense: cc-by-4.0\nlibrary_name: battle-arena\n")
    assert f"arena evaluate policy:hf://{REPOSITORY} heuristic:max-damage" in card
    assert stored_ratings(run / "arena.duckdb", checkpoint.folder_of(run / "x", 1)) == []


def test_a_branch_moves_and_a_commit_does_not(hub: Hub, run: Path, pushed: str) -> None:
    said = _said(hub, run, "push", "x@1", REPOSITORY, "--branch", "other")
    assert said.code == 0, said.err
    assert "agent: policy:hf://team/tiny@" in said.out and "the card has no ratings" in said.err
    fingerprints = {
        name: json.loads(_found(hub, run, f"policy:hf://{REPOSITORY}{name}").out)["fingerprint"]
        for name in ("", "@other", f"@{pushed}")
    }
    assert fingerprints[""] != fingerprints["@other"]


def test_the_cache_serves_without_the_hub(hub: Hub, run: Path, pushed: str, tmp_path: Path) -> None:
    spec = f"policy:hf://{REPOSITORY}@{pushed}"
    assert json.loads(_found(hub, run, spec, home=tmp_path).out)["missing"] == ""
    fetched = len(hub.fetched)
    offline = _found(hub, run, spec, home=tmp_path, HF_HUB_OFFLINE="1")
    assert json.loads(offline.out)["missing"] == "" and len(hub.fetched) == fetched
    nowhere = _found(hub, run, spec, home=tmp_path / "empty", HF_HUB_OFFLINE="1")
    assert "the hub cannot be reached, and it is not in the cache" in json.loads(nowhere.out)["missing"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("team/nothing", "there is no such repository, or it is private"),
        (f"{REPOSITORY}@nothing", "the repository has no revision nothing"),
        ("team", "write it as hf://ORG/NAME"),
    ],
)
def test_what_cannot_be_fetched_is_one_line(hub: Hub, run: Path, pushed: str, name: str, words: str) -> None:
    said = _said(hub, run, "evaluate", f"policy:hf://{name}", "random", "--battles", 2, program="arena")
    assert said.code == 2 and words in said.err and said.err.count("\n") == 1, said.err


def test_a_hub_that_refuses_is_one_line(hub: Hub, run: Path) -> None:
    said = run_arena(
        "push",
        "x@1",
        REPOSITORY,
        cwd=run,
        program="train",
        HF_ENDPOINT=hub.url,
        HF_TOKEN="hf_wrong",
        HF_HOME=str(run / "h"),
    )
    assert said.code == 1 and "see to its name, HF_TOKEN" in said.err and "Traceback" not in said.err
    assert run_arena("push", "x@1", "tiny", cwd=run, program="train").code == 2
