"""The exact search's network: the same for both seats, within its memory, and refused where it does not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba")

from agents.engine.gen1 import layout
from agents.engine.gen1.engine import Engine
from agents.engine.gen1.state import side_of
from agents.search.exact.features import FEATURES, MOST, features_of
from agents.search.exact.network import ACTION_ROWS, PositionNetwork, correction, judged, read_network, sums_of
from agents.search.exact.root_values import TreeSettings
from agents.search.exact.tree import HIDDEN, Tree
from agents.search.exact.weights import NETWORK, digest_of, read
from teamsets.errors import BadInput
from teamsets.loading import load_set


def drawn(width: int = 8, layer: int = 4, features: int = FEATURES) -> PositionNetwork:
    rng = np.random.default_rng(3)
    shapes = (
        (features, width), (width,), (2 * width, layer), (layer,), (layer,), (ACTION_ROWS, 2 * width), (ACTION_ROWS,), (1,),
    )  # fmt: skip
    return PositionNetwork(*(rng.normal(0, 0.3, shape).astype(np.float32) for shape in shapes))


def positions(battles: int, steps: int, format_id: str = "gen1ou") -> np.ndarray:
    """Rows of battles of random moves, all that were met."""
    teams = [team.packed for team in load_set("competitive", format_id).teams]
    rng = np.random.default_rng(5)
    engine = Engine(battles, format_id)
    pairs = [(teams[2 * n % len(teams)], teams[(2 * n + 1) % len(teams)]) for n in range(battles)]
    engine.reset(pairs, [f"gen5,{n:016x}" for n in range(battles)])
    rows = []
    for _ in range(steps):
        legal = engine.legal()
        allowed = (legal[:, :, None] >> np.arange(9) & 1) * rng.random((battles, 2, 9))
        engine.step(allowed.argmax(2).astype(np.int32))
        rows.append(engine.words[engine.words[:, layout.WINNER] == layout.UNDECIDED].copy())
    return np.concatenate(rows)


def value(network: PositionNetwork, row: np.ndarray) -> tuple[float, np.ndarray]:
    sums = np.zeros((2, len(network.bias)), np.float32)
    sums_of(row, network, np.zeros(MOST, np.int64), np.zeros(MOST, np.float32), sums)
    return judged(network, sums, np.zeros(len(network.first_bias), np.float32)), sums


def exchanged(row: np.ndarray) -> np.ndarray:
    other = row.copy()
    one, two = (
        slice(layout.SIDES + i * layout.SIDE_WORDS, layout.SIDES + (i + 1) * layout.SIDE_WORDS) for i in range(2)
    )
    other[one], other[two] = row[two], row[one]
    return other


def test_exchanged_sides_have_the_opposite_value_and_exchanged_sums() -> None:
    network, met = drawn(), set()
    for row in positions(20, 40)[::7]:
        (here, sums), (there, others) = value(network, row), value(network, exchanged(row))
        assert here == pytest.approx(1 - there, abs=1e-5)
        assert sums == pytest.approx(others[::-1])
        assert correction(network, sums, 0, 5) == pytest.approx(correction(network, others, 1, 5), rel=1e-4, abs=1e-5)
        met.add(round(here, 2))
    assert len(met) > 10  # not all alike


def test_a_side_has_no_more_features_than_there_is_memory_for_and_each_but_once() -> None:
    places, amounts = np.zeros(4 * MOST, np.int64), np.zeros(4 * MOST, np.float32)
    most, seen = 0, set()
    for row in positions(40, 60):
        for seat in range(2):
            n = features_of(row, side_of(seat), places, amounts)
            most = max(most, n)
            seen.update(places[:n].tolist())
            assert (places[:n] >= 0).all() and (places[:n] < FEATURES).all() and np.isfinite(amounts[:n]).all()
    assert 60 < most <= MOST
    assert len(seen) > 200


def test_the_shipped_network_is_of_the_present_features_and_small() -> None:
    network = read("network").network
    assert len(network.table) == FEATURES and NETWORK.stat().st_size < 500_000
    assert digest_of("network") != digest_of("fitted")


def test_a_network_that_sees_one_side_lose_its_last_pokemon_soon_says_so() -> None:
    """The shipped one, on a position that is as good as won: six against one that is asleep at 1 HP."""
    engine = Engine(1)
    teams = [team.packed for team in load_set("competitive", "gen1ou").teams[:2]]
    engine.reset([(teams[0], teams[1])], ["gen5,0123456789abcdef"])
    row = engine.words[0]
    for k in range(6):
        mon = side_of(1) + layout.MONS + k * layout.MON_WORDS
        if k == row[side_of(1) + layout.ORDER]:
            row[mon + layout.MON_HP], row[mon + layout.MON_STATUS], row[mon + layout.MON_SLEEP] = 1, layout.SLEEP, 5
        else:
            row[mon + layout.MON_HP], row[mon + layout.MON_STATUS] = 0, layout.FAINTED
    assert value(read("network").network, row)[0] > 0.95


def test_it_changes_what_a_tree_finds() -> None:
    row, found = positions(4, 3)[0], []
    for weights in ("network", "fitted"):
        tree = Tree(4096)
        hidden, allowed = np.full((2, HIDDEN), -1, np.int64), np.full(2, 511, np.int64)
        tree.plant(row, hidden, allowed, TreeSettings(), read(weights), 77)
        tree.grow(500)
        visits, totals = tree.edges(0)
        assert visits.sum() == 500
        found.append((visits.tolist(), totals.tolist()))
    assert found[0] != found[1]


def test_a_network_of_other_features_or_none_at_all_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "old.npz", **drawn(features=7)._asdict())
    with pytest.raises(BadInput, match=rf"old\.npz: has 7 features, not {FEATURES}: fit it anew"):
        read_network(tmp_path / "old.npz")
    (tmp_path / "text.npz").write_text("no network")
    with pytest.raises(BadInput, match=r"text\.npz: is no network of the exact search"):
        read_network(tmp_path / "text.npz")
