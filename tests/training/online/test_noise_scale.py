"""The gradient noise scale against gradients whose signal and noise are known."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

from support.online import trainer  # noqa: E402

from training.online.noise_scale import NoiseScale  # noqa: E402


def measured(signal: float, noise: float, batch: int, minibatches: int = 8, iterations: int = 150) -> float | None:
    """|G| is `signal`, the standard deviation of one decision's gradient is `noise` in each of 50 places."""
    torch.manual_seed(0)
    one, direction = NoiseScale(), torch.zeros(50)
    direction[0] = signal
    found = None
    for _ in range(iterations):
        for _ in range(minibatches):
            minibatch(one, lambda n: direction + noise / math.sqrt(n) * torch.randn(50), [batch // 4] * 4)
        found = one.close()
    return found


def minibatch(one: NoiseScale, mean_gradient: Callable[[int], Any], pieces: list[int]) -> Any:
    """Shows it a minibatch whose pieces have so many decisions. Returns the gradient of all of them."""
    summed = torch.zeros_like(mean_gradient(1))
    for decisions in pieces:
        share = decisions / sum(pieces)
        summed += share * mean_gradient(decisions)
        one.add([summed], share, decisions)
    return summed


@pytest.mark.parametrize(("signal", "noise"), [(1.0, 3.0), (0.5, 3.0), (1.0, 0.3)])
@pytest.mark.parametrize("batch", [64, 512])
def test_it_is_the_noise_of_one_decision_over_the_signal(signal: float, noise: float, batch: int) -> None:
    assert measured(signal, noise, batch) == pytest.approx(50 * noise**2 / signal**2, rel=0.35)


def test_pieces_of_different_sizes_count_by_their_decisions() -> None:
    torch.manual_seed(1)
    one, direction = NoiseScale(), torch.eye(50)[0]
    for _ in range(2000):
        minibatch(one, lambda n: direction + 0.5 / math.sqrt(n) * torch.randn(50), [10, 50, 5, 35])
    assert one.close() == pytest.approx(50 * 0.5**2, rel=0.1)


def of_parabola(weights: Any, decisions: int) -> Any:
    """The gradient of half the squared distance to 0, with noise of 1 in each place for each decision."""
    return weights + torch.randn(50) / math.sqrt(decisions)


def test_steps_that_overshoot_do_not_change_it() -> None:
    """Each minibatch's gradient is that of a parabola at the weights; steps that are too long turn it round every time."""
    torch.manual_seed(0)
    one, weights = NoiseScale(), torch.full((50,), 0.2)
    for _ in range(40):
        for _ in range(50):
            weights = -minibatch(one, functools.partial(of_parabola, weights), [32, 32])
            weights *= 0.2 * math.sqrt(50) / weights.norm()
        found = one.close()
    assert found == pytest.approx(50 / (0.2**2 * 50), rel=0.35)


def test_a_minibatch_of_one_piece_says_nothing_even_after_others_that_did() -> None:
    one = NoiseScale()
    minibatch(one, lambda n: torch.ones(3), [8, 8])
    assert one.close() is not None
    minibatch(one, lambda n: torch.ones(3), [16])
    assert one.close() is None


def test_gradients_that_are_not_finite_are_left_out() -> None:
    one = NoiseScale()
    for first, second in ([1.0, 0.1], [math.nan, 0.0], [1.0, -0.1]):
        parts = iter([torch.zeros(2), torch.tensor([first, second]), torch.tensor([first, 0.0])])
        minibatch(one, lambda n: next(parts), [10, 10])  # noqa: B023 - used up at once
    found = one.close()
    assert found is not None and found < 1


def test_a_run_logs_it_and_goes_on_with_it() -> None:
    one = trainer(league__members=[{"who": "opponent", "weight": 1.0}], algorithm__minibatch_decisions=60)
    for _ in range(3):
        one.iterate()
    state = one.roles["learner"].noise_scale.state()
    assert state["noise"] > 0
    other = trainer(league__members=[{"who": "opponent", "weight": 1.0}], algorithm__minibatch_decisions=60)
    other.restore(one.state())
    assert other.roles["learner"].noise_scale.state() == state
