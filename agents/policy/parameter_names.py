"""Former names of the network's parameters, so that older checkpoints and `network.freeze` patterns stay readable."""

from __future__ import annotations

#: Former name of a module or parameter -> present name.
FORMER_NAMES = {
    "words": "token_embedding",
    "numbers": "feature_projection",
    "places": "position_embedding",
    "raise_summary": "summary_projection",
    "before": "norm1",
    "between": "norm2",
    "project_in": "qkv",
    "project_out": "attention_out",
    "widen": "fc_in",
    "narrow": "fc_out",
    "asked": "policy_query",
    "switch": "policy_switch",
    "move": "policy_move",
    "scores": "policy_head",
    "value_hidden": "value_fc",
    "value": "value_head",
}
_FORMER = {name: former for former, name in FORMER_NAMES.items()}


def former_name(parameter: str) -> str:
    """Return the former name of a parameter: `layers.0.qkv.weight` -> `layers.0.project_in.weight`."""
    return ".".join(_FORMER.get(part, part) for part in parameter.split("."))


def present_name(parameter: str) -> str:
    """Return the present name of a parameter, given its present or former name."""
    return ".".join(FORMER_NAMES.get(part, part) for part in parameter.split("."))
