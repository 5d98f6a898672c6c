"""Imports point one way only: teamsets <- agents <- arena <- training."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOMS = ("teamsets", "agents", "arena", "training")
ROOT = Path(__file__).parents[1]


def imported_rooms(path: Path) -> set[str]:
    """The rooms that a file imports from, at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found & set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_imports_a_higher_one(room: str) -> None:
    higher = set(ROOMS[ROOMS.index(room) + 1 :])
    files = sorted((ROOT / room).rglob("*.py"))
    assert files, f"the room {room} is empty"
    assert not {str(path.relative_to(ROOT)): up for path in files if (up := imported_rooms(path) & higher)}


def test_the_check_sees_an_import_that_points_up(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("def later():\n    from arena.store import frame\n    import training\n")
    assert imported_rooms(wrong) == {"arena", "training"}


#: What runs with torch loaded: imported inside functions only, by what plays or trains a network.
WITH_TORCH = {"agents.policy.network", "agents.policy.serve"}


def test_evaluation_does_not_load_torch_or_what_training_needs() -> None:
    heavy = {"torch", "accelerate", "wandb", "safetensors"}
    for room in ("teamsets", "agents", "arena"):
        for path in (ROOT / room).rglob("*.py"):
            if ".".join(path.relative_to(ROOT).with_suffix("").parts) in WITH_TORCH:
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
    assert subprocess.run([sys.executable, "-c", look], cwd=ROOT, check=False).returncode == 0
