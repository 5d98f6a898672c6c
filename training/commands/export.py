"""`train export`: a network as an ONNX model."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import click

from arena.terminal.commands import json_option, print_json
from arena.terminal.targets import check_target
from teamsets.errors import MissingTool
from training.commands.running import need_packages

_NEEDED = ("onnx", "onnxscript", "onnxruntime")


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="The file to write.  [default: NAME.onnx]")
@json_option
def export(run: str, out: Path | None, as_json: bool) -> None:
    """Write a network as an ONNX model, for programs without torch.

    RUN is a run's folder, RUN@best, RUN@last or RUN@STEP, or the name of a shipped network.

    The file is compared with the checkpoint by onnxruntime before the command ends. docs/policy.md has its inputs and
    outputs, and an example.

    \b
    Examples:
      train export runs/tiny@best --out tiny.onnx
      train export gen1ou
    """
    need_packages()
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingTool(
            f"train export: {', '.join(missing)} not installed: pip install 'battle-arena[onnx]' (in a clone: "
            ".venv/bin/uv pip install -c constraints.txt -e '.[onnx]')"
        )
    from agents.policy import checkpoint

    folder = checkpoint.find(run)
    name = folder.parent.parent.name if folder.parent.name == "checkpoints" else folder.name
    file = out or Path(f"{name}.onnx")
    check_target(file)
    print("loading torch ...", file=sys.stderr)
    from training.archive.onnx_model import export as write

    difference = write(folder, file)
    if as_json:
        print_json({"file": file, "checkpoint": folder, "bytes": file.stat().st_size, "difference": difference})
        return
    size = f"{file.stat().st_size / 1e6:.1f} MB"
    print(f"{file}: {size}, the network of {folder}; largest difference of its log-probabilities: {difference:.1g}")
