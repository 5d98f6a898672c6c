"""Values that an option cannot have are known before a run, for every family of agents, in one line."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from support.command_line import PROJECT, Said
from support.compilers import need_compiler

from agents import Agent, resolve
from agents.contract import OptionLimits
from agents.search.exact.weights import NETWORK
from agents.search.poke_engine import builds
from teamsets.errors import BadInput

README = PROJECT / "README.md"
#: Spec -> what is said of it. None of these needs a build, a compiler or torch to be refused.
WRONG = {
    "search:exact?ms=0": "ms=0: must be 1 or more",
    "search:exact?ms=-5": "ms=-5: must be 1 or more",
    "search:exact?iterations=10&samples=-3": "samples=-3: must be 0 or more",
    "search:exact?iterations=10&threads=0": "threads=0: must be 1 or more",
    "search:exact?iterations=10&temperature=-1": "temperature=-1.0: must be 0 or more",
    "search:exact?prior=nan": "prior=nan: must be from 0 to 1",
    "search:exact?first=inf": "first=inf: must be a finite number",
    "search:exact?device=tpu&policy=gen9ou": "device=tpu: must be auto, cpu, cuda, cuda:N or mps",
    "search:mcts?ms=0": "ms=0: must be 1 or more",
    "search:mcts?good=2": "good=2.0: must be from 0 to 1",
    "search:mcts?weights=nowhere": "weights=nowhere: must be fitted, none or a file",
    "search:omniscient?iterations=0": "iterations=0: must be 1 or more",
    "policy:gen9ou?device=tpu": "device=tpu: must be auto, cpu, cuda, cuda:N or mps",
    "policy:gen9ou?temperature=nan": "temperature=nan: must be 0 or more",
    "ensemble:gen9ou,gen9ou?temperature=-1": "temperature=-1.0: must be 0 or more",
    "ensemble:gen9ou,gen9ou?device=tpu": "device=tpu: must be auto, cpu, cuda, cuda:N or mps",
    "heuristic:expert?preview=best": "preview=best: choose one of matchup, random",
    "heuristic:expert?reply=nan": "reply=nan: must be a finite number",
    "foul-play?ms=0": "ms=0: must be 1 or more",
    "foul-play?start=-1": "start=-1.0: must be 0 or more",
    "external?command=python bot.py&allowance=-1": "allowance=-1.0: must be 0 or more",
    "llm:openai?base_url=http://127.0.0.1:1/v1&model=m&max_tokens=0": "max_tokens=0: must be 1 or more",
    "coached?learner=random&coach=random&lead=2": "lead=2.0: must be from 0 to 1",
    "coached?learner=random&coach=search:exact?ms=0": "ms=0: must be 1 or more",
}


@pytest.mark.parametrize("spec", WRONG)
def test_a_wrong_value_is_known_before_the_agent_is_made(spec: str) -> None:
    source = resolve(spec)
    assert source.missing("gen9ou") == source.missing(None) == WRONG[spec]
    if not spec.startswith(("coached?learner=random&coach=s", "search:omniscient")):
        with pytest.raises(BadInput, match=WRONG[spec].partition(":")[0]):
            source.make()


def refused(arena: Callable[..., Said], tmp_path: Path, spec: str) -> str:
    """What `arena match` says of an agent that it refuses with one line; nothing is stored."""
    db = tmp_path / "a.duckdb"
    said = arena("match", spec, "random", "--format", "gen9ou", "--battles", 2, "--db", db)
    assert said.code == 2 and said.err.count("\n") == 1 and not db.exists(), said
    assert said.err.startswith(f"arena: agent '{spec}': cannot play gen9ou: "), said.err
    return said.err


def test_a_match_is_refused(arena: Callable[..., Said], tmp_path: Path) -> None:
    assert "policy:gen9ou?device=tpu" in refused(arena, tmp_path, "policy:gen9ou?device=tpu")
    assert "ms=0: must be 1 or more" in refused(arena, tmp_path, "search:exact?ms=0")


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (README, "README.md: 'Measures and trains Pokémon agents"),
        (NETWORK, "exact1.npz: is no network of search:exact in gen9ou"),
        ("data.bin", "data.bin: cannot be read as fitted weights"),
        ("cut.npz", "cut.npz: is no network of search:exact in gen9ou"),
    ],
)
def test_the_exact_search_refuses_a_file_of_something_else(tmp_path: Path, file: Path | str, problem: str) -> None:
    need_compiler()
    (tmp_path / "data.bin").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "cut.npz").write_bytes(NETWORK.read_bytes()[:1000])
    assert problem in resolve(f"search:exact?weights={tmp_path / file}").missing("gen9ou")
    assert resolve(f"search:exact?weights={tmp_path / file}").missing(None) == "", (
        "the format tells which weights it takes"
    )


@pytest.mark.skipif(bool(builds.missing(9)), reason=builds.missing(9))
def test_mcts_refuses_a_file_of_something_else(arena: Callable[..., Said], tmp_path: Path) -> None:
    said = refused(arena, tmp_path, f"search:mcts?ms=20&weights={README}")
    assert f"weights={README}: 'Measures and trains" in said and "fit_search_weights.py" in said
    unknown = tmp_path / "weights.txt"
    unknown.write_text("# ours\nvalue hp 1\nvalue luck 2\n")
    assert "'value luck 2' is no weight" in resolve(f"search:mcts?weights={unknown}").missing("gen9ou")
    unknown.write_text("value hp 1\n")
    assert resolve(f"search:mcts?weights={unknown}").missing("gen9ou") == ""
    assert "valid UTF-8" in resolve(f"search:mcts?weights={NETWORK}").missing("gen9ou")


class Limited(Agent):
    """An agent of a user, with limits of its options and a constructor that knows nothing of them."""

    option_limits: ClassVar[OptionLimits] = {"risk": (0, 1), "ms": (1, math.inf)}

    def __init__(self, risk: float = 0.5, ms: int = 1) -> None:
        self.risk, self.ms = risk, ms

    def act(self, battle: Any) -> Any:
        return battle.legal[0]


def test_agents_of_users_have_limits_where_they_say_so() -> None:
    assert resolve(f"{__name__}:Limited?risk=1.5").missing(None) == "risk=1.5: must be from 0 to 1"
    assert resolve(f"{__name__}:Limited?ms=0").missing("gen1ou") == "ms=0: must be 1 or more"
    assert resolve(f"{__name__}:Limited?risk=1&ms=7").missing("gen1ou") == ""
    assert resolve("own_players:Words?risk=-3").missing("gen1ou") == "", "it has a constructor only"


def test_looking_at_options_loads_no_network() -> None:
    specs = [spec for spec in WRONG if spec.startswith(("search", "policy", "ensemble"))]
    code = (
        "import sys; from agents import resolve\n"
        f"for spec in {specs!r}: assert resolve(spec).missing('gen9ou')\n"
        "assert not {'torch', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True)
