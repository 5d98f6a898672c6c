"""`Policy.act_many`: many battles in one call, the same decisions and positions as one at a time."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.made_decisions import decisions
from support.rule_matches import pair_of_fixtures, play_all

from agents import resolve
from agents.batched import with_labels
from agents.observation.observation import Observation, Observations
from agents.policy import client, wire
from agents.serving import client as serving
from agents.serving import wire as frames

torch = pytest.importorskip("torch")


def single(many: Observations, row: int) -> Observation:
    return Observation(many.token_ids[row], many.features[row], many.legal[row])


def test_a_message_of_many_is_read_as_it_was_written() -> None:
    many = decisions(5, 0)
    sessions, positions, found = wire.unpacked_many(
        5, wire.packed_many([7, 8, 9, 10, 2**32 - 1], [0, 1, 2, 3, 4], many)
    )
    assert sessions == [7, 8, 9, 10, 2**32 - 1] and positions == [0, 1, 2, 3, 4]
    for one, other in zip(found, many, strict=True):
        assert one.dtype == other.dtype and (one == other).all()
    body = wire.packed_many(range(5), range(5), many)
    for n, wrong in ((4, body), (5, body[:-1]), (0, b""), (wire.MAX_BATCH + 1, b"")):
        with pytest.raises(ValueError, match="decisions in"):
            wire.unpacked_many(n, wrong)
    full = decisions(wire.MAX_BATCH, 1)
    assert len(wire.packed_many(range(wire.MAX_BATCH), range(wire.MAX_BATCH), full)) <= frames.MAX_BODY


def test_many_in_a_message_are_answered_as_one_by_one(run_folder: Path, one_thread: None) -> None:
    """More than fit into one message, at two positions, asked both ways by different sessions of the same connection."""
    from agents.policy import checkpoint

    n, folder = wire.MAX_BATCH + 30, checkpoint.find(str(run_folder))
    asked = [decisions(n, seed) for seed in (0, 1)]

    async def play() -> None:
        connection = client.connection_to(folder, "cpu")
        together, alone = ([connection.new_session() for _ in range(n)] for _ in range(2))
        for position, many in enumerate(asked):
            found = await connection.ask_many(together, [position] * n, many)
            one_by_one = await asyncio.gather(
                *(connection.ask(session, position, single(many, row)) for row, session in enumerate(alone))
            )
            np.testing.assert_allclose(found, np.stack(one_by_one), atol=1e-4)
            assert found.shape == (n, 14) and (np.isfinite(found[:, :13]) == many.legal).all()
        body = wire.packed_many([1, 2], [0, 0], asked[0].take(slice(0, 2)))
        with pytest.raises(serving.ServerFailed, match="3 decisions in"):
            await connection.answer(wire.ASK_MANY, connection.new_session(), 3, body)

    asyncio.run(play())


def _body_with(part: str, value: float) -> bytes:
    """The body of ASK of an observation with one value changed."""
    one = single(decisions(1, 3), 0)
    if part == "legal":
        return wire.packed(one)[:-1] + bytes([int(value)])
    getattr(one, part)[4, 2] = value
    return wire.packed(one)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "an observation of 0 bytes"),
        (bytes(99), "an observation of 99 bytes"),
        (bytes(frames.MAX_BODY), f"an observation of {frames.MAX_BODY} bytes"),
        (_body_with("token_ids", -1), "a token id outside of 0 to"),
        (_body_with("token_ids", 32767), "a token id outside of 0 to"),
        (_body_with("features", np.nan), "a feature that is not a number"),
        (_body_with("features", -np.inf), "a feature that is not a number"),
        (_body_with("features", 3e38), "a feature that is not a number"),
        (_body_with("legal", 7), "a legal action that is neither true nor false"),
    ],
)
def test_a_bad_frame_fails_alone_and_leaves_nothing_in_a_slot(
    micro: Any, tmp_path: Path, body: bytes, words: str
) -> None:
    """Two clients ask in the same batch; the one's frame is bad, the other's answer is the network's own."""
    from agents.policy.network import Network
    from agents.policy.serve import Inference, InferenceServer

    sent: dict[str, list[tuple[int, int, bytes]]] = {"bad": [], "good": []}
    good = single(decisions(1, 0), 0)

    async def serve() -> None:
        torch.manual_seed(0)
        server = InferenceServer(Inference(Network(micro), torch.device("cpu"), limit=8), tmp_path / "s.socket", 60.0)
        clients = {}
        for name, heard in sent.items():
            clients[name] = connection = server.connect()
            connection.send = lambda data, heard=heard: heard.append((*frames.HEAD.unpack(data[:13])[1:3], data[13:]))  # type: ignore[method-assign]
        clients["good"].frame_received(frames.ASK, 1, 0, wire.packed(good))
        await asyncio.sleep(0.01)
        many = wire.packed_many([2, 3], [0, 0], decisions(2, 0))
        for session in (1, 2, 3):
            clients["bad"].frame_received(frames.ASK, session, 0, body)
        clients["bad"].frame_received(wire.ASK_MANY, 9, 2, many[:16] + body + many[16 + len(body) :])
        clients["bad"].frame_received(wire.ASK_MANY, 10, 2, wire.packed_many([2, 2], [0, 0], decisions(2, 0)))
        clients["good"].frame_received(frames.ASK, 2, 0, wire.packed(good))
        await asyncio.sleep(0.01)
        assert (
            torch.isfinite(server.inference.memory.keys).all() and torch.isfinite(server.inference.memory.values).all()
        )
        server._end.cancel()

    asyncio.run(serve())
    (first, second) = sent["good"]
    assert first[0] == second[0] == frames.ANSWER
    np.testing.assert_allclose(*(np.frombuffer(answer, np.float32) for *_, answer in sent["good"]), atol=1e-5)
    singles = [answer for kind, session, answer in sent["bad"] if session in (1, 2, 3) and kind == frames.FAILED]
    assert len(singles) == 3 and all(words in answer.decode() for answer in singles)
    assert (frames.FAILED, 10, b"ValueError: 2 decisions of 1 sessions") in sent["bad"]


