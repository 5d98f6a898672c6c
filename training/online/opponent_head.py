"""A head that predicts what the opponent does in the same turn, beside a network that learns by playing.

What it predicts is the id of the move that the opponent chooses or of the Pokémon that it sends in, by the agreement of a
query with the network's own embeddings of them: log P(k) = log softmax_k(q(h) · e_k), k over what was chosen in the rollout.
Its gradient shapes the network. At play it is not asked, and checkpoints of the network do not contain it. Labels are known
where the opponent is a network of this run: agents do not show what they see.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from agents.observation.actions import MOVES, SWITCHES, TERA
from agents.observation.columns import FIELD
from agents.observation.doubles import actions as doubles
from agents.observation.layout import DOUBLES, SINGLES
from agents.policy.network import Network
from training.envs.network_steps import SeenTensors
from training.envs.venue import Ints


@cache
def _tokens(actions: int) -> tuple[int, ...]:
    """Return the token of each action: the move's, or that of the Pokémon that comes in. Its first id is the label.

    actions: number of them. To pass, in doubles, is about the field's.
    """
    if actions == SINGLES.actions:
        spans = ((SINGLES.moves[0], MOVES, 1), (SINGLES.ours[1], SWITCHES, 1), (SINGLES.moves[0], TERA, 1))
    else:
        first, each = DOUBLES.moves[0], doubles.TARGETS
        spans = ((first, doubles.MOVES, each), (first, doubles.SPECIAL, each), (DOUBLES.ours[0], doubles.POKEMON, 1))
    tokens = [FIELD] * actions
    for token, numbers, per_token in spans:
        for place, action in enumerate(numbers):
            tokens[action] = token + place // per_token
    return tuple(tokens)


def chosen_ids(seen: SeenTensors, actions: Tensor) -> Tensor:
    """Return the vocabulary ids [n] of what actions [n] name: a move, or a Pokémon that comes in."""
    tokens = torch.tensor(_tokens(seen.legal.shape[1]), device=actions.device)[actions]  # [n]
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
