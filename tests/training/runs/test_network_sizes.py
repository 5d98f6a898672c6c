"""Networks of any size: presets with other sizes, and networks that begin as smaller ones with fewer layers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from support.online import settings  # noqa: E402

from agents.observation.layout import layout_of  # noqa: E402
from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Network, Output  # noqa: E402
from agents.policy.shape import PRESETS, Shape, resized  # noqa: E402
from teamsets.formats import get_format  # noqa: E402
from training.experiments.ablation.cells import parameters  # noqa: E402
from training.experiments.exploit.settings import ExploitSettings, plan_exploit  # noqa: E402
from training.offline.config import Config  # noqa: E402
from training.offline.finetune import FineTuning  # noqa: E402
from training.offline.learner import build_network  # noqa: E402
from training.online.role import Role  # noqa: E402
from training.runs.config_reader import BadConfig, validated  # noqa: E402
from training.runs.parameters import initialized, take_over  # noqa: E402
from training.runs.shipped import resolve_path  # noqa: E402

DEEPER = {"layers": 3, "token_layers": 2}


def lively(shape: Shape) -> Network:
    """A random network whose outputs are far from uniform."""
    torch.manual_seed(0)
    network = Network(shape).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return network


def outputs(network: Network) -> Output:
    layout = layout_of(network.shape.slots)
    torch.manual_seed(1)
    ids = torch.randint(0, 100, (2, 5, layout.tokens, layout.ids), dtype=torch.int16)
    legal = torch.ones(2, 5, layout.actions, dtype=torch.bool)
    return network(ids, torch.randn(2, 5, layout.tokens, layout.features), legal, torch.ones(2, 5, dtype=torch.bool))


@pytest.mark.parametrize(("slots", "policies"), [(1, 1), (2, 1), (2, 2)])
def test_a_deeper_network_begins_as_the_one_it_takes_over_and_all_of_it_learns(slots: int, policies: int) -> None:
    small = lively(replace(PRESETS["micro"], slots=slots))
    network = Network(replace(resized("micro", DEEPER), slots=slots, policies=policies)).eval()
    take_over(network, small)
    for mine, theirs in zip(outputs(network)[:2], outputs(small)[:2], strict=True):
        torch.testing.assert_close(mine, theirs)
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    for _ in range(2):  # the first step makes the outputs of the new layers non-zero
        optimizer.zero_grad()
        found = outputs(network)
        (found.logits.log_softmax(-1)[..., 0].sum() + found.value[..., 0].sum()).backward()
        optimizer.step()
    for layers in (network.layers, network.token_layers):
        for name, parameter in layers[-1].named_parameters():
            assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def saved(folder: Path, shape: Shape) -> tuple[str, Network]:
    network = lively(shape)
    return str(checkpoint.save(checkpoint.folder_of(folder, 1), network, 1)), network


def role(**network: Any) -> Role:
    changes = {f"learner__network__{key}": value for key, value in network.items()}
    return Role("learner", settings("ppo", **changes).learner, 0, get_format("gen1ou"), torch.device("cpu"))


def test_runs_start_from_a_network_with_fewer_layers_and_from_no_other(tmp_path: Path) -> None:
    start, small = saved(tmp_path / "run", PRESETS["micro"])
    network = role(preset="micro", sizes=DEEPER, start_from=start).network
    torch.testing.assert_close(outputs(network).logits, outputs(small).logits)
    cloned = validated(Config, read("tiny", start_from=start, preset="micro", sizes=DEEPER), "test")
    network, lineage = build_network(cloned.network, None)
    torch.testing.assert_close(outputs(network.eval()).value, outputs(small).value)
    assert [parent["step"] for parent in lineage] == [1] and network.shape.layers == 3

    wider, _ = saved(tmp_path / "other", resized("micro", {"width": 80, "layers": 2}))
    refusal = (
        "is micro with width=80, layers=2, not micro: set preset: micro, sizes: {width: 80, layers: 2}; more layers"
    )
    with pytest.raises(BadConfig, match=refusal):
        role(preset="micro", start_from=wider)
    with pytest.raises(BadConfig, match=refusal):
        build_network(validated(Config, read("tiny", start_from=wider, preset="micro"), "test").network, None)


def read(source: str, **network: Any) -> Any:
    import yaml

    settings_read = yaml.safe_load(resolve_path(source, "preset").read_text())
    return settings_read | {"network": {**settings_read["network"], **network}}


def test_what_continues_a_checkpoint_takes_its_sizes(tmp_path: Path) -> None:
    """Fine-tuning and a best response; a configuration from before there were sizes has those of its preset."""
    start, _ = saved(tmp_path / "run", resized("micro", DEEPER))
    tuned = (
        FineTuning(start_from=start, out=tmp_path / "tuned").config(validated(Config, read("finetune"), "test")).network
    )
    response = plan_exploit(
        ExploitSettings(agent=f"policy:{start}", format="gen1ou", decisions=1)
    ).config.learner.network
    for network in (tuned, response):
        assert (network.preset, network.sizes, network.start_from) == ("micro", DEEPER, start)
        assert network.shape.layers == 3
    before = read("small")
    del before["network"]["sizes"]
    assert validated(Config, before, "test").network.shape == PRESETS["small"]
    assert parameters(network.shape) > parameters(PRESETS["micro"])


def test_a_network_larger_than_the_memory_is_refused_before_it_is_allocated(monkeypatch: pytest.MonkeyPatch) -> None:
    micro = PRESETS["micro"]
    counted = initialized(micro, "network").parameter_count
    assert 0.1 * counted < micro.layer_parameters < counted
    both = replace(micro, slots=2, policies=2)
    assert both.layer_parameters == 2 * micro.layer_parameters
    huge = {"width": 1_000_000, "window": 1}
    for build in (
        lambda: role(preset="micro", sizes=huge),
        lambda: build_network(validated(Config, read("tiny", preset="micro", sizes=huge), "test").network, None),
    ):
        with pytest.raises(
            BadConfig, match=r"network: micro with width=1000000, window=1: needs 128,0\d\d GB of memory"
        ):
            build()
    for gpu, factor in ((False, 16), (True, 4)):
        monkeypatch.setattr(torch.cuda, "is_available", lambda gpu=gpu: gpu)
        pages = {"SC_PAGE_SIZE": factor, "SC_PHYS_PAGES": micro.layer_parameters}
        monkeypatch.setattr("os.sysconf", pages.__getitem__)
        initialized(micro, "network")
        pages["SC_PHYS_PAGES"] -= 1
        with pytest.raises(
            BadConfig, match=r"^network: micro: needs 0 GB of memory at least, and this machine has 0 GB: choose"
        ):
            initialized(micro, "network")