def test_too_many_battles_fail_by_name_and_their_slots_are_freed(micro: Any, tmp_path: Path) -> None:
    from agents.policy.network import Network
    from agents.policy.serve import Inference, InferenceServer

    sent: list[tuple[int, int, bytes]] = []

    async def serve() -> None:
        server = InferenceServer(Inference(Network(micro), torch.device("cpu"), limit=4), tmp_path / "s.socket", 60.0)
        connection = server.connect()
        connection.send = lambda data: sent.append((*frames.HEAD.unpack(data[:13])[1:3], data[13:]))  # type: ignore[method-assign]

        async def ask(number: int, sessions: list[int]) -> tuple[int, int, bytes]:
            body = wire.packed_many(sessions, [0] * len(sessions), decisions(len(sessions), 0))
            connection.frame_received(wire.ASK_MANY, number, len(sessions), body)
            await asyncio.sleep(0.01)
            return sent[-1]

        kind, number, body = await ask(100, [1, 2, 3])
        assert (kind, number, len(body)) == (frames.ANSWER, 100, 3 * 14 * 4)
        kind, number, body = await ask(101, [4, 5])
        assert (kind, number) == (frames.FAILED, 101) and b"all 4 slots" in body
        for session in (1, 2, 4, 5):
            connection.frame_received(frames.FORGET, session, 0, b"")
        assert (await ask(102, [6, 7, 8]))[:2] == (frames.ANSWER, 102)
        # A battle that ends while its request waits, and a client that disconnects: neither keeps a slot.
        connection.frame_received(wire.ASK_MANY, 103, 1, wire.packed_many([6], [1], decisions(1, 1)))
        connection.frame_received(frames.FORGET, 6, 0, b"")
        await asyncio.sleep(0.01)
        assert len(server.inference._slots) == 3
        connection.frame_received(wire.ASK_MANY, 104, 1, wire.packed_many([7], [1], decisions(1, 1)))
        connection.connection_lost(None)
        await asyncio.sleep(0.01)
        assert server.inference._slots == {} and sorted(server.inference._free) == [1, 2, 3, 4]
        server._end.cancel()

    asyncio.run(serve())
    assert [number for _, number, _ in sent] == [100, 101, 102, 103]


