"""A head that predicts what the opponent does in the same turn, beside a network that learns by playing.

What it predicts is the id of the move that the opponent chooses or of the Pokémon that it sends in, by the agreement of a
query with the network's own embeddings of them: log P(k) = log softmax_k(q(h) · e_k), k over what was chosen in the rollout.
Its gradient shapes the network. At play it is not asked, and checkpoints of the network do not contain it. Labels are known
where the opponent is a network of this run: agents do not show what they see.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from agents.observation.actions import ACTIONS, MOVES, SWITCHES, TERA
from agents.observation.observation import OUR_MOVES, OURS
from agents.policy.network import Network
from training.online.players import Ints
from training.online.steps import SeenTensors

#: The token of each action: the move's, or that of the Pokémon on the bench. Its first id is the label.
_TOKENS = [0] * ACTIONS
for _first, _actions in ((OUR_MOVES[0], MOVES), (OURS[1], SWITCHES), (OUR_MOVES[0], TERA)):
    for _place, _action in enumerate(_actions):
        _TOKENS[_action] = _first + _place


def chosen_ids(seen: SeenTensors, actions: Tensor) -> Tensor:
    """Return the vocabulary ids [n] of what actions [n] name: a move, or a Pokémon that comes in."""
    tokens = torch.tensor(_TOKENS, device=actions.device)[actions]  # [n]
    return seen.token_ids[torch.arange(len(actions), device=actions.device), tokens, 0].long()


def of_opponents(rows: Ints, seats: Ints, chosen: Tensor) -> Tensor:
    """Return what each seat's opponent has chosen in the same step, [n]; -1 where it was not asked, or is no network.

    rows, seats: [n], of the seats that networks have decided for. chosen: [n], see `chosen_ids`.
    """
    places = torch.full((int(rows.max()) + 1, 2), -1)
    row, seat = torch.from_numpy(rows), torch.from_numpy(seats)
    places[row, seat] = torch.arange(len(rows))
    other = places[row, 1 - seat].to(chosen.device)
    return torch.where(other >= 0, chosen[other.clamp(min=0)], -1)


class OpponentHead(nn.Module):
    """See the module. network: the one that it is beside; only its embeddings are read."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.query = nn.Linear(network.shape.width, network.shape.token_width)
        nn.init.normal_(self.query.weight, std=network.shape.width**-0.5)
        nn.init.zeros_(self.query.bias)

    def loss(self, network: Network, context: Tensor, labels: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean cross-entropy, in nats, and the share of right predictions, over decisions with a label.

        context: [n, width], of the network (`Output.context`). labels: int64 [n], places in `classes`; -1: none. classes:
        int64 [k], the ids among which one is chosen; none (k = 0) where no decision has a label: then both are 0.
        """
        if not len(classes):
            nothing = context.new_zeros(())
            return nothing, nothing
        logits = self.query(context) @ network.token_embedding.weight[classes].T  # [n, k]
        known = (labels >= 0).sum().clamp(min=1)
        right = (logits.argmax(-1) == labels).sum() / known
        return cross_entropy(logits, labels, ignore_index=-1, reduction="sum") / known, right


def indexed(labels: Tensor, shuffled: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """Return the labels [D] as places among the ids that occur, and those ids; -1 stays.

    shuffled: the labels change places among the decisions that have one: the control, of which nothing can be learned but
    how often each occurs.
    """
    known = (labels >= 0).nonzero()[:, 0]
    given = labels[known]
    if shuffled is not None:
        given = given[torch.randperm(len(given), generator=shuffled).to(given.device)]
    classes, places = given.unique(return_inverse=True)
    indexed_labels = torch.full_like(labels, -1)
    indexed_labels[known] = places
    return indexed_labels, classes
