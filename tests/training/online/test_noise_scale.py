"""The gradient noise scale against gradients whose signal and noise are known."""

from __future__ import annotations

import math

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
            gradient = direction + noise / math.sqrt(batch) * torch.randn(50)
            one.add([gradient], float(gradient.norm()), batch)
        found = one.close()
    return found


@pytest.mark.parametrize(("signal", "noise"), [(1.0, 3.0), (0.5, 3.0), (1.0, 0.3)])
@pytest.mark.parametrize("batch", [64, 512])
def test_it_is_the_noise_of_one_decision_over_the_signal(signal: float, noise: float, batch: int) -> None:
    assert measured(signal, noise, batch) == pytest.approx(50 * noise**2 / signal**2, rel=0.35)


def test_one_minibatch_says_nothing() -> None:
    assert measured(1.0, 1.0, 64, minibatches=1) is None


def test_gradients_that_are_not_finite_are_left_out() -> None:
    one = NoiseScale()
    for values in ([1.0, 0.1], [math.nan, 0.0], [1.0, -0.1]):
        gradient = torch.tensor(values)
        one.add([gradient], float(gradient.norm()), 10)
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
