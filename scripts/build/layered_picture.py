"""A directed graph drawn in layers, as SVG: every arrow points down, bands are stacked, cycles are red.

The method is that of Sugiyama, Tagawa and Toda (1981): a layer for each node, waypoints where an arrow passes a layer, an
order in each layer by barycenters, then positions. Arrows to the same node share their waypoints.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

#: Pixels: of the picture, of a box, from layer to layer, of a waypoint, between two of a layer, of the bands' labels.
WIDTH, BOX, HEIGHT, LEVEL, WAYPOINT, GAP, LABEL = 1200, 152, 30, 58, 6, 18, 270
ROUNDS = 40
#: How much more a waypoint keeps to its place than a box, so that long arrows are straight.
STRAIGHT = 8

Edge = tuple[str, str]
#: A node by its name, or a waypoint of the arrows to a node: (the node, the layer).
Stop = str | tuple[str, int]

STYLE = """
  :root { color-scheme: light dark; }
  .sheet { fill: #ffffff; } .band { fill: #f3f5f8; } .box { fill: #ffffff; stroke: #8793a5; }
  text { font: 13px system-ui, sans-serif; fill: #1c2430; } .package { font-weight: 600; font-size: 16px; }
  .arrow { fill: none; stroke: #66758c; stroke-width: 1.3; } .head { fill: #66758c; }
  .cycle { stroke: #d02030; stroke-width: 2; } .cycle-head { fill: #d02030; }
  @media (prefers-color-scheme: dark) {
    .sheet { fill: #10151d; } .band { fill: #1a212c; } .box { fill: #262f3d; stroke: #76859b; }
    text { fill: #e8edf4; } .arrow { stroke: #93a2b8; } .head { fill: #93a2b8; }
    .cycle { stroke: #ff6b74; } .cycle-head { fill: #ff6b74; }
  }
"""


@dataclass(frozen=True)
class Graph:
    """nodes and edges, both sorted, so that the same graph gives the same picture."""

    nodes: Sequence[str]
    edges: Sequence[Edge]


@dataclass(frozen=True)
class Band:
    """Nodes that lie together. text: lines below the name."""

    name: str
    text: Sequence[str]
    nodes: Sequence[str]


def reachable(start: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    """What one comes to from a node by one edge or more."""
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for other in edges.get(waiting.pop(), ()):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached


def cyclic(graph: Graph) -> list[Edge]:
    """The edges that are part of a cycle."""
    after = _after(graph.edges)
    return [(a, b) for a, b in graph.edges if a in reachable(b, after)]


def downward(graph: Graph) -> list[Edge]:
    """The edges without those that close a cycle: without cycles, all of them."""
    kept: list[Edge] = []
    in_cycle = set(cyclic(graph))
    for edge in sorted(graph.edges, key=lambda edge: edge in in_cycle):
        if edge not in in_cycle or edge[0] not in reachable(edge[1], _after(kept)):
            kept.append(edge)
    return kept


def without_implied(edges: Sequence[Edge]) -> list[Edge]:
    """The edges of a graph without cycles that do not follow from others (its transitive reduction)."""
    after = _after(edges)
    return [(a, b) for a, b in edges if not any(b in reachable(c, after) for c in after[a] if c != b)]


def _after(edges: Iterable[Edge]) -> dict[str, list[str]]:
    successors: dict[str, list[str]] = defaultdict(list)
    for a, b in edges:
        successors[a].append(b)
    return successors


def _levels(edges: Sequence[Edge], bands: Sequence[Band]) -> dict[str, int]:
    """The layer of each node, 0 the lowest: above all that it leads to, and above all lower bands."""
    after, levels, lowest = _after(edges), dict[str, int](), 0

    def level(node: str, band: Sequence[str]) -> int:
        if node not in levels:
            levels[node] = max([level(other, band) + 1 for other in after[node] if other in band], default=lowest)
        return levels[node]

    for band in reversed(bands):
        for node in band.nodes:
            level(node, band.nodes)
        lowest = max(levels[node] for node in band.nodes) + 1
    return levels


def _paths(edges: Sequence[Edge], levels: Mapping[str, int]) -> dict[Edge, list[Stop]]:
    """Every edge with the waypoints that it passes."""
    return {
        (a, b): [a, *((b, level) for level in range(levels[a] - 1, levels[b], -1)), b]
        for a, b in edges
        if levels[a] > levels[b]
    }


def _positions(paths: Iterable[Sequence[Stop]], levels: Mapping[str, int]) -> dict[Stop, float]:
    """The middle of every node and waypoint, in pixels from the left."""
    rows: list[list[Stop]] = [[] for _ in range(max(levels.values()) + 1)]
    for node, level in levels.items():
        rows[level].append(node)
    near: dict[Stop, dict[int, list[Stop]]] = defaultdict(lambda: {-1: [], 1: []})
    for path in paths:
        for upper, lower in itertools.pairwise(path):
            if lower not in near[upper][-1]:
                near[upper][-1].append(lower)
                near[lower][1].append(upper)
            if isinstance(lower, tuple) and lower not in rows[lower[1]]:
                rows[lower[1]].append(lower)
    middle = (WIDTH + LABEL) / 2
    x: dict[Stop, float] = {}
    for row in rows:
        x.update(_placed(row, dict.fromkeys(row, middle)))
    best, least = dict(x), _crossings(near, rows, x)
    for number in range(ROUNDS):
        way = 1 if number % 2 else -1
        for row in rows if way == -1 else rows[::-1]:
            wanted = {stop: _mean([x[other] for other in near[stop][way]], x[stop]) for stop in row}
            row.sort(key=lambda stop: wanted[stop])
            x.update(_placed(row, wanted))
        if (now := _crossings(near, rows, x)) <= least:
            best, least = dict(x), now
    for row in rows:
        row.sort(key=lambda stop: best[stop])
    for _ in range(ROUNDS):  # the order stays; now towards both sides at once
        for row in rows:
            wanted = {s: _mean([best[other] for side in near[s].values() for other in side], best[s]) for s in row}
            best.update(_placed(row, wanted))
    off = middle - (min(best.values()) + max(best.values())) / 2
    return {stop: at + off for stop, at in best.items()}


def _crossings(
    near: Mapping[Stop, Mapping[int, Sequence[Stop]]], rows: Sequence[Sequence[Stop]], x: Mapping[Stop, float]
) -> int:
    """How many pairs of lines between two neighbouring layers cross."""
    count = 0
    for row in rows:
        ends = [(x[stop], x[other]) for stop in row for other in near[stop][-1]]
        count += sum((a - c) * (b - d) < 0 for i, (a, b) in enumerate(ends) for c, d in ends[:i])
    return count


def _placed(row: Sequence[Stop], wanted: Mapping[Stop, float]) -> dict[Stop, float]:
    """The positions nearest to those wanted (least squares) that keep the order and the gaps: pool adjacent violators."""
    shift, total = [], 0.0
    for before, stop in zip([None, *row], row, strict=False):
        total += 0 if before is None else (_size(before) + _size(stop)) / 2 + GAP
        shift.append(total)
    pools: list[list[float]] = []  # of [weighted sum, weight, number]
    for stop, moved in zip(row, shift, strict=True):
        weight = 1 if isinstance(stop, str) else STRAIGHT
        pools.append([weight * (wanted[stop] - moved), weight, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            last = pools.pop()
            pools[-1] = [one + other for one, other in zip(pools[-1], last, strict=True)]
    flat = [sums / weight for sums, weight, number in pools for _ in range(int(number))]
    low, high = LABEL + BOX / 2 + GAP, WIDTH - BOX / 2 - GAP - total
    return {stop: min(max(at, low), max(high, low)) + moved for stop, at, moved in zip(row, flat, shift, strict=True)}


def _size(stop: Stop) -> int:
    return BOX if isinstance(stop, str) else WAYPOINT


def _mean(numbers: Sequence[float], default: float) -> float:
    return sum(numbers) / len(numbers) if numbers else default


def drawn(graph: Graph, bands: Sequence[Band]) -> tuple[str, list[Edge]]:
    """The picture, and the edges that are part of a cycle. bands: from the top."""
    red, down = cyclic(graph), downward(graph)
    levels = _levels(down, bands)
    shown = sorted({*without_implied(down), *red})
    paths = _paths(shown, levels)
    x = _positions(paths.values(), levels)
    top = max(levels.values())
    extra = {node: 14 * number for number, band in enumerate(bands) for node in band.nodes}
    by_level = {levels[node]: extra[node] for node in levels}

    def y(stop: Stop) -> float:
        level = levels[stop] if isinstance(stop, str) else stop[1]
        return 34 + (top - level) * LEVEL + by_level[level]

    height = y(min(levels, key=lambda node: levels[node])) + HEIGHT / 2 + 20
    parts = [f'<rect class="sheet" width="{WIDTH}" height="{height:.0f}"/>']
    for band in bands:
        high, low = min(y(node) for node in band.nodes) - 29, max(y(node) for node in band.nodes) + 29
        parts.append(f'<rect class="band" x="8" y="{high:.0f}" width="{WIDTH - 16}" height="{low - high:.0f}" rx="6"/>')
        parts.append(f'<text class="package" x="24" y="{high + 28:.0f}">{escape(band.name)}</text>')
        for number, line in enumerate(band.text, 1):
            parts.append(f'<text x="24" y="{high + 30 + 20 * number:.0f}">{escape(line)}</text>')
    for edge in shown:
        line = (_line if edge in paths else _beside)([(x[stop], y(stop)) for stop in paths.get(edge, edge)])
        kind = ' cycle" marker-end="url(#cycle-head)' if edge in red else '" marker-end="url(#head)'
        parts.append(f'<path class="arrow{kind}" data-from="{edge[0]}" data-to="{edge[1]}" d="{line}"/>')
    for node in graph.nodes:
        left, high = x[node] - BOX / 2, y(node) - HEIGHT / 2
        parts.append(
            f'<g data-room="{escape(node)}"><rect class="box" x="{left:.0f}" y="{high:.0f}" width="{BOX}" '
            f'height="{HEIGHT}" rx="5"/><text x="{x[node]:.0f}" y="{y(node) + 4.5:.0f}" text-anchor="middle">'
            f"{escape(node)}</text></g>"
        )
    heads = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path class="{name}" d="M0 0.8 8 4 0 7.2z"/></marker>'
        for name in ("head", "cycle-head")
    )
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
        f'height="{height:.0f}" role="img"><title>The rooms of the code and their imports</title>\n'
        f"<style>{STYLE}</style>\n<defs>{heads}</defs>\n{body}\n</svg>\n"
    ), red


def _line(points: Sequence[tuple[float, float]]) -> str:
    """A curve from the lower edge of a box to the upper edge of another; straight where it passes a layer's boxes."""
    (x, y), *rest = points
    y += HEIGHT / 2
    text = f"M{x:.0f} {y:.0f}"
    for number, (nx, ny) in enumerate(rest, 1):
        ny -= HEIGHT / 2
        bend = (ny - y) / 2
        text += f" C{x:.0f} {y + bend:.0f} {nx:.0f} {ny - bend:.0f} {nx:.0f} {ny:.0f}"
        if number < len(rest):
            text += f" V{ny + HEIGHT:.0f}"
        x, y = nx, ny + HEIGHT
    return text


def _beside(ends: Sequence[tuple[float, float]]) -> str:
    """An arrow that points up, or to the same layer: from the right of a box to the right of another."""
    (ax, ay), (bx, by) = ((x + BOX / 2, y) for x, y in ends)
    out = max(ax, bx) + 40
    return f"M{ax:.0f} {ay:.0f} C{out:.0f} {ay:.0f} {out:.0f} {by:.0f} {bx:.0f} {by:.0f}"
