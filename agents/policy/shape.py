"""The hyperparameters of a network: the presets, and sizes that differ from them. Without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal, get_args

from teamsets.errors import BadInput

#: The most numbers that the keys of one battle may have in a network's memory: 4 GB.
MAX_CACHED = 1 << 30
#: The fields of a shape that a preset decides and a configuration can set one by one.
Size = Literal[
    "token_width", "token_layers", "token_heads", "width", "layers", "heads", "window", "expansion", "bins"
]  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """The hyperparameters of a network.

    token_*: of the transformer over a decision's tokens. width, layers, heads: of the one over decisions. window: number of
    decisions that a decision attends to in each layer, itself included. expansion: ratio of a feed-forward layer's hidden
    width to its width. bins: of the value's distribution. dropout: of each residual branch. slots: of a side, 1 in singles
    and 2 in doubles; they decide which observations it reads (agents/observation/layout.py). policies: 2: slot b has a
    network of its own; what is decided at team preview is slot a's. team_preview: in singles, whether it chooses its lead;
    False: it plays the team's own order. In doubles team preview is always a decision.
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
    slots: int = 1
    policies: int = 1
    team_preview: bool = False

    def __post_init__(self) -> None:
        for name, size in asdict(self).items():
            if name not in ("dropout", "team_preview") and (not isinstance(size, int) or size < 1):
                raise BadInput(f"network shape: {name}={size!r}: must be an integer of 1 or more")
        if not isinstance(self.team_preview, bool):
            raise BadInput(f"network shape: team_preview={self.team_preview!r}: must be true or false")
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
        if (cached := self.window * self.layers * self.width) > MAX_CACHED:
            raise BadInput(
                f"network shape: window={self.window}, layers={self.layers}, width={self.width}: their product is "
                f"{cached:,}: must be at most {MAX_CACHED:,}"
            )
        if self.slots > 2:
            raise BadInput(f"network shape: slots={self.slots}: must be 1 (singles) or 2 (doubles)")
        if self.policies > self.slots:
            raise BadInput(f"network shape: policies={self.policies}: must be 1, or in doubles 1 or 2")

    @property
    def layer_parameters(self) -> int:
        """The number of parameters of the layers and of the value's head, without biases: a lower limit of all."""
        each = 4 + 2 * self.expansion  # of attention, and of the feed-forward layer
        layers = self.policies * each * (self.layers * self.width**2 + self.token_layers * self.token_width**2)
        return layers + self.policies * self.bins * self.width

    @property
    def name(self) -> str:
        """The preset that is nearest, and the sizes that differ from it: "tiny", "tiny with layers=4"."""
        preset, sizes = nearest_preset(self)
        return preset + (f" with {', '.join(f'{name}={size}' for name, size in sizes.items())}" if sizes else "")

    def extends(self, other: Shape) -> bool:
        """Whether it is the other's, but for layers that it has more; `sizes_of` alone are compared."""
        more = self.token_layers >= other.token_layers and self.layers >= other.layers
        same_depth = replace(other, token_layers=self.token_layers, layers=self.layers)
        return more and sizes_of(same_depth) == sizes_of(self)


PRESETS = {
    "micro": Shape(24, 1, 1, 64, 1, 2, window=16, expansion=2, bins=51, dropout=0.0),
    "tiny": Shape(64, 2, 2, 160, 2, 5, window=64, expansion=4, bins=51, dropout=0.0),
    "small": Shape(192, 3, 3, 512, 4, 8, window=128, expansion=4, bins=51, dropout=0.05),
    "medium": Shape(320, 4, 5, 768, 7, 12, window=128, expansion=4, bins=51, dropout=0.05),
    "large": Shape(512, 6, 8, 1280, 9, 20, window=128, expansion=4, bins=51, dropout=0.05),
}


def resized(preset: str, sizes: Mapping[Size, int]) -> Shape:
    """Return the shape of a preset with other sizes. Raises BadInput for sizes that do not fit together."""
    fields = asdict(PRESETS[preset])
    for name, size in sizes.items():
        fields[name] = size
    return Shape(**fields)


def sizes_of(shape: Shape) -> dict[Size, int]:
    """Return the sizes of a shape, without what depends on the format and on the training."""
    return {name: getattr(shape, name) for name in get_args(Size)}


def nearest_preset(shape: Shape) -> tuple[str, dict[Size, int]]:
    """Return the preset that differs from a shape in the fewest sizes, and the shape's sizes that differ from it."""
    differing = {
        preset: {name: size for name, size in sizes_of(shape).items() if size != getattr(PRESETS[preset], name)}
        for preset in PRESETS
    }
    return min(differing.items(), key=lambda item: len(item[1]))


def unlike(shape: Shape, other: Shape) -> str:
    """Return why a network of a shape cannot start from one of another that it does not extend, and the fix, in one line."""
    preset, sizes = nearest_preset(other)
    settings = f"preset: {preset}, sizes: {{{', '.join(f'{name}: {size}' for name, size in sizes.items())}}}"
    return f"is {other.name}, not {shape.name}: set {settings}; more layers and token_layers may be added"
