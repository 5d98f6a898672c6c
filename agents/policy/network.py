"""The network: a transformer over the 19 tokens of each decision, then a causal transformer over a battle's decisions.

    token_ids, features -> tokens    sum of the token's id embeddings, a linear layer of its features, position embedding
    tokens -> summary                narrow transformer over the tokens of one decision and a summary token
    summaries -> context             wide causal transformer over decisions, with a sliding window and rotary positions
    context, tokens -> logits        additive attention (Bahdanau et al. 2015): the context scores each action's token
    context -> value                 categorical distribution over the result, from 0 (lost) to 1 (won)

`forward` processes whole battles side by side, `forward_packed` end to end, for training. `step` processes one decision of
many battles with a key-value cache each, for play. All give the same outputs. Per decision the narrow transformer processes
20 tokens and the wide one a single token, hence their widths.

The shapes below are those of singles. A network of doubles (`Shape.slots` 2) reads 23 tokens of 80 features and has 39
actions; each slot's choice is a decision (agents/observation/doubles). With `Shape.policies` 2 the two slots are two agents:
the choices of slot b are those of a second network with weights of its own, which sees all of the battle's decisions, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, gelu, pad, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from agents.observation.actions import MOVES, SWITCHES
from agents.observation.doubles.columns import FIELD, FieldFeature
from agents.observation.layout import layout_of
from agents.observation.vocabulary import vocabulary
from agents.policy.joint_policy import JointPolicy
from agents.policy.shape import Shape

#: Ids that `embedded_with_spread_zeros` has for none.
_ZEROS = 1024


class Output(NamedTuple):
    """The network's outputs. context: of `forward_packed` alone, for heads beside the network that only training has."""

    logits: Tensor  # [..., 13], -inf for illegal actions
    value: Tensor  # [..., bins], logits of the result's distribution
    context: Tensor | None = None  # [N, width]


