"""The network: a transformer over the 19 tokens of each decision, then a causal one over the decisions of a battle.

    ids, numbers  -> tokens       words of a token summed, its numbers through a linear, its place's own embedding
    tokens        -> summary      a narrow transformer among the tokens of one decision and a summary token
    summaries     -> context      a wide causal transformer over decisions; each sees itself and the window - 1 before it
    context, tokens -> logits     additive pointing: how well an action fits is asked of the token that it is about
    context       -> value        classes over the result from 0 (lost) to 1 (won)

`forward` reads whole battles, as training does; `step` one decision of many battles, each with a memory of its own, as play
does. Both give the same numbers. The narrow part runs 20 times a decision and the wide part once: widths follow from that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from agents.policy.actions import ACTIONS, MOVES, SWITCHES
from agents.policy.observation import NUMBERS, OUR_MOVES, OURS, TOKENS
from agents.policy.parameter_names import present_name
from agents.policy.vocabulary import vocabulary
from teamsets.errors import BadInput


@dataclass(frozen=True)
class Shape:
    """Every size of a network that the observation does not fix.

    token_*: the transformer among the tokens of a decision. width, layers, heads: the one over decisions. window: how many
    decisions one sees at each layer, itself included. expansion: hidden units of a feed-forward layer per unit of width.
    bins: classes of the value. dropout: the share of each layer's contribution that training leaves out.
    """

    token_width: int
    token_layers: int
    token_heads: int
    width: int
    layers: int
    heads: int
    window: int
    expansion: int
    bins: int
    dropout: float

    def __post_init__(self) -> None:
        for name, size in asdict(self).items():
            if name != "dropout" and (not isinstance(size, int) or size < 1):
                raise BadInput(f"network shape: {name}={size!r}: must be an integer of 1 or more")
        if not 0 <= self.dropout < 1:
            raise BadInput(f"network shape: dropout={self.dropout}: must be at least 0 and less than 1")
        for width, heads in (("token_width", "token_heads"), ("width", "heads")):
            if getattr(self, width) % (2 * getattr(self, heads)):
                raise BadInput(
                    f"network shape: {width}={getattr(self, width)}: must be a multiple of 2 * {heads}, "
                    f"{heads}={getattr(self, heads)}"
                )
        if self.bins < 2:
            raise BadInput(f"network shape: bins={self.bins}: must be 2 or more")


PRESETS = {
    "tiny": Shape(64, 2, 2, 160, 2, 5, window=64, expansion=4, bins=51, dropout=0.0),
    "small": Shape(192, 3, 3, 512, 4, 8, window=128, expansion=4, bins=51, dropout=0.05),
    "medium": Shape(320, 4, 5, 768, 7, 12, window=128, expansion=4, bins=51, dropout=0.05),
    "large": Shape(512, 6, 8, 1280, 9, 20, window=128, expansion=4, bins=51, dropout=0.05),
}


class Output(NamedTuple):
    """logits: [..., 13], -inf where illegal. value: [..., bins], logits of the classes of the result."""

    logits: Tensor
    value: Tensor


class Memory:
    """What `step` remembers of many battles: the keys and values of the last `window` decisions of each, per layer.

    A battle has a slot. Its decision number t lies at place t % window of the slot, so that nothing is ever moved.
    keys, values: [layers, slots, heads, window, width / heads].
    """

    def __init__(self, shape: Shape, slots: int, device: torch.device | str = "cpu") -> None:
        size = (shape.layers, slots, shape.heads, shape.window, shape.width // shape.heads)
        self.keys, self.values = torch.zeros(size, device=device), torch.zeros(size, device=device)

    @property
    def slots(self) -> int:
        return self.keys.shape[1]

    def grow(self, slots: int) -> None:
        """Makes room for `slots` battles in all; those that are there keep their slots."""
        if slots > self.slots:
            more = list(self.keys.shape)
            more[1] = slots - self.slots
            self.keys = torch.cat([self.keys, self.keys.new_zeros(more)], dim=1)
            self.values = torch.cat([self.values, self.values.new_zeros(more)], dim=1)


class Block(nn.Module):
    """A pre-norm transformer layer. Each user brings its own attention between `project` and `complete`."""

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
        """x [N, L, width] with what was attended to [N, heads, L, width / heads], and the feed-forward layer after it."""
        x = x + self.dropout(self.attention_out(attended.transpose(1, 2).flatten(2)))
        return x + self.dropout(self.fc_out(gelu(self.fc_in(self.norm2(x)), approximate="tanh")))

    def forward(self, x: Tensor, mask: Tensor | None, causal: bool, rotary: tuple[Tensor, Tensor] | None) -> Tensor:
        queries, keys, values = self.project(x)
        if rotary is not None:
            queries, keys = apply_rotary(queries, *rotary), apply_rotary(keys, *rotary)
        return self.complete(x, scaled_dot_product_attention(queries, keys, values, mask, is_causal=causal))


class Network(nn.Module):
    """The whole network. checkpointing: recompute each layer's activations in the backward pass instead of keeping them."""

    def __init__(self, shape: Shape, checkpointing: bool = False) -> None:
        super().__init__()
        self.shape, self.checkpointing = shape, checkpointing
        narrow, wide = shape.token_width, shape.width
        self.token_embedding = nn.EmbeddingBag(vocabulary().size, narrow, mode="sum", padding_idx=0)
        self.feature_projection = nn.Linear(NUMBERS, narrow)
        self.position_embedding = nn.Parameter(torch.empty(TOKENS + 1, narrow))  # the last is the summary
        self.token_layers = nn.ModuleList(
            Block(narrow, shape.token_heads, shape.expansion, shape.dropout) for _ in range(shape.token_layers)
        )
        self.token_norm = nn.LayerNorm(narrow)
        self.summary_projection = nn.Linear(narrow, wide)
        self.layers = nn.ModuleList(
            Block(wide, shape.heads, shape.expansion, shape.dropout) for _ in range(shape.layers)
        )
        self.norm = nn.LayerNorm(wide)
        # One hidden layer for each kind of action: switch, move, move with terastallizing.
        self.policy_query = nn.Linear(wide, 3 * narrow)
        self.policy_switch, self.policy_move = nn.Linear(narrow, narrow), nn.Linear(narrow, 2 * narrow)
        self.policy_head = nn.Parameter(torch.empty(3, narrow))
        self.value_fc, self.value_head = nn.Linear(wide, wide), nn.Linear(wide, shape.bins)
        self._initialise()
        self.register_load_state_dict_pre_hook(_rename_former)

    @torch.no_grad()
    def _initialise(self) -> None:
        """Small weights; smaller still where a residual branch ends, so that depth adds up to no more than one layer's."""
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
        nn.init.normal_(self.policy_head, std=0.1 * self.shape.token_width**-0.5)
        self.value_head.weight.mul_(0.1)

    @property
    def parameter_count(self) -> int:
        """How many numbers are trained."""
        return sum(parameter.numel() for parameter in self.parameters())

    def forward(self, ids: Tensor, numbers: Tensor, legal: Tensor, real: Tensor) -> Output:
        """Whole battles, each from its first decision.

        ids: int16 or int64 [B, T, 19, 12]; numbers: float32 [B, T, 19, 56]; legal: bool [B, T, 13]; real: bool [B, T],
        False for the padding at the end of the shorter battles. Both outputs are 0 at padding; a real decision without any
        legal action has nothing but -inf. -> logits [B, T, 13], value [B, T, bins].
        """
        batch, length = real.shape
        tokens, summary = self._read(ids[real], numbers[real])
        x = summary.new_zeros(batch, length, self.shape.width)
        x[real] = summary
        # Padding comes last, so no real decision sees any: being causal is mask enough.
        mask = None
        if length > self.shape.window:
            ago = torch.arange(length, device=x.device)
            ago = ago[:, None] - ago
            mask = (ago >= 0) & (ago < self.shape.window)
        rotary = self._rotary_angles(torch.arange(length, device=x.device))
        for layer in self.layers:
            x = self._run(layer, x, mask, mask is None, rotary)
        logits, value = self._judge(x[real], tokens, legal[real])
        return Output(
            logits.new_zeros(batch, length, ACTIONS).masked_scatter(real[..., None], logits),
            value.new_zeros(batch, length, self.shape.bins).masked_scatter(real[..., None], value),
        )

    @torch.no_grad()
    def step(
        self, ids: Tensor, numbers: Tensor, legal: Tensor, memory: Memory, slots: Tensor, positions: Tensor
    ) -> Output:
        """One decision of each of B battles, which is put into the memory.

        ids: [B, 19, 12]; numbers: [B, 19, 56]; legal: bool [B, 13]; slots: int64 [B], each battle's slot in the memory, no
        two alike; positions: int64 [B], how many decisions each battle had before this one. A decision may be asked again at
        the same position: it takes the place of the first. -> logits [B, 13], value [B, bins].
        """
        tokens, summary = self._read(ids, numbers)
        x = summary[:, None]
        seen = (positions + 1).clamp(max=self.shape.window)
        most = int(seen.max())
        mask = (torch.arange(most, device=x.device) < seen[:, None])[:, None, None]
        cos, sin = self._rotary_angles(positions)
        rotary = cos[:, None, None], sin[:, None, None]
        places = positions % self.shape.window
        for layer, all_keys, all_values in zip(self.layers, memory.keys, memory.values, strict=True):
            assert isinstance(layer, Block)
            queries, keys, values = layer.project(x)
            all_keys[slots, :, places] = apply_rotary(keys, *rotary)[:, :, 0]
            all_values[slots, :, places] = values[:, :, 0]
            keys, values = all_keys[:, :, :most][slots], all_values[:, :, :most][slots]
            x = layer.complete(x, scaled_dot_product_attention(apply_rotary(queries, *rotary), keys, values, mask))
        return Output(*self._judge(x[:, 0], tokens, legal))

    def _read(self, ids: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """N decisions -> their tokens [N, 19, token_width] and what each comes to [N, width]."""
        n = len(ids)
        words = self.token_embedding(ids.reshape(n * TOKENS, -1).long()).view(n, TOKENS, -1)
        tokens = words + self.feature_projection(numbers) + self.position_embedding[:TOKENS]
        x = torch.cat([tokens, self.position_embedding[TOKENS:].expand(n, 1, -1)], dim=1)
        for layer in self.token_layers:
            x = self._run(layer, x, None, False, None)
        x = self.token_norm(x)
        # What is added up over the layers stays in full precision, whatever the products are computed in.
        return x[:, :TOKENS], self.summary_projection(x[:, TOKENS]).float()

    def _judge(self, x: Tensor, tokens: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """Context [N, width] and tokens [N, 19, token_width] -> logits [N, 13], value [N, bins]."""
        context = self.norm(x)
        for_switch, for_move, for_tera = self.policy_query(context)[:, None].chunk(3, dim=-1)
        bench = self.policy_switch(tokens[:, OURS[1] : OURS[1] + len(SWITCHES)])
        plain, tera = self.policy_move(tokens[:, OUR_MOVES[0] : OUR_MOVES[0] + len(MOVES)]).chunk(2, dim=-1)
        hidden = ((for_move + plain, 1), (for_switch + bench, 0), (for_tera + tera, 2))
        logits = torch.cat([gelu(part, approximate="tanh") @ self.policy_head[kind] for part, kind in hidden], dim=-1)
        value = self.value_head(gelu(self.value_fc(context), approximate="tanh"))
        return logits.float().masked_fill(~legal, -torch.inf), value.float()

    def _run(self, layer: nn.Module, *arguments: Any) -> Tensor:
        if self.checkpointing and self.training:
            return checkpoint(layer, *arguments, use_reentrant=False)
        return layer(*arguments)

    def _rotary_angles(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosine and sine of the rotary angles: [..., width / heads / 2] each, for positions [...]."""
        half = self.shape.width // self.shape.heads // 2
        speeds = 10_000.0 ** (-torch.arange(half, device=positions.device) / half)
        angles = positions[..., None] * speeds
        return angles.cos(), angles.sin()


def _rename_former(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    """Renames in place the parameters of a state dict that have former names; an entry under the present name stays."""
    for name in list(state):
        if name.startswith(prefix):
            present = prefix + present_name(name.removeprefix(prefix))
            if present not in state:
                state[present] = state.pop(name)


def apply_rotary(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions: x [..., D], its halves as the two coordinates, rotated by angles that broadcast to [..., D/2]."""
    one, two = x.chunk(2, dim=-1)
    return torch.cat([one * cos - two * sin, one * sin + two * cos], dim=-1).to(x.dtype)


def expected_value(logits: Tensor) -> Tensor:
    """Logits of the classes [..., bins] -> the expected result [...], from 0 (lost) to 1 (won)."""
    return logits.softmax(-1) @ torch.linspace(0, 1, logits.shape[-1], device=logits.device, dtype=logits.dtype)


def two_hot(values: Tensor, bins: int = 51) -> Tensor:
    """Results [...] from 0 to 1 -> classes [..., bins]: weight on the two nearest, so that the mean is the result."""
    place = values.clamp(0, 1) * (bins - 1)
    low = place.floor().clamp(max=bins - 2)
    high = place - low
    classes = torch.zeros(*values.shape, bins, device=values.device, dtype=values.dtype)
    classes.scatter_(-1, low.long()[..., None], (1 - high)[..., None])
    return classes.scatter_(-1, low.long()[..., None] + 1, high[..., None])
