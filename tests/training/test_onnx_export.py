"""`train export`: the ONNX model has the network's logits and values, on decisions of real battles and beside padding."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.command_line import Said

torch = pytest.importorskip("torch")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Network, expected_value  # noqa: E402
from agents.policy.shape import Shape  # noqa: E402
from training.archive.onnx_model import INPUTS, OUTPUTS, compared, export, random_inputs  # noqa: E402
from training.data.trajectory import Trajectory  # noqa: E402

pytestmark = pytest.mark.slow

NETWORK = "gen1ou-tiny"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("onnx") / "policy.onnx"
    assert export(checkpoint.find(NETWORK), file) < 1e-4
    return file


def test_real_decisions_get_the_networks_logits(exported: Path, observed_sides: list[Trajectory]) -> None:
    network, _ = checkpoint.load(checkpoint.find(NETWORK))
    session = onnxruntime.InferenceSession(str(exported), providers=["CPUExecutionProvider"])
    for side in observed_sides[:4]:
        inputs = (side.token_ids[None].astype(np.int64), side.features[None].astype(np.float32), side.legal[None])
        logits, values = session.run(list(OUTPUTS), dict(zip(INPUTS, inputs, strict=True)))
        whole = torch.ones(inputs[2].shape[:2], dtype=torch.bool)
        with torch.no_grad():
            expected = network(*map(torch.from_numpy, inputs), whole)
        assert (np.isneginf(logits) == np.isneginf(expected.logits.numpy())).all()
        np.testing.assert_allclose(logits[inputs[2]], expected.logits.numpy()[inputs[2]], atol=1e-4)
        np.testing.assert_allclose(values, expected_value(expected.value).numpy(), atol=1e-5)


def test_what_stands_behind_a_decision_changes_nothing(exported: Path) -> None:
    session = onnxruntime.InferenceSession(str(exported), providers=["CPUExecutionProvider"])
    inputs = dict(zip(INPUTS, (each.numpy() for each in random_inputs(2, 6)), strict=True))
    shorter = {name: each[:1, :4] for name, each in inputs.items()}
    for whole, part in zip(session.run(None, inputs), session.run(None, shorter), strict=True):
        np.testing.assert_allclose(whole[:1, :4], part, atol=1e-5)


@pytest.mark.parametrize("slots", [1, 2])
def test_a_battle_beyond_the_window_is_the_networks_too(tmp_path: Path, slots: int) -> None:
    """Of doubles with a policy for each slot."""
    shape = Shape(8, 1, 1, 16, 2, 2, window=3, expansion=2, bins=5, dropout=0.1, slots=slots, policies=slots)
    network = Network(shape).eval()
    folder = checkpoint.save(tmp_path / "run" / "checkpoints" / "step-000000001", network, 1)
    assert export(folder, tmp_path / "small.onnx") < 1e-4
    assert compared(network, tmp_path / "small.onnx", random_inputs(2, 9, seed=1, layout=network.layout)) < 1e-4


def test_the_command_says_how_near_it_is(train_command: Callable[..., Said], tmp_path: Path) -> None:
    said = train_command("export", NETWORK, "--json", cwd=tmp_path)
    assert said.code == 0, said.err
    found = json.loads(said.out)
    assert found["difference"] < 1e-4 and (tmp_path / f"{NETWORK}.onnx").stat().st_size == found["bytes"]
