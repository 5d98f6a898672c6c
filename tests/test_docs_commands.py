"""The commands of the docs pages, page by page and in order, made small. The README has a test of its own."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest
import yaml
from support.command_line import PROJECT
from support.made_logs import four_shown
from support.page_commands import ONE_WORKER, TRAINING_RULES, Rule, Shell, blocks, small
from support.tournaments import tournament

from agents.search.poke_engine import builds
from training.runs.distributed.ports import reserved_port
from training.runs.shipped import FOLDERS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

#: Pages whose commands are not run here, and what holds for them instead.
NOT_RUN = {
    "experiments.md": "says what was run once; nobody is asked to run it again",
    "install.md": "tests/test_wheel.py does what it says from a wheel, tests/test_readme.py from a clone; CI makes the rest",
    "external.md": "other people's programs: tests/agents/external plays with stand-ins of them",
    "scale.md": "several machines: tests/arena/workers/cluster/test_ray_runs.py has a cluster on this one",
    "ladder.md": "other people's servers: tests/arena/remote/test_ladder.py has one of its own",
    "dashboard.md": "it installs and serves: tests/arena/dashboard/test_dashboard_server.py starts the command",
    "container.md": "Docker: tests/scripts/test_container.py does the image's steps, test_train_in_docker.py has a stand-in",
    "llm.md": "models and servers of the reader's: tests/agents/llm and tests/training/llm do it with tiny ones",
    "qabra.md": "eight GPUs and other people's programs: tests/test_page_commands.py reads its commands",
    "gpu.md": "a GPU: tests/scripts/test_gpu_measure.py rehearses it",
    "memory.md": "GPUs and eight processes: tests/training/machines/memory, diagnosis and distributed do it with two",
    "sweeps.md": "hours, and Optuna: tests/training/experiments/sweep has small ones",
    "ablations.md": "hours: tests/training/experiments/ablation trains small ones, and reads those that are shipped",
}
PAGES = [page for page in sorted((PROJECT / "docs").glob("*.md")) if page.name not in NOT_RUN]
#: For the servers; kept for as long as this module is.
_PORTS = contextlib.ExitStack()
PORT, OTHER_PORT = (_PORTS.enter_context(reserved_port()) for _ in range(2))
RULES = [
    Rule(r"^make search.*", "true", "a build of some minutes, which CI makes"),
    Rule(r"^(arena (?:beats|rank) [^#]*)", r"\1 --min-battles 1 ", "battles"),
    Rule(r"my-vgc-teams", "variety:140", "people's teams"),
    Rule(r"^pip install .*", "true", "packages from the index"),
    Rule(r"^train export .*", "true", "ONNX: tests/training/test_onnx_export.py, where it is installed"),
    Rule(
        r"^train push .*|^arena evaluate policy:hf://.*", "true", "the public hub: tests/training/test_hub.py has one"
    ),
    Rule(r"(gen9_scenarios.py)$", r"\1 --seeds 1", "battles"),
    Rule(r"(simulator_parity.py)", r"\1 --formats gen9ou gen9hackmonscup", "formats"),
    Rule(r"(gen9_scenarios.py .*) --seeds 40", r"\1 --seeds 2", "battles"),
    Rule(r"^python scripts/simulate/cycles.py", "python scripts/simulate/cycles.py --pools 3", "pools"),
    Rule(r"^python scripts/simulate/against_set.py", "python scripts/simulate/against_set.py --pools 1", "pools"),
    Rule(r"^python scripts/simulate/sprt.py", "python scripts/simulate/sprt.py --matches 20", "matches"),
    Rule(
        r"^python scripts/simulate/interval_coverage.py",
        "python scripts/simulate/interval_coverage.py --tournaments 2 --resamples 20",
        "tournaments",
    ),
    Rule(
        r"agent LIKE 'search:%'(?=\" --out data/search)",
        "agent = 'heuristic:expert'",
        "battles of a search, which is slow",
    ),
    Rule(r"^python sb3_ppo.py .*", "python sb3_ppo.py 256 4", "steps and battles"),
    Rule(r"^python torch_ppo.py .*", "python torch_ppo.py 2 4", "steps and battles"),
    Rule(r"--steps 1000000 --num-envs 1024 --check 200", "--steps 400 --num-envs 4 --check 1", "steps and battles"),
    Rule(r"--steps 20000 --check 20", "--steps 200 --check 1", "the same"),
    Rule(r"--min-rating 1500 ", "", "replays of rated people"),
    Rule(r"--battles \d+", "--battles 2", "battles"),
    Rule(r"--cases \d+", "--cases 40", "cases"),
    Rule(r"--count 2400", "--count 30", "teams"),
    *TRAINING_RULES,
    Rule(
        r"(heuristic:staller (?:heuristic:emerald|random) .*)--battles 24", r"\1--battles 4", "battles of three pairs"
    ),
    Rule(
        r"@\{500\.\.2500\.\.500\}\?temperature=\{0,0\.5,1\}",
        "@{500..1000..500}?temperature={0,1}",
        "networks: 10 pairs instead of 120",
    ),
    Rule(r"--budget \d+", "--budget 8", "battles"),
    Rule(r"--minutes [\d.]+", "--minutes 0.02", "time"),
    Rule(r"^(arena evaluate (?:--all|--resume)(?!.*--(?:battles|minutes|budget)).*)", r"\1 --minutes 0.02", "time"),
    Rule(r"^(arena leaderboard \S+)[^#]*", r"\1 --min-battles 2 ", "battles of an agent, and the databases"),
    Rule(r"^(scripts/evaluate_against_all.sh \S+)$", r"\1 --minutes 0.02", "time"),
    Rule(r"^(train evaluate (?!.*--battles)[^#]*)", r"\1 --battles 2 ", "battles"),
    Rule(r"^(train exploit .*)--decisions \d+", r"\1--decisions 100", "decisions"),
    Rule(
        r"^(train exploit [^#]*)",
        r"\1 --battles 2 --teams competitive --set rollout.battles=4 --set evaluation.battles=2 ",
        "battles and teams",
    ),
    Rule(r"^(arena match (?!.*--battles).*)", r"\1 --battles 2", "battles of a match until it is decided"),
    Rule(r"(?<=[?&])ms=100\b", "ms=15", "time of a search"),
    Rule(r"(?<=[?&])iterations=500\b", "iterations=40", "the same"),
    Rule(r"^(arena evaluate (?!.*--(?:battles|minutes|budget)).*)", r"\1 --battles 2", "battles"),
    Rule(r"^arena serve (.*)--port 8010", rf"arena serve \1--port {OTHER_PORT} --db other.duckdb", "the port"),
    Rule(r"^arena serve --format gen9ou$", f"arena serve --format gen9ou --port {PORT}", "the port"),
    Rule(r"localhost:8000", f"localhost:{PORT}", "the port"),
    Rule(r"arena (watch|replay) 17", r"arena \1 1", "a battle that is there"),
    Rule(r"--delay 1\b", "--delay 0", "waiting"),
    Rule(r"^arena report RUN", "arena report", "the reader's own run"),
    Rule(
        r"import parsed-replays(/gen1ou)?",
        "import replays",
        "metamon's files, which tests/training/data/test_metamon.py reads",
    ),
    Rule(
        r"--format gen3ou (--battles \d+ --db made|--db made)",
        r"--format gen1ou \1",
        "poke-engine of another generation",
    ),
    Rule(r"^(arena match .*weights=\S*gen)3(.*--format gen)3", r"\g<1>1\g<2>1", "the same"),
    Rule(r"^(arena evaluate .policy:runs/first@\{.*)", r"\1 --format gen1ou", "formats: 120 pairs of 15 networks"),
    Rule(r"policy:runs/tiny@1000", "mybot:Strongest", "a training run's checkpoint"),
    Rule(r"policy:runs/tiny@2000", "heuristic:staller", "the same"),
    Rule(r"policy:runs/first(@best|@last|@\d+)?", "policy:gen1ou-tiny", "a trained network"),
    ONE_WORKER,
]
#: Pages that need torch.
_TRAINING = {
    "curriculum.md",
    "engine.md",
    "environments.md",
    "extend.md",
    "online.md",
    "policy.md",
    "search.md",
    "training.md",
}


def small_curriculum() -> str:
    """The shipped curriculum `gen1ou-cpu`: the same stages, with a handful of battles and steps each."""
    settings = yaml.safe_load((FOLDERS["curriculum"] / "gen1ou-cpu.yaml").read_text("utf-8"))
    settings["pool"] |= {"agents": ["heuristic:max-damage", "poke-env:SimpleHeuristicsPlayer"], "battles": 2}
    settings["workers"] = 1
    settings["evaluate_on"], settings["hold_out"] = ["variety:10"], 0.0  # of so few pairs none might be held out
    settings["training"]["length"]["max_steps"] = 3
    settings["training"]["data"] |= {"batch_size": 4, "max_length": 24}
    settings["training"]["compute"]["threads"] = 1
    settings["final_test"]["battles"] = 2
    for stage in settings["stages"]:
        stage["battles"] = 12
        stage["teams"] = [{"set": "variety:10", "weight": 1, "growth": 2}]
        # Every stage is kept at its first attempt: of so few battles most gates would reject, and each would be tried twice.
        parent = stage["gate"]["parent"] | {"require": "nothing", "battles": 2}
        stage["gate"], stage["retries"] = {"parent": parent, "pool": {"by": "nothing", "tolerance": 0}}, []
        if stage["learner"]["expert"].startswith("search:"):
            stage["learner"] = stage["learner"] | {"expert": "search:mcts?iterations=40&samples=2"}
    return yaml.safe_dump(settings, sort_keys=False)


@pytest.fixture(scope="module")
def played_here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a reader has it who has evaluated some agents: a database, an agent, replays, somebody's results."""
    folder = tmp_path_factory.mktemp("reader")
    tournament(folder / "arena.duckdb", "heuristic:expert", "random", formats=("gen1ou",), battles=8)
    readme = (PROJECT / "README.md").read_text("utf-8")
    (folder / "mybot.py").write_text(readme.split("```python\n# mybot.py\n")[1].split("```")[0])
    (folder / "results.csv").write_text("a,b,wins,losses,ties\nann,bob,30,10,0\nbob,cee,12,8,4\ncee,ann,5,15,0\n")
    for name in ("my-replays", "replays"):
        (folder / name).mkdir()
        for number in range(4):
            (folder / name / f"gen1ou-{number}.log").write_text(four_shown(), "utf-8")
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_work_in_order(page: Path, played_here: Path, tmp_path: Path) -> None:
    steps = blocks(page)
    found = [command for block in steps for command in block.commands]
    if not found:
        pytest.skip("no commands")
    if page.name in _TRAINING and importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    searches = page.name == "curriculum.md" or any("search:" in command for command in found)
    if searches and builds.missing(1):
        pytest.skip(f"search:mcts: {builds.missing(1)}")
    folder = tmp_path / "reader"
    shutil.copytree(played_here, folder)
    if page.name == "curriculum.md":
        (folder / "gen1ou-cpu").write_text(small_curriculum())  # a file takes precedence over a shipped one
    (folder / "scripts").symlink_to(PROJECT / "scripts")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    shell = Shell(folder, {**environment, "WANDB_MODE": "offline", "COLUMNS": "120"}, tmp_path / "transcript.txt")
    try:
        for block in steps:
            block.save(folder)
            for command in block.commands:
                if command.startswith("arena serve"):
                    shell.serve(small(command, RULES), ready="listens at")
                    shell.stop_servers()
                else:
                    shell.run(small(command, RULES))
    finally:
        shell.stop_servers()
    assert "Traceback" not in shell.log.read_text("utf-8")


def test_every_exception_is_a_page_that_exists() -> None:
    assert {name for name in NOT_RUN if not (PROJECT / "docs" / name).exists()} <= {"install.md"}
