"""A checkpoint's network as an ONNX model, for programs that have no torch.

The model processes whole battles, as `Network.forward` does, with all positions dense: a program gives the decisions of
each battle so far and reads the last row. Causal attention makes what stands behind a decision irrelevant to it, so shorter
battles of a batch may be padded with anything.
"""

from __future__ import annotations

import json
import logging
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from agents.observation.layout import SINGLES, Layout
from agents.policy import checkpoint
from agents.policy.network import Block, Network, expected_value, of_second

#: What the model takes and returns, in order.
INPUTS, OUTPUTS = ("token_ids", "features", "legal"), ("logits", "win_probability")
#: The largest difference to torch's log-probabilities that an export may have.
TOLERANCE = 1e-3


class DenseNetwork(nn.Module):
    """A network without shapes that depend on what a tensor holds: token_ids int64 [B, T, 19, 12], features [B, T, 19, 56],
    legal bool [B, T, 13] -> logits [B, T, 13], win probability [B, T]."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, token_ids: Tensor, features: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        logits, value = self._outputs(self.network, token_ids, features, legal)
        if self.network.second is not None:
            others = self._outputs(self.network.second, token_ids, features, legal)
            is_other = of_second(features)
            logits, value = torch.where(is_other[..., None], others[0], logits), torch.where(is_other, others[1], value)
        return logits, value

    @staticmethod
    def _outputs(net: Network, token_ids: Tensor, features: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        batch, length = legal.shape[:2]
        ids, count = token_ids.flatten(0, 1), net.layout.tokens  # [N, 19, 12]
        embedded = embedding(ids, net.token_embedding.weight) * (ids != 0)[..., None]
        tokens = embedded.sum(2) + net.feature_projection(features.flatten(0, 1)) + net.position_embedding[:count]
        x = torch.cat([tokens, net.position_embedding[count:].expand(tokens.shape[0], 1, -1)], dim=1)  # [N, 20, ...]
        for layer in net.token_layers:
            x = layer(x, None, False, None)
        x = net.token_norm(x)
        tokens, summary = x[:, :count], net.summary_projection(x[:, count])
        numbers = torch.arange(length, device=x.device)
        distance = numbers[:, None] - numbers  # [T, T]
        mask = (distance >= 0) & (distance < net.shape.window)
        rotary = net._rotary_angles(numbers)
        x = summary.unflatten(0, (batch, length))
        for layer in net.layers:
            assert isinstance(layer, Block)
            x = layer(x, mask, False, rotary)
        logits, value = net._heads(x.flatten(0, 1), tokens, legal.flatten(0, 1))
        return logits.unflatten(0, (batch, length)), expected_value(value).unflatten(0, (batch, length))


def export(folder: Path, file: Path) -> float:
    """Write the network of a checkpoint's folder to an ONNX file, and compare the two.

    Returns the largest difference of log-probabilities and win probabilities on random observations. Raises BadInput for a
    checkpoint that cannot be used, and ValueError for a difference above TOLERANCE.
    """
    network, about = checkpoint.load(folder)
    dense = DenseNetwork(network).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter, about its own internals, as in its log
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        program = torch.onnx.export(
            dense,
            random_inputs(2, 3, layout=network.layout),
            input_names=list(INPUTS),
            output_names=list(OUTPUTS),
            dynamic_shapes={
                name: {0: torch.export.Dim("battles"), 1: torch.export.Dim("decisions")} for name in INPUTS
            },
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    model = program.model_proto
    layout = network.layout
    facts = {
        "step": about.step, "observation": layout.version, "actions": layout.actions,
        "checkpoint": checkpoint.identity(folder),
    }  # fmt: skip
    for name, value in facts.items():
        model.metadata_props.append(onnx.StringStringEntryProto(key=name, value=json.dumps(value)))
    onnx.checker.check_model(model)
    onnx.save(model, file)
    sizes = ((1, 1), (3, network.shape.window + 2))
    difference = max(compared(network, file, random_inputs(*size, layout=layout)) for size in sizes)
    if difference > TOLERANCE:
        raise ValueError(f"{file}: differs from the checkpoint by {difference:.2g}: it was exported wrongly")
    return difference


def random_inputs(
    battles: int, decisions: int, seed: int = 0, layout: Layout = SINGLES
) -> tuple[Tensor, Tensor, Tensor]:
    """Observations of no battle, with one or more legal actions each."""
    rng = np.random.default_rng(seed)
    size = (battles, decisions)
    shape = (*size, layout.tokens, layout.ids)
    ids = rng.integers(0, 500, shape) * (rng.random(shape) < 0.6)
    legal = rng.random((*size, layout.actions)) < 0.5
    legal[..., 0] = True
    features = rng.normal(size=(*size, layout.tokens, layout.features)).astype(np.float32)
    return torch.from_numpy(ids.astype(np.int64)), torch.from_numpy(features), torch.from_numpy(legal)


def compared(network: Network, file: Path, inputs: tuple[Tensor, Tensor, Tensor]) -> float:
    """The largest difference of the file's outputs, by onnxruntime, to a network's: of log-probabilities, and of values."""
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    logits, values = session.run(None, {name: each.numpy() for name, each in zip(INPUTS, inputs, strict=True)})
    with torch.no_grad():
        expected = network(*inputs, torch.ones(inputs[2].shape[:2], dtype=torch.bool))
    legal = inputs[2]
    ours, theirs = (each.log_softmax(-1)[legal] for each in (torch.from_numpy(logits), expected.logits))
    return max(
        float((ours - theirs).abs().max()),
        float((torch.from_numpy(values) - expected_value(expected.value)).abs().max()),
    )
