"""Each rule solves games whose solution is known: a matrix game with a mixed equilibrium, and a battle of two Pokémon."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numba")

import numpy as np  # noqa: E402
from support.matrix_game import MatrixGame  # noqa: E402
from support.online import matrix_trainer, settings  # noqa: E402
from support.tiny_battle import OURS, THEIRS, Solver, TinyBattles  # noqa: E402

from agents.engine.gen1.engine import Engine  # noqa: E402
from agents.policy import checkpoint  # noqa: E402
from agents.policy.network import Network  # noqa: E402
from agents.policy.shape import PRESETS  # noqa: E402
from arena.fixture import showdown_seed  # noqa: E402
from training.online.rules import trainer_class  # noqa: E402
from training.online.rules.ddqn import q_of  # noqa: E402
from training.online.trainer import LEARNER, Trainer  # noqa: E402

#: Rock, paper, scissors, in which rock beats scissors always and the others win three times in four.
WINS = [[0.5, 0.25, 1.0], [0.75, 0.5, 0.25], [0.0, 0.75, 0.5]]
#: Its equilibrium is (1/4, 1/2, 1/4). With a weight of the entropy the players' is nearer to even, and they are drawn to
#: it: at 0.1 they circle around it so widely that the mean of 50 iterations depends on the rounding of the machine.
ENTROPY = 0.3
CONSTANT = {"kind": "constant"}
#: Rule -> settings in which nothing rescales the payoffs.
POLICY_GRADIENTS: dict[str, dict[str, Any]] = {
    "ppo": {"algorithm__normalize_advantages": False},
    "iac": {},
    "maac": {},
    "magrpo": {"algorithm__group": 16, "algorithm__normalize": False},
}


def quantal_equilibrium(temperature: float) -> np.ndarray:
    """The strategy that is its own best answer with so much weight on the entropy: p ∝ exp(A p / temperature)."""
    payoffs, p = 2 * np.array(WINS) - 1, np.full(3, 1 / 3)
    for _ in range(5000):
        answer = np.exp(payoffs @ p / temperature)
        p = 0.99 * p + 0.01 * answer / answer.sum()
    return p


def output_in(game: MatrixGame, trainer: Trainer) -> Any:
    seen = game.observe(np.zeros(1, np.int64), np.zeros(1, np.int64))
    ids, features, legal = (torch.from_numpy(part)[None] for part in seen)
    with torch.no_grad():
        return trainer.roles[LEARNER].network(ids, features, legal, torch.ones(1, 1, dtype=torch.bool))


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICY_GRADIENTS)
def test_a_mixed_equilibrium_is_what_self_play_circles_around(name: str) -> None:
    one = matrix_trainer(
        WINS,
        name,
        battles=128,
        learner__optimizer__learning_rate={**CONSTANT, "value": 0.001},
        algorithm__entropy={**CONSTANT, "value": ENTROPY},
        **POLICY_GRADIENTS[name],
    )
    assert isinstance(one.battles, MatrixGame)
    wanted = quantal_equilibrium(ENTROPY)
    untrained = output_in(one.battles, one).logits[0, 0, :3].softmax(-1).numpy()
    played = []
    for _ in range(100):
        one.iterate()
        played.append(output_in(one.battles, one).logits[0, 0, :3].softmax(-1).numpy())
    mean = np.mean(played[50:], axis=0)
    assert np.abs(mean - wanted).max() < 0.06 < np.abs(untrained - wanted).max()


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICY_GRADIENTS)
@pytest.mark.parametrize("where", ["reward", "loss"])
def test_a_reference_pulls_where_nothing_else_does(name: str, where: str, tmp_path: Path) -> None:
    """All actions win equally often, so the one optimum is the reference, wherever its KL is charged."""
    torch.manual_seed(5)
    other = Network(PRESETS["micro"])
    with torch.no_grad():
        other.policy_head.mul_(40)  # far from even
    checkpoint.save(tmp_path / "other", other, 0)
    one = matrix_trainer(
        [[0.5] * 3] * 3,
        name,
        battles=64,
        learner__optimizer__learning_rate={**CONSTANT, "value": 0.002},
        algorithm__entropy={**CONSTANT, "value": 0.0},
        reference__checkpoint=str(tmp_path / "other"),
        reference__coefficient={**CONSTANT, "value": 1.0},
        reference__where=where,
        **POLICY_GRADIENTS[name],
    )
    assert isinstance(one.battles, MatrixGame)
    begun = output_in(one.battles, one).logits[0, 0, :3].softmax(-1).numpy()
    one.roles[LEARNER].network, own = other.eval(), one.roles[LEARNER].network
    wanted = output_in(one.battles, one).logits[0, 0, :3].softmax(-1).numpy()
    one.roles[LEARNER].network = own
    for _ in range(40):
        one.iterate()
    ended = output_in(one.battles, one).logits[0, 0, :3].softmax(-1).numpy()
    assert np.abs(begun - wanted).max() > 0.2 and np.abs(ended - wanted).max() < 0.06


@pytest.mark.slow
def test_double_dqn_learns_the_value_of_each_action_against_a_fixed_opponent() -> None:
    frozen = settings().learner.model_dump(mode="json") | {
        "kind": "own",
        "copy_every": 0,
        "learning": {"active": False, "start": 0, "end": 0},
        "replay": {"capacity": 1, "prioritised": False, "priority_exponent": 0.0},
    }
    one = matrix_trainer(
        WINS,
        "ddqn",
        battles=128,
        opponent=frozen,
        learner__optimizer__learning_rate={**CONSTANT, "value": 0.003},
        learner__exploration__epsilon={**CONSTANT, "value": 1.0},
        algorithm__advantage_scale=1.0,
        algorithm__learning_starts=100,
        algorithm__updates=30,
        algorithm__batch_decisions=128,
        algorithm__context=0,
        algorithm__n_step=1,
    )
    assert isinstance(one.battles, MatrixGame)
    opponent = one.roles["opponent"]
    other = matrix_trainer(WINS)
    other.roles[LEARNER].load_weights(opponent.network)
    theirs = output_in(one.battles, other).logits[0, 0, :3].softmax(-1).numpy()
    wanted = (2 * np.array(WINS) - 1) @ theirs
    before = q_of(output_in(one.battles, one), 1.0)[0, 0, :3].numpy()
    for _ in range(25):
        one.iterate()
    found = q_of(output_in(one.battles, one), 1.0)[0, 0, :3].numpy()
    assert np.abs(found - wanted).max() < 0.12 < np.abs(before - wanted).max()
    assert found.argmax() == wanted.argmax() == 0


def tiny_trainer(name: str, **changes: Any) -> Trainer:
    config = settings(
        name,
        rollout__battles=64,
        league__members=[{"who": "agent", "weight": 1.0, "agent": "random"}],  # the opponent has one move
        learner__optimizer__learning_rate={**CONSTANT, "value": 0.002},
        **changes,
    )
    return trainer_class(name)(config, games=TinyBattles())


def greedy_return(one: Trainer) -> float:
    """Mean return of the most probable actions, over new battles."""
    told = one.config.learner.model_dump(mode="json")
    told["learning"] = {"active": False, "start": 0, "end": 0}
    told["exploration"] = {name: {**CONSTANT, "value": 0.0} for name in ("temperature", "epsilon")}
    frozen = tiny_trainer("ddqn", learner__exploration=told["exploration"], seed=99)
    frozen.roles[LEARNER].load_weights(one.roles[LEARNER].network)
    learning = frozen.roles[LEARNER].settings.learning
    assert learning.active  # its decisions are kept; nothing is learned from them
    frozen.learn = lambda *_: {}  # type: ignore[method-assign]
    return float(np.mean([frozen.iterate()["raw_return"] for _ in range(3)]))


TINY: dict[str, dict[str, Any]] = {
    "ppo": {},
    "ddqn": {
        "algorithm__learning_starts": 200,
        "algorithm__updates": 10,
        "algorithm__batch_decisions": 64,
        "algorithm__context": 3,
        "algorithm__advantage_scale": 1.0,
        "learner__exploration__epsilon": {**CONSTANT, "value": 0.5},
    },
    "iac": {},
    "maac": {},
    "magrpo": {},
    "expert_iteration": {"algorithm__iterations": 50},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_a_battle_of_two_pokemon_is_solved_as_an_exhaustive_search_solves_it(name: str) -> None:
    best = Solver().start()
    one = tiny_trainer(name, **TINY[name])
    assert greedy_return(one) < 0.5 * best
    for _ in range(40 if name == "iac" else 20):  # the others need 10, it needs 25
        one.iterate()
    assert greedy_return(one) > 0.9 * best


def test_the_exhaustive_search_says_what_the_battle_is() -> None:
    solver = Solver()
    assert solver.start() == 1.0
    engine = Engine(1)
    engine.reset([(OURS, THEIRS)], [showdown_seed("tiny", 0)])
    assert solver.actions(engine.words[0]) == {0: 1.0, 1: 1.0, 2: -1.0, 3: -1.0}
    engine.step(np.array([[0, 0]], np.int32))
    assert max(solver.actions(engine.words[0]).values()) == 1.0
    engine.step(np.array([[0, 0]], np.int32))  # a second Seismic Toss is one too many
    assert max(solver.actions(engine.words[0]).values()) == -1.0