def test_a_policy_decides_for_many_battles_as_for_one(run_folder: Path, one_thread: None) -> None:
    """With and without a temperature, on two servers (two names of one device), with choices that were rejected."""
    source = resolve(f"policy:{run_folder}@12")
    cold = [source.make() for _ in range(6)]
    warm = [resolve(f"policy:{run_folder}@12?temperature=5").make() for _ in range(40)]
    explicit = [resolve(f"policy:{run_folder}@12?device=cpu").make()]
    agents: list[Any] = [*cold, *warm, *explicit]
    for number, agent in enumerate(agents):
        agent.rng = random.Random(number)
    kind = type(agents[0])
    asked = [
        decisions(47, 0, turn=1), decisions(47, 1, turn=2), decisions(47, 1, turn=2), decisions(47, 2, turn=2, forced=True),
        decisions(47, 3, turn=150), decisions(47, 4, turn=151),
    ]  # fmt: skip

    async def play() -> list[np.ndarray]:
        found, connection = [], agents[0]._server
        sessions = [connection.new_session() for _ in agents]
        for many, position in zip(asked, (0, 1, 1, 2, 3, 4), strict=True):
            actions = await kind.act_many(agents, many)
            assert {agent._position for agent in agents} == {position}, (
                "a rejected choice is asked again at its position"
            )
            answers = await connection.ask_many(sessions, [position] * 47, many)
            assert many.legal[np.arange(47), actions].all()
            best = [*range(6), 46]
            assert actions[best].tolist() == answers[best, :13].argmax(axis=1).tolist()
            for row, agent in enumerate(agents):
                known, legal = agent.diagnostics["probabilities"], np.flatnonzero(many.legal[row]).tolist()
                weights = np.exp(answers[row, legal].astype(np.float64))
                assert list(known) == legal and agent.diagnostics["win_probability"] == pytest.approx(
                    answers[row, 13], abs=1e-3
                )
                assert list(known.values()) == pytest.approx((weights / weights.sum()).tolist(), abs=1e-3)
            found.append(actions)
        return found

    found = asyncio.run(play())
    assert any((actions[6:46] != asked[turn].legal[6:46].argmax(axis=1)).any() for turn, actions in enumerate(found))
    assert len(set(np.concatenate([actions[6:46] for actions in found]).tolist())) > 4, "a temperature samples"
    for agent in agents:
        agent.finish(None)


def test_diagnostics_by_action_are_stored_by_label() -> None:
    labels = {3: "move surf", 0: "move bodyslam", 5: "switch tauros"}
    given = {"win_probability": 0.5, "probabilities": {0: 0.2, 3: 0.7, 5: 0.1}, "other": {"a": 1}, "empty": {}}
    found = with_labels(given, labels)
    assert found == {
        "win_probability": 0.5,
        "probabilities": {"move surf": 0.7, "move bodyslam": 0.2, "switch tauros": 0.1},
        "other": {"a": 1},
        "empty": {},
    }
    assert list(found["probabilities"]) == ["move surf", "move bodyslam", "switch tauros"]
    assert with_labels(None, labels) is None


@pytest.mark.slow
def test_on_showdown_probabilities_are_those_of_the_legal_choices(run_folder: Path, one_thread: None) -> None:
    spec = f"policy:{run_folder}@12"
    (record,) = play_all(pair_of_fixtures(spec, "random", "gen1randombattle", 4)[:1])
    assert record.fault is None, record.detail
    decisions = [decision for decision in record.decisions if decision[0] == 0]
    assert len(decisions) > 5
    for _, _, _, legal, choice, _, diagnostics in decisions:
        assert list(diagnostics["probabilities"]) == list(legal), "all legal choices, in their order"
        assert diagnostics["probabilities"][choice] == max(diagnostics["probabilities"].values())
        assert 0 <= diagnostics["win_probability"] <= 1
