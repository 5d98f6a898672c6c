"""Imports point one way only: teamsets <- agents <- arena <- training."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest
from support.command_line import PROJECT

ROOMS = ("teamsets", "agents", "arena", "training")


VENUES = {f"arena.venues.{name}" for name in ("simulator", "engine", "server", "isolation")}
#: What plays runs, above the venues.
ABOVE_VENUES = {"arena.workers", "arena.run", "arena.remote", "arena.commands"}
FAMILIES = {"agents.rules", "agents.policy", "agents.search", "agents.external", "agents.llm"}
#: Folders that import nothing from some others: the folder -> the packages and modules that it does without.
WITHOUT = {
    "agents.mechanics": FAMILIES | {"agents.observation"},
    "agents.observation": FAMILIES,
    "agents.rules": FAMILIES - {"agents.rules"},
    "agents.policy": FAMILIES - {"agents.policy"},
    "agents.search": FAMILIES - {"agents.search"},
    "agents.llm": FAMILIES - {"agents.llm"},
    "agents.serving": FAMILIES,
    "arena.venue": VENUES | ABOVE_VENUES,
    "arena.battles": VENUES | ABOVE_VENUES | {"arena.processes"},
    "arena.venues.simulator": VENUES - {"arena.venues.simulator"} | ABOVE_VENUES,
    "arena.venues.engine": VENUES - {"arena.venues.simulator", "arena.venues.engine"} | ABOVE_VENUES,
    "arena.venues.server": VENUES - {"arena.venues.server"} | ABOVE_VENUES,
    "arena.venues.isolation": VENUES - {"arena.venues.isolation"} | ABOVE_VENUES,
    "arena.workers": {"arena.run", "arena.remote", "arena.report", "arena.store"},
    "arena.remote": {"arena.workers", "arena.venues.isolation", "arena.report"},
    "arena.report": {"arena.run", "arena.remote"},
    "arena.terminal": {"arena.run", "arena.report", "arena.store", "arena.commands"},
    "training": {"arena.commands"},
}


@cache
def imported(path: Path) -> set[str]:
    """The modules that a file imports from, at its top or inside a function; `from a import b` counts as a and as a.b."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def imported_rooms(path: Path) -> set[str]:
    """The rooms that a file imports from."""
    return {name.split(".")[0] for name in imported(path)} & set(ROOMS)


def files_of(package: str) -> list[Path]:
    """The Python files of a package, or the one of a module."""
    base = PROJECT / package.replace(".", "/")
    return sorted(base.rglob("*.py")) if base.is_dir() else [base.with_suffix(".py")]


@pytest.mark.parametrize("package", WITHOUT)
def test_a_folder_does_without_those_beside_and_above_it(package: str) -> None:
    files = files_of(package)
    assert files, f"{package} is empty"
    wrong = {
        str(path.relative_to(PROJECT)): sorted(names)
        for path in files
        if (
            names := {
                name for name in imported(path) if (name + ".").startswith(tuple(f"{w}." for w in WITHOUT[package]))
            }
        )
    }
    assert not wrong


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_imports_a_higher_one(room: str) -> None:
    higher = set(ROOMS[ROOMS.index(room) + 1 :])
    files = sorted((PROJECT / room).rglob("*.py"))
    assert files, f"the room {room} is empty"
    assert not {str(path.relative_to(PROJECT)): up for path in files if (up := imported_rooms(path) & higher)}


def test_no_modules_import_each_other_not_even_for_the_type_checker() -> None:
    """Neither directly nor through others: each can be read, and moved, without those that use it.

    Not in training: a rule of online training holds its settings, which the configuration finds by the rule's name.
    """
    found = grimp.build_graph(*ROOMS, cache_dir=None)
    # `from package import module` inside of the package itself is no import of what the package collects.
    graph = {
        name: {other for other in found.find_modules_directly_imported_by(name) if not name.startswith(f"{other}.")}
        for name in found.modules
        if not name.startswith("training.")
    }
    assert sum(map(len, graph.values())) > 1000
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_training_uses_what_the_arena_offers_and_not_the_inside_of_its_report() -> None:
    """Sections and pictures are made with arena/report/sections.py."""
    wrong = {
        str(path.relative_to(PROJECT)): inside
        for path in files_of("training")
        if (
            inside := {
                name for name in imported(path) if (name + ".").startswith(("arena.report.page.", "arena.report.html."))
            }
        )
    }
    assert not wrong


def test_the_arena_knows_nothing_of_curricula() -> None:
    """Their tables and pages are an extension's (arena/extensions.py)."""
    files = [path for path in (PROJECT / "arena").rglob("*") if path.suffix in (".py", ".css", ".js", ".html", ".mjs")]
    assert len(files) > 100
    assert not [
        path for path in files if re.search("curricul|lineage", path.read_text(encoding="utf-8"), re.IGNORECASE)
    ]


