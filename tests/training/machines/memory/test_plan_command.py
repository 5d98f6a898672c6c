"""`train plan`: what it prints, writes and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("torch")

from teamsets.errors import BadInput
from training.commands.plan import plan
from training.offline.config import Config
from training.runs.config_reader import load


def test_the_recommended_settings_are_written_as_a_configuration(tmp_path: Path) -> None:
    file = tmp_path / "fits.yaml"
    arguments = ["large", "--gpus", "8", "--memory", "40GB", "--write", str(file)]
    result = CliRunner().invoke(plan, arguments, catch_exceptions=False)
    assert (
        result.exit_code == 0 and "203,369,011 parameters" in result.output and "recommended: DDP bf16" in result.output
    )
    compute = load(Config, file).compute
    assert (compute.precision, compute.activation_checkpointing, compute.sharding) == ("bf16", False, "none")


def test_what_does_not_fit_exits_with_1_and_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "fits.yaml"
    result = CliRunner().invoke(plan, ["large", "--gpus", "1", "--memory", "900MB", "--write", str(file)])
    assert result.exit_code == 1 and "nothing fits" in result.output and not file.exists()


@pytest.mark.parametrize("size", ["40", "40 TB", "-1GB", "0GB", "GB"])
def test_a_size_without_sense_is_named(size: str) -> None:
    with pytest.raises(BadInput, match=r"--memory .*: must be a number above 0 and a unit of GB, GiB, MB, MiB"):
        CliRunner().invoke(plan, ["tiny", f"--memory={size}"], catch_exceptions=False)
