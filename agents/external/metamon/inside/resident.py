"""A checkpoint of metamon that decides for many seats at once, in batches."""

import itertools
import random

import numpy as np
import torch
from loading import model_of, preview_model, without_flash_attention
from memory import PASS_SIZE, Memory
from seats import Listener, Seat, described

#: Maximum number of decisions in a forward pass on a GPU.
MAX_BATCH = 256


class Resident:
    """A checkpoint with the seats that it plays. settings: of serve.py."""

    def __init__(self, settings):
        if settings["threads"]:
            torch.set_num_threads(settings["threads"])
        if not torch.cuda.is_available() or settings["device"] == "cpu":
            without_flash_attention()
        self.model, self.checkpoint = model_of(settings)
        self.experiment = self.model.initialize_agent(checkpoint=self.checkpoint, log=False)
        self.policy = self.experiment.policy
        self.policy.eval()
        self.device = self.experiment.DEVICE
        self.backend = settings["backend"] or getattr(self.model, "battle_backend", "metamon")
        self.listeners, self.seats, self.tags = {}, {}, itertools.count(1)
        self._probabilities = None
        self.policy.actor.register_forward_hook(self._keep)
        self.memory = Memory(self.policy, self.device)
        self._warm_up()
        self.preview = preview_model(settings["preview"], self.device) if settings["preview"] else None

    def about(self):
        """Return what serve.py prints of it."""
        count = sum(parameter.numel() for parameter in self.policy.parameters())
        return {
            "checkpoint": self.checkpoint,
            "parameters": count,
            "device": str(self.device),
            "backend": self.backend,
            "samples_itself": self._probabilities is None,
        }

    def _keep(self, _module, _arguments, distribution):
        """Keep the distribution from which the agent takes its action: that of the last discount factor."""
        self._probabilities = distribution.probs[:, -1, -1, :].float().cpu().numpy()

    def _warm_up(self):
        """Run a pass on nothing, so that no decision waits for kernels to be compiled or loaded."""
        space = self.model.observation_space.gym_space
        actions = self.model.action_space.gym_space.n
        observation = {name: np.zeros((1, *box.shape), dtype=box.dtype) for name, box in space.spaces.items()}
        observation["illegal_actions"] = np.zeros((1, actions), dtype=bool)
        rl2 = np.zeros((1, actions + 1), dtype=np.float32)
        inputs = [(observation, rl2, np.zeros((1, 1), dtype=np.int64))] * PASS_SIZE
        self.memory.learn(self._pass(inputs, self.policy.traj_encoder.init_hidden_state(PASS_SIZE, self.device))[1])

    def answer(self, asks):
        """Return the answer to each ask, in order. An ask that cannot be answered fails alone."""
        answers: list = [None] * len(asks)
        steps = []
        for index, ask in enumerate(asks):
            try:
                seat, failed = self._read(ask)
                if seat.battle._teampreview:
                    answers[index] = {"choice": self._order_of_team(seat, ask["seed"]), "failed": failed}
                else:
                    steps.append((index, seat, seat.step(), failed))
            except Exception as error:
                answers[index] = {"error": described(error)}
        for temperature in sorted({asks[index]["temperature"] for index, *_ in steps}):
            chosen = [step for step in steps if asks[step[0]]["temperature"] == temperature]
            size = PASS_SIZE if self.device.type == "cpu" else MAX_BATCH
            for start in range(0, len(chosen), size):
                part = chosen[start : start + size]
                try:
                    decided = self._decide(part, temperature, [asks[index]["seed"] for index, *_ in part])
                except RuntimeError as error:  # the device is out of memory
                    decided = [{"error": described(error)}] * len(part)
                for (index, *_), answer in zip(part, decided, strict=True):
                    answers[index] = answer
        return answers

    def _read(self, ask):
        """Return the seat of an ask, updated, and what metamon could not read."""
        seat = self.seats.get(ask["session"])
        if seat is None:
            key = ask["format"], ask["name"]
            if key not in self.listeners:
                self.listeners[key] = Listener(self.backend, *key)
            tag = f"battle-{ask['format']}-{next(self.tags)}"
            seat = self.seats[ask["session"]] = Seat(self.model, self.listeners[key], tag, self.memory.slot())
        return seat, seat.listener.read(seat.tag, ask["lines"], ask["request"])

    def _order_of_team(self, seat, seed):
        """Return the order of the team at team preview: metamon's player's, which is random without a preview model."""
        random.seed(seed)
        torch.manual_seed(seed)
        player = seat.listener.player
        player.team_preview_model = self.preview
        return player.teampreview(seat.battle)

    def _decide(self, part, temperature, seeds):
        """Return the answers to at most a pass of asks with one temperature; 0: the most probable action."""
        if temperature:
            self._set_temperature(temperature)
        padding = PASS_SIZE - len(part) if self.device.type == "cpu" else 0
        slots = [seat.slot for _, seat, *_ in part] + [0] * padding
        inputs = [step for _, _, step, _ in part]
        self._probabilities = None
        torch.manual_seed(seeds[0])
        actions, state = self._pass(inputs + inputs[:1] * padding, self.memory.read(slots), sample=temperature > 0)
        self.memory.write(slots, state)
        answers = []
        for row, (_, seat, step, failed) in enumerate(part):
            action, shares = int(actions[row]), dict[str, float]()
            if self._probabilities is not None:
                p = self._probabilities[row].astype(float).tolist()
                action = random.Random(seeds[row]).choices(range(len(p)), p)[0] if temperature else p.index(max(p))
                for index in (~step[0]["illegal_actions"][0]).nonzero()[0].tolist():
                    order = seat.order(index)
                    if order is not None:  # several actions may mean the same: all four moves mean Struggle
                        shares[order] = shares.get(order, 0.0) + p[index]
            seat.action = action
            order = seat.order(action)
            answer = {"choice": order or seat.random_order(seeds[row]), "action": action, "probabilities": shares}
            answers.append({**answer, "legal": order is not None, "failed": failed})
        return answers

    def _set_temperature(self, temperature):
        """Set the divisor of the logits. Raises RuntimeError if this version of metamon has none."""
        distribution = self.policy.actor.policy_dist
        if not hasattr(distribution, "temperature") and temperature != 1:
            raise RuntimeError(f"temperature={temperature}: this version of metamon samples at temperature 1 only")
        distribution.temperature = temperature

    def _pass(self, inputs, state, sample=False):
        """Return the actions [n] and the hidden state after a forward pass over n steps, as amago's interact makes it."""
        device = self.device

        def tensor(parts):
            return torch.from_numpy(np.concatenate(parts, axis=0)).to(device).unsqueeze(1)

        names = inputs[0][0]
        with torch.no_grad(), self.experiment.caster():
            actions, state = self.policy.get_actions(
                obs={name: tensor([step[0][name] for step in inputs]) for name in names},
                rl2s=tensor([step[1] for step in inputs]),
                time_idxs=tensor([step[2] for step in inputs]),
                sample=sample,
                hidden_state=state,
            )
        return actions.reshape(-1).cpu().numpy(), state

    def forget(self, session):
        """Release a seat whose battle is over."""
        seat = self.seats.pop(session, None)
        if seat is not None:
            seat.listener.forget(seat.tag)
            self.memory.release(seat.slot)
