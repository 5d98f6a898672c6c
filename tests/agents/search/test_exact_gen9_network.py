"""The network of `search:exact` in gen9ou: what its file says, the same for both seats, within its memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.compilers import need_compiler
from support.gen9_battles import met_at_random, team

from agents.engine.gen9.engine import Engine, records
from agents.search.exact.gen9.network import (
    PositionNetwork,
    action_names,
    judge,
    read_network,
    read_weights,
    side_names,
    sizes,
)  # fmt: skip
from agents.search.exact.gen9.position import HIDDEN, Root
from agents.search.exact.gen9.tree import ACTIONS, Tree
from agents.search.exact.root_values import TreeSettings
from agents.search.exact.weights import NINTH_NETWORK, digest_of
from teamsets.errors import BadInput
from teamsets.loading import load_set

need_compiler()

Arrays = dict[str, NDArray[Any]]


def drawn(width: int = 8, layer: int = 4) -> Arrays:
    """A network at random, as a file has it."""
    rng, rows, actions = np.random.default_rng(3), len(side_names()), len(action_names())
    shapes = {
        "table": (rows, width), "bias": (width,), "first": (2 * width, layer), "first_bias": (layer,), "second": (layer,),
        "actions": (actions, 2 * width), "action_bias": (actions,), "fitted": (1,),
    }  # fmt: skip
    arrays: Arrays = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    return {**arrays, "table_names": np.array(side_names()), "actions_names": np.array(action_names())}


def by_hand(arrays: Arrays, words: NDArray[np.int32], legal: NDArray[np.int32]) -> tuple[float, NDArray[np.float64]]:
    """The value and the logits [2, ACTIONS], in numpy."""
    seen = judge(words, legal, read_weights("fitted"))
    sums = np.zeros((2, len(arrays["bias"])))
    for side in range(2):
        listed = seen.places[side] >= 0
        sums[side] = arrays["bias"] + seen.amounts[side, listed] @ arrays["table"][seen.places[side, listed]]
    sums = np.maximum(sums, 0)
    pairs = np.stack([sums.ravel(), sums[::-1].ravel()])
    judged = np.maximum(pairs @ arrays["first"] + arrays["first_bias"], 0) @ arrays["second"]
    logits = np.einsum("sad,sd->sa", arrays["actions"][seen.rows], pairs) + arrays["action_bias"][seen.rows]
    logits = np.where(seen.rows < 0, 0, logits + arrays["fitted"] * seen.logits)
    return float(1 / (1 + np.exp(judged[1] - judged[0]))), logits


def exchanged(words: NDArray[np.int32]) -> NDArray[np.int32]:
    other = words.copy()
    one, two = records(words[None])["sides"][0]
    records(other[None])["sides"][0] = [two, one]
    return other


def test_it_is_what_its_arrays_say_and_the_same_for_both_seats(tmp_path: Path) -> None:
    arrays, values = drawn(), []
    np.savez(tmp_path / "drawn.npz", **arrays)
    weights = read_weights(str(tmp_path / "drawn.npz"))
    for words, legal in met_at_random(8, 30)[::5]:
        seen, (value, logits) = judge(words, legal, weights), by_hand(arrays, words, legal)
        assert seen.value == pytest.approx(value, abs=1e-4)
        assert seen.logits == pytest.approx(logits, rel=1e-3, abs=1e-3)
        other = judge(exchanged(words), legal[::-1].copy(), weights)
        assert other.value == pytest.approx(1 - value, abs=1e-4)
        values.append(value)
    assert np.std(values) > 0.05


def test_a_side_has_no_more_features_than_there_is_memory_for() -> None:
    counts = [(judge(*met, read_weights("fitted")).places >= 0).sum(axis=1).max() for met in met_at_random(16, 40)]
    assert 40 < max(counts) < sizes().most_side


def test_rows_are_found_by_their_names(tmp_path: Path) -> None:
    """A file of another world, in another order: what it lacks counts nothing, what it has too much is left out."""
    arrays = drawn()
    keep = np.random.default_rng(1).permutation(len(arrays["table"]))[:-5]
    other = {**arrays, "table": arrays["table"][keep], "table_names": arrays["table_names"][keep]}
    other["actions_names"] = np.array([f"{name}x" if n == 7 else name for n, name in enumerate(action_names())])
    np.savez(tmp_path / "other.npz", **other)
    network: PositionNetwork = read_network(tmp_path / "other.npz")
    expected = np.zeros_like(arrays["table"])
    expected[keep] = arrays["table"][keep]
    assert np.array_equal(network._arrays["table"], expected)
    biases = network._arrays["action_bias"]
    assert biases[7] == 0 and np.array_equal(np.delete(biases, 7), np.delete(arrays["action_bias"], 7))


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no network")
    with pytest.raises(BadInput, match=r"text\.npz: is no network of search:exact in gen9ou"):
        read_network(tmp_path / "text.npz")
    for name, arrays in (("first", {**drawn(), "first": np.zeros((3, 4))}), ("width", drawn(sizes().width + 1))):
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(BadInput, match=rf"{name}\.npz: {name}.* has not the shape of a network of search:exact"):
            read_network(tmp_path / f"{name}.npz")


def test_the_shipped_network_knows_who_has_won_and_is_small() -> None:
    """Six against one that is asleep at 1 HP."""
    assert NINTH_NETWORK.stat().st_size < 1_000_000 and digest_of("network") != digest_of("fitted")
    ours = load_set("competitive", "gen9ou").teams[0].packed
    engine = Engine(1)
    engine.reset([(ours, team(("Blissey", "", "naturalcure", "softboiled")))], ["gen5,0123456789abcdef"])
    records(engine.words)[0]["sides"]["pokemon"]["hp"][1, 0] = 1
    legal = engine.legal()[0, :, 0]
    assert judge(engine.words[0], legal, read_weights("network")).value > 0.95
    assert judge(exchanged(engine.words[0]), legal[::-1].copy(), read_weights("network")).value < 0.05


def test_it_changes_what_a_tree_finds() -> None:
    (words, _), found = met_at_random(4, 3)[-1], []
    for weights in ("network", "fitted"):
        tree = Tree(4096)
        every, unknown = np.full(2, (1 << ACTIONS) - 1, np.int32), np.full((2, HIDDEN), -1, np.int32)
        tree.plant(Root(words, unknown), every, TreeSettings(), read_weights(weights), 77)
        tree.grow(500)
        visits, totals = tree.edges(0)
        assert visits.sum() == 500
        found.append((visits.tolist(), totals.tolist()))
    assert found[0] != found[1]