def test_the_check_sees_an_import_that_points_up(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def later():\n    from arena.store import frame\n    import training\n")
    assert imported_rooms(wrong) == {"arena", "training"}
    assert {"arena.store", "arena.store.frame", "training"} == imported(wrong)


#: What runs with torch loaded: imported inside functions only, by what plays or trains a network.
WITH_TORCH = {
    "training.machines.diagnosis.collective_check",
    "training.machines.diagnosis.devices",
    "training.runs.distributed.sharding",
    "training.machines.memory.estimate",
    "training.machines.memory.fitting",
    "training.envs.engine_battles",
    "training.archive.onnx_model",
    "training.envs.sb3",
    "agents.policy.distributions",
    "agents.policy.joint_policy",
    "agents.policy.network",
    "agents.policy.serve",
    "agents.llm.generation",
    "agents.llm.serve",
    # In metamon's own environment.
    *(f"agents.external.metamon.inside.{name}" for name in ("attention", "loading", "memory", "resident", "seats")),
}
#: The only module that imports Ray at its top; others do so inside functions, where a run is to use it.
WITH_RAY = "arena.workers.cluster.ray_pool"


def test_evaluation_does_not_load_torch_or_what_training_needs() -> None:
    heavy = {"torch", "accelerate", "wandb", "safetensors", "transformers", "peft", "trl", "httpx"}
    for room in ("teamsets", "agents", "arena"):
        for path in (PROJECT / room).rglob("*.py"):
            if ".".join(path.relative_to(PROJECT).with_suffix("").parts) in WITH_TORCH:
                continue
            top = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
            names = {alias.name for node in top if isinstance(node, ast.Import) for alias in node.names}
            names |= {node.module or "" for node in top if isinstance(node, ast.ImportFrom)}
            names |= {
                f"{node.module}.{alias.name}"
                for node in top
                if isinstance(node, ast.ImportFrom)
                for alias in node.names
            }
            assert not {name.split(".")[0] for name in names} & heavy, path
            assert not names & WITH_TORCH, path


def test_what_names_an_agent_has_not_loaded_torch() -> None:
    look = "import sys; from agents import resolve; resolve('policy:nowhere'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", look], cwd=PROJECT, check=False).returncode == 0


#: The modules of training that import torch or wandb at their top; others import them inside functions only.
TRAINS = (
    "training.runs.state", "training.runs.tracking", "training.runs.parameters", "agents.policy.distributions",
    *(
        f"training.offline.{name}"
        for name in ("cloning", "dpo", "learner", "losses", "objective", "offline_rl", "reference", "run_data", "tensors",
                     "trainer", "validation")
    ),
    *(
        f"training.online.{name}"
        for name in ("collecting", "league", "metrics", "noise_scale", "opponent_head", "policy_gradient",
                     "recording", "reference", "replay", "role", "rollout", "rules", "run", "trainer")
    ),
    "training.envs.network_players", "training.envs.network_steps", "training.envs.transfer",
    "training.llm.loading", "training.llm.run", "training.runs.engine_pairs", "training.runs.threads",
    "training.experiments.exploit.run",
)  # fmt: skip


def test_every_test_file_can_be_collected_beside_the_others() -> None:
    """One that cannot (two files of the same name, an import of a module that was renamed) stops the whole suite."""
    files = sorted((PROJECT / "tests").rglob("*.py"))
    names = [path.name for path in files if path.name.startswith("test_")]
    assert not {name for name in names if names.count(name) > 1}
    imported = {
        (path.name, node.module)
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in ROOMS
    }
    ours = {path.relative_to(PROJECT).with_suffix("") for room in ROOMS for path in (PROJECT / room).rglob("*.py")}
    modules = {".".join(path.parts).removesuffix(".__init__") for path in ours}
    assert not {(name, module) for name, module in imported if module not in modules}


def test_without_torch_everything_but_the_trainer_can_be_imported() -> None:
    """Else `make test` fails in a fresh clone: data, plans and reports are tested without torch."""
    files = [path.relative_to(PROJECT) for room in ROOMS for path in sorted((PROJECT / room).rglob("*.py"))]
    names = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in files]
    # These run in an environment of other programs.
    programs = {name for name in names if name.endswith("_launch")}
    programs |= {"agents.external.foul_play_resident", "agents.search.poke_engine.serve"}
    engine_venue = {
        f"arena.venues.engine.{name}" for name in ("requests", "battle", "batches", "replaying", "seat", "venue")
    }
    compiled = {name for name in names if name.startswith("agents.engine.")} - {
        "agents.engine.gen1.layout",
        "agents.engine.gen1.tables",
    }
    compiled |= {name for name in names if name.startswith("agents.observation.engine_")} - {
        "agents.observation.engine_facts",
    }
    exact = "agents.search.exact."
    light = {f"{exact}{name}" for name in ("agent", "battle_log", "omniscient", "tracked_sides")}
    compiled |= {name for name in names if name.startswith(exact)} - light
    wanted = [
        name
        for name in names
        if not name.startswith(TRAINS) and name not in WITH_TORCH | programs | compiled | engine_venue | {WITH_RAY}
    ]
    look = "import sys, importlib\n"
    missing = ("torch", "accelerate", "wandb", "matplotlib", "lz4", "numba", "ray", "transformers", "optuna")
    look += f"for name in {missing}: sys.modules[name] = None\n"
    look += f"for name in {wanted}: importlib.import_module(name)"
    done = subprocess.run([sys.executable, "-c", look], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_no_test_module_imports_another_or_looks_for_modules_elsewhere() -> None:
    """What several test modules need is in tests/support."""
    files = sorted((PROJECT / "tests").rglob("*.py"))
    assert not {
        str(path): names
        for path in files
        if (names := [name for name in imported(path) if "test_" in name.rpartition(".")[2].removesuffix(".py")[:5]])
    }
    changed = [
        path.name for path in files if "sys.path.insert" in path.read_text() or "sys.path.append" in path.read_text()
    ]
    assert changed == ["scripts.py", "test_import_direction.py"]
