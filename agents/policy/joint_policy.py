"""The policy head of doubles: the logits of one slot's decision (agents/observation/doubles/actions.py).

As in singles an action is scored by additive attention, of the context to what the action is about: a move and the Pokémon
that it is aimed at, or a Pokémon that comes in.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu

from agents.observation.layout import DOUBLES


class JointPolicy(nn.Module):
    """Scores the actions of a decision. narrow, wide: the widths of the tokens and of the context."""

    def __init__(self, narrow: int, wide: int) -> None:
        super().__init__()
        # For each kind of action: a move, a move with the mechanic of the battle, one of our Pokémon, to pass.
        self.query = nn.Linear(wide, 4 * narrow)
        self.move, self.target = nn.Linear(narrow, 2 * narrow), nn.Linear(narrow, narrow)
        self.pokemon = nn.Linear(narrow, narrow)
        self.no_target = nn.Parameter(torch.zeros(narrow))
        self.head = nn.Parameter(torch.empty(4, narrow))
        nn.init.normal_(self.head, std=0.1 * narrow**-0.5)

    def forward(self, context: Tensor, tokens: Tensor) -> Tensor:
        """Context [N, width] and tokens [N, 23, token_width] -> logits [N, 39], of illegal actions, too."""
        ours, theirs, moves = DOUBLES.ours, DOUBLES.theirs, DOUBLES.moves
        plain_query, special_query, own_query, pass_query = self.query(context)[:, None].chunk(4, dim=-1)
        plain, special = self.move(tokens[:, moves[0] : moves[0] + 4])[:, :, None].chunk(2, dim=-1)  # [N, 4, 1, ...]
        aimed = self.target(torch.cat([tokens[:, theirs[0] : theirs[0] + 2], tokens[:, ours[1], None]], dim=1))
        targets = torch.cat([self.no_target.expand(tokens.shape[0], 1, -1).to(aimed.dtype), aimed], dim=1)[:, None]
        hidden = (
            (plain_query[:, None] + plain + targets).flatten(1, 2),  # [N, 16, token_width]
            (special_query[:, None] + special + targets).flatten(1, 2),
            own_query + self.pokemon(tokens[:, ours[0] : ours[-1] + 1]),  # [N, 6, token_width]
            pass_query,  # [N, 1, token_width]
        )
        return torch.cat([gelu(part, approximate="tanh") @ self.head[kind] for kind, part in enumerate(hidden)], dim=-1)