class Memory:
    """Key-value cache of `step` for many battles: a ring buffer with the last `window` decisions of each, per layer.

    Each battle has a slot; its decision t is at index t % window. keys, values: [layers, slots, heads, window, width /
    heads]. second: that of the second policy, if there is one.
    """

    def __init__(self, shape: Shape, slots: int, device: torch.device | str = "cpu") -> None:
        size = (shape.layers, slots, shape.heads, shape.window, shape.width // shape.heads)
        self.keys, self.values = torch.zeros(size, device=device), torch.zeros(size, device=device)
        self.second = None if shape.policies == 1 else Memory(replace(shape, policies=1), slots, device)

    @property
    def slots(self) -> int:
        return self.keys.shape[1]

    def copy(self, sources: NDArray[np.int64], targets: NDArray[np.int64]) -> None:
        """Give the slots `targets` what those in `sources` hold."""
        for cache in (self.keys, self.values):
            cache[:, targets] = cache[:, sources]
        if self.second is not None:
            self.second.copy(sources, targets)

    def grow(self, slots: int) -> None:
        """Enlarge the cache to `slots` battles; existing battles keep their slots."""
        if slots > self.slots:
            more = list(self.keys.shape)
            more[1] = slots - self.slots
            self.keys = torch.cat([self.keys, self.keys.new_zeros(more)], dim=1)
            self.values = torch.cat([self.values, self.values.new_zeros(more)], dim=1)
            if self.second is not None:
                self.second.grow(slots)


class Block(nn.Module):
    """A pre-norm transformer layer, split into `project` and `complete` so that `Network.step` can attend to its cache."""

    def __init__(self, width: int, heads: int, expansion: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.attention_out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc_in, self.fc_out = nn.Linear(width, expansion * width), nn.Linear(expansion * width, width)
        self.dropout = nn.Dropout(dropout)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[N, L, width] -> queries, keys, values, each [N, heads, L, width / heads]."""
        n, length, _ = x.shape
        parts = self.qkv(self.norm1(x)).view(n, length, 3, self.heads, -1)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4).unbind(0)
        return queries, keys, values

    def complete(self, x: Tensor, attended: Tensor) -> Tensor:
        """Add the attention output and the feed-forward layer. x: [N, L, width]; attended: [N, heads, L, width / heads]."""
        x = x + self.dropout(self.attention_out(attended.transpose(1, 2).flatten(2)))
        return x + self.dropout(self.fc_out(gelu(self.fc_in(self.norm2(x)), approximate="tanh")))

    def forward(self, x: Tensor, mask: Tensor | None, causal: bool, rotary: tuple[Tensor, Tensor] | None) -> Tensor:
        """x [N, L, width], mask: bool [L, L] or None, rotary: cos and sin [L, width / heads / 2] -> [N, L, width]."""
        queries, keys, values = self.project(x)
        if rotary is not None:
            queries, keys = apply_rotary(queries, *rotary), apply_rotary(keys, *rotary)
        return self.complete(x, scaled_dot_product_attention(queries, keys, values, mask, is_causal=causal))

    def forward_chunks(self, x: Tensor, mask: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
        """A line of K chunks of C places, in which each place attends to its own chunk and the one before.

        x [K, C, width], mask: bool [K, 1, C, 2 C], rotary: cos and sin [K, 1, C, width / heads / 2] -> [K, C, width].
        """
        queries, keys, values = self.project(x)
        queries, keys = apply_rotary(queries, *rotary), apply_rotary(keys, *rotary)
        keys, values = (torch.cat([each.roll(1, 0), each], dim=2) for each in (keys, values))
        return self.complete(x, scaled_dot_product_attention(queries, keys, values, mask))


class Network(nn.Module):
    """The policy and value network. checkpointing: activation checkpointing of each layer."""

    def __init__(self, shape: Shape, checkpointing: bool = False) -> None:
        super().__init__()
        self.shape, self.checkpointing, self.layout = shape, checkpointing, layout_of(shape.slots)
        narrow, wide = shape.token_width, shape.width
        self.token_embedding = nn.EmbeddingBag(vocabulary().size, narrow, mode="sum", padding_idx=0)
        self.feature_projection = nn.Linear(self.layout.features, narrow)
        # The last one is the summary token's.
        self.position_embedding = nn.Parameter(torch.empty(self.layout.tokens + 1, narrow))
        self.token_layers = nn.ModuleList(
            Block(narrow, shape.token_heads, shape.expansion, shape.dropout) for _ in range(shape.token_layers)
        )
        self.token_norm = nn.LayerNorm(narrow)
        self.summary_projection = nn.Linear(narrow, wide)
        self.layers = nn.ModuleList(
            Block(wide, shape.heads, shape.expansion, shape.dropout) for _ in range(shape.layers)
        )
        self.norm = nn.LayerNorm(wide)
        if shape.slots == 1:
            # One hidden layer for each kind of action: switch, move, move with terastallization.
            self.policy_query = nn.Linear(wide, 3 * narrow)
            self.policy_switch, self.policy_move = nn.Linear(narrow, narrow), nn.Linear(narrow, 2 * narrow)
            self.policy_head = nn.Parameter(torch.empty(3, narrow))
        else:
            self.joint_policy = JointPolicy(narrow, wide)
        self.value_fc, self.value_head = nn.Linear(wide, wide), nn.Linear(wide, shape.bins)
        self._initialise()
        self.second = None if shape.policies == 1 else Network(replace(shape, policies=1), checkpointing)

    @torch.no_grad()
    def _initialise(self) -> None:
        """Initialize the weights; output layers of residual branches are scaled by 1 / sqrt(2 * layers), as in GPT-2."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=module.in_features**-0.5)
                nn.init.zeros_(module.bias)
        for layers in (self.token_layers, self.layers):
            for layer in layers:
                assert isinstance(layer, Block)
                for last in (layer.attention_out, layer.fc_out):
                    last.weight.mul_((2 * len(layers)) ** -0.5)
        nn.init.normal_(self.token_embedding.weight, std=0.1)
        self.token_embedding.weight[0].zero_()
        nn.init.normal_(self.position_embedding, std=0.1)
        if self.shape.slots == 1:
            nn.init.normal_(self.policy_head, std=0.1 * self.shape.token_width**-0.5)
        self.value_head.weight.mul_(0.1)

    @property
    def parameter_count(self) -> int:
        """Number of parameters."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(self, token_ids: Tensor, features: Tensor, legal: Tensor, valid_mask: Tensor) -> Output:
        """Process B whole battles, each from its first decision. Returns logits [B, T, 13] and value [B, T, bins].

        token_ids: int16 or int64 [B, T, 19, 12]; features: float32 [B, T, 19, 56]; legal: bool [B, T, 13]; valid_mask: bool
        [B, T], False for the padding at the end of shorter battles. Both outputs are 0 at padding; the logits of a decision
        without legal actions are all -inf.
        """
        batch, length = valid_mask.shape
        tokens, summary = self.encode(token_ids[valid_mask], features[valid_mask])  # [N, 19, token_width], [N, width]
        x = summary.new_zeros(batch, length, self.shape.width)  # [B, T, width]
        x[valid_mask] = summary
        # Padding is at the end, so the causal mask hides it from all valid decisions.
        mask = None
        if length > self.shape.window:
            distance = torch.arange(length, device=x.device)
            distance = distance[:, None] - distance  # [T, T]
            mask = (distance >= 0) & (distance < self.shape.window)
        rotary = self._rotary_angles(torch.arange(length, device=x.device))
        for layer in self.layers:
            x = self._run(layer, x, mask, mask is None, rotary)
        logits, value = self._heads(x[valid_mask], tokens, legal[valid_mask])  # [N, 13], [N, bins]
        own = Output(
            logits.new_zeros(batch, length, self.layout.actions).masked_scatter(valid_mask[..., None], logits),
            value.new_zeros(batch, length, self.shape.bins).masked_scatter(valid_mask[..., None], value),
        )
        return self._with_second(own, features, lambda second: second(token_ids, features, legal, valid_mask))

    def forward_packed(self, token_ids: Tensor, features: Tensor, legal: Tensor, positions: Tensor) -> Output:
        """Process whole battles laid end to end. Returns logits [N, 13] and value [N, bins]; the same as `forward`.

        Without padding, and without waiting for a GPU: no shape depends on what a tensor holds. token_ids: int16 or int64
        [N, 19, 12]; features: float32 [N, 19, 56]; legal: bool [N, 13]; positions: int64 [N], each decision's number in its
        battle; a 0 begins the next battle.
        """
        n, window = len(positions), self.shape.window
        chunks = -(-n // window)
        tokens, summary = self.encode(token_ids, features)  # [N, 19, token_width], [N, width]
        padding = chunks * window - n
        x = pad(summary, (0, 0, 0, padding)).view(chunks, window, -1)
        numbers = pad(positions, (0, padding)).view(chunks, window)  # padding: battles of one decision
        battle = (numbers == 0).flatten().cumsum(0).view(chunks, window)
        before = battle.roll(1, 0)
        before[0] = -1  # no battle
        distance = torch.arange(window, device=x.device)[:, None] - torch.arange(-window, window, device=x.device)
        mask = battle[:, :, None] == torch.cat([before, battle], dim=1)[:, None]  # [chunks, window, 2 window]
        mask = (mask & (distance >= 0) & (distance < window))[:, None]
        cos, sin = self._rotary_angles(numbers)
        for layer in self.layers:
            assert isinstance(layer, Block)
            x = layer.forward_chunks(x, mask, (cos[:, None], sin[:, None]))
        x = x.view(chunks * window, -1)[:n]
        own = Output(*self._heads(x, tokens, legal), x)
        return self._with_second(
            own, features, lambda second: second.forward_packed(token_ids, features, legal, positions)
        )

    @torch.no_grad()
    def step(
        self,
        token_ids: Tensor,
        features: Tensor,
        legal: Tensor,
        memory: Memory,
        slots: Tensor,
        positions: Tensor,
        *,
        longest: int = 0,
    ) -> Output:
        """Process one decision of each of B battles, and add it to the memory. Returns logits [B, 13] and value [B, bins].

        token_ids: [B, 19, 12]; features: [B, 19, 56]; legal: bool [B, 13]; slots: int64 [B], each battle's slot in the
        memory, all different; positions: int64 [B], number of decisions that each battle had before this one. A second
        decision at the same position overwrites the first. longest: attend to so many places of the memory, at least those
        that are filled; 0: read their number from `positions`, for which a GPU is waited for.
        """
        tokens, summary = self.encode(token_ids, features)  # [B, 19, token_width], [B, width]
        x = summary[:, None]  # [B, 1, width]
        seen = (positions + 1).clamp(max=self.shape.window)  # [B]
        longest = min(longest, self.shape.window) or int(seen.max())
        mask = (torch.arange(longest, device=x.device) < seen[:, None])[:, None, None]  # [B, 1, 1, longest]
        cos, sin = self._rotary_angles(positions)
        rotary = cos[:, None, None], sin[:, None, None]  # [B, 1, 1, width / heads / 2]
        indices = positions % self.shape.window  # [B]
        for layer, all_keys, all_values in zip(self.layers, memory.keys, memory.values, strict=True):
            assert isinstance(layer, Block)
            queries, keys, values = layer.project(x)
            all_keys[slots, :, indices] = apply_rotary(keys, *rotary)[:, :, 0]
            all_values[slots, :, indices] = values[:, :, 0]
            # [B, heads, longest, width / heads]
            keys, values = all_keys[:, :, :longest][slots], all_values[:, :, :longest][slots]
            x = layer.complete(x, scaled_dot_product_attention(apply_rotary(queries, *rotary), keys, values, mask))
        own = Output(*self._heads(x[:, 0], tokens, legal))

        def ask(second: Network) -> Output:
            assert memory.second is not None  # it was made for this network's shape
            return second.step(token_ids, features, legal, memory.second, slots, positions, longest=longest)

        return self._with_second(own, features, ask)

    def _with_second(self, own: Output, features: Tensor, ask: Callable[[Network], Output]) -> Output:
        """Return the outputs, those of the second policy at slot b's decisions. features: [..., tokens, features]."""
        if self.second is None:
            return own
        other = ask(self.second)
        is_other = of_second(features)  # [...]
        context = None
        if own.context is not None and other.context is not None:
            context = torch.where(is_other[..., None], other.context, own.context)
        return Output(
            torch.where(is_other[..., None], other.logits, own.logits),
            torch.where(is_other[..., None], other.value, own.value),
            context,
        )

    def encode(self, token_ids: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        """N decisions: token_ids [N, 19, 12], features [N, 19, 56] -> tokens [N, 19, token_width], summary [N, width]."""
        n, count = len(token_ids), self.layout.tokens
        embedded = self._embedded(token_ids.reshape(n * count, -1)).view(n, count, -1)
        tokens = embedded + self.feature_projection(features) + self.position_embedding[:count]  # [N, 19, token_width]
        x = torch.cat([tokens, self.position_embedding[count:].expand(n, 1, -1)], dim=1)  # [N, 20, token_width]
        for layer in self.token_layers:
            x = self._run(layer, x, None, False, None)
        x = self.token_norm(x)
        # The residual stream of the wide transformer is float32, also under autocast.
        return x[:, :count], self.summary_projection(x[:, count]).float()

    def _embedded(self, ids: Tensor) -> Tensor:
        """The sum of each row's id embeddings; 0 is no id. ids: [N, 12] -> [N, token_width]."""
        if ids.device.type != "cpu":
            if torch.is_grad_enabled():
                return embedded_with_spread_zeros(ids, self.token_embedding.weight)
            embedded: Tensor = self.token_embedding(ids.long())
            return embedded
        # Without the zeros, some 40% of all, a CPU has a way that is three times as fast, half as slow backwards.
        present = ids != 0
        ends = present.sum(1).cumsum(0)  # [N]
        starts = pad(ends, (1, 0))[:-1].int()
        return embedding_bag(ids[present].int(), self.token_embedding.weight, starts, mode="sum")

    def _heads(self, x: Tensor, tokens: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """Context [N, width] and tokens [N, 19, token_width] -> logits [N, 13], value [N, bins]."""
        context = self.norm(x)
        logits = self._policy(context, tokens) if self.shape.slots == 1 else self.joint_policy(context, tokens)
        value = self.value_head(gelu(self.value_fc(context), approximate="tanh"))
        return logits.float().masked_fill(~legal, -torch.inf), value.float()

    def _policy(self, context: Tensor, tokens: Tensor) -> Tensor:
        """Context [N, width] and tokens [N, 19, token_width] -> logits [N, 13] of singles, of illegal actions, too."""
        # Queries [N, 1, token_width] for each kind of action, and keys from the tokens of its actions.
        for_switch, for_move, for_tera = self.policy_query(context)[:, None].chunk(3, dim=-1)
        first, move = self.layout.ours[1], self.layout.moves[0]
        bench = self.policy_switch(tokens[:, first : first + len(SWITCHES)])  # [N, 5, token_width]
        plain, tera = self.policy_move(tokens[:, move : move + len(MOVES)]).chunk(2, dim=-1)  # [N, 4, token_width]
        hidden = ((for_move + plain, 1), (for_switch + bench, 0), (for_tera + tera, 2))
        return torch.cat([gelu(part, approximate="tanh") @ self.policy_head[kind] for part, kind in hidden], dim=-1)

    def _run(self, layer: nn.Module, *arguments: Any) -> Tensor:
        if self.checkpointing and self.training:
            return checkpoint(layer, *arguments, use_reentrant=False)
        return layer(*arguments)

    def _rotary_angles(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return cosine and sine of the rotary angles (RoPE, Su et al. 2021): [..., width / heads / 2], positions [...]."""
        half = self.shape.width // self.shape.heads // 2
        frequencies = 10_000.0 ** (-torch.arange(half, device=positions.device) / half)
        angles = positions[..., None] * frequencies
        return angles.cos(), angles.sin()


def of_second(features: Tensor) -> Tensor:
    """Whether a decision is slot b's, bool [...], from the features [..., tokens, features] of doubles."""
    return features[..., FIELD, FieldFeature.SECOND_SLOT] > 0.5


def embedded_with_spread_zeros(ids: Tensor, weight: Tensor) -> Tensor:
    """The sum of each row's embeddings, none for id 0. ids: [N, K]; weight: [V, D] -> [N, D].

    For gradients on a GPU: torch adds up those of one id one after the other, and 0 is some 40% of all. Here the zeros are
    `_ZEROS` ids beyond the vocabulary, whose embeddings are 0 and get no gradient.
    """
    places = torch.arange(ids.numel(), device=ids.device).view_as(ids) % _ZEROS
    spread = torch.where(ids == 0, len(weight) + places, ids.long())
    return embedding_bag(spread, torch.cat([weight, weight.new_zeros(_ZEROS, weight.shape[1])]), mode="sum")


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Apply rotary positions to x [..., D], whose halves are the coordinates. cos, sin: broadcastable to [..., D / 2]."""
    one, two = x.chunk(2, dim=-1)
    return torch.cat([one * cos - two * sin, one * sin + two * cos], dim=-1).to(x.dtype)


def expected_value(logits: Tensor) -> Tensor:
    """Return the expected result [...], from 0 (lost) to 1 (won), of logits [..., bins]."""
    return logits.softmax(-1) @ torch.linspace(0, 1, logits.shape[-1], device=logits.device, dtype=logits.dtype)


def two_hot(values: Tensor, bins: int = 51) -> Tensor:
    """Encode values [...] in [0, 1] as distributions [..., bins] over the two nearest bins, whose mean is the value."""
    position = values.clamp(0, 1) * (bins - 1)
    low = position.floor().clamp(max=bins - 2)
    high = position - low
    classes = torch.zeros(*values.shape, bins, device=values.device, dtype=values.dtype)
    classes.scatter_(-1, low.long()[..., None], (1 - high)[..., None])
    return classes.scatter_(-1, low.long()[..., None] + 1, high[..., None])
