"""`search:exact`: determinized tree search on the project's engines, which play Showdown's own game."""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.contract import OptionLimits, SinglesAgent
from agents.engine import ALL_FORMATS, FORMATS_IN_WORDS
from agents.mechanics.matchups import Matchups
from agents.mechanics.preview import best_lead
from agents.search.exact.game import Game, SearchTree, seat_of
from agents.search.exact.weights import digest_of, files_of, read
from teamsets.cache import folder as cache_folder
from teamsets.cache import not_writable
from teamsets.errors import BadInput, MissingTool
from teamsets.formats import get_format
from teamsets.locking import file_lock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_WEIGHTS = "network"
#: By generation, samples of the opponent's team.
_SAMPLES = {1: 2, 9: 4}
#: By generation, iterations of each tree between two looks at the clock: about a millisecond.
_CHUNK = {1: 200, 9: 50}
_RETRIES = 8
_NO_POSITION = "no sampled position has the legal choices of the request"


class ExactSearch(SinglesAgent):
    """Determinized MCTS on the project's engines: the same rules as Showdown's, chance drawn anew by every iteration.

    Teams of the opponent are sampled from known sets, as for `search:mcts`, and each is searched by a tree in which both
    sides choose simultaneously, each by its own PUCT. The visit shares are averaged over the samples. Leaves and priors come
    from weights fitted to results of battles and to choices, with which a small network judges.

    What only the simulator knows (turns of sleep and confusion left …) is drawn anew by every iteration. The battle's own
    random numbers are not known to it.

    With `policy` it acts by log π(a) + β·Q(a). π: the policy of a network, which sees the battle as `policy:` does; it is
    also mixed into the priors of our actions at the root. Q: the probability of winning after a, the mean over the samples.
    That is the policy improved by its actions' values as in Gumbel MuZero (Danihelka et al. 2022, section 4).

    Diagnostics of each decision: `values`, mean value of each choice from 0 (lost) to 1 (won); `visits`, its visit share;
    `win_probability`, mean of the values weighted by visits; `iterations`, in total; `failed`, if no position could be made.
    With `policy`: `probabilities`, by which it acts; `values`, Q; `win_probability`, the network's where nothing was
    searched; `network`, its own `probabilities` and `win_probability`; `search`: `iterations`, `visits`, `failed`.

    Plays gen1ou and gen1randombattle with Numba (`make training`, or `uv pip install -e .[engine]`; the first use compiles
    for one or two minutes), gen9ou with a C++ compiler (some 20 seconds). With a time limit it is not repeatable; with
    `iterations` the same seed gives the same battle.

    Options: ms, time per decision for all samples in milliseconds, 100 (the wait for a network's answer is not
    counted); samples, number of samples, 0 (2 in generation 1, 4 in generation 9); threads, cores that search at once,
    each its own samples, 1; iterations, per decision instead of a time limit, 0; temperature, 0 (the most visited
    choice) or 1/T, the power of the visits by which choices are sampled; exploration, PUCT's constant, 0.4; first,
    first-play urgency: how much below its node's mean value an unvisited option starts, 0.05; trust, exponent of the
    fitted priors, 1; steps, in how many steps of HP the nodes of a tree differ, 16; weights, "network", "fitted"
    (without the network) or a file of either; policy, a checkpoint as after `policy:`, "" (none; otherwise needs torch,
    `make training`); beta, β in nats per unit of the probability of winning, 200; prior, the network's share of our
    actions' priors at the root, 0.5; device, of the network, as of `policy:`, "auto". With policy, temperature is 0
    (the most probable action) or the divisor of log π + β·Q before sampling.
    """

    repeatable: ClassVar[bool] = False
    option_limits: ClassVar[OptionLimits] = {
        **dict.fromkeys(("ms", "threads", "steps"), (1, math.inf)),
        **dict.fromkeys(("samples", "iterations", "temperature", "exploration", "trust", "beta"), (0, math.inf)),
        "first": (-math.inf, math.inf),
        "prior": (0, 1),
    }

    #: Checkpoint -> the class of agents that it plays as (agents/policy); set when the registry resolves its first spec.
    networks: ClassVar[Callable[[str], type[Any]] | None] = None

    def __init__(
        self,
        ms: int = 100,
        samples: int = 0,
        threads: int = 1,
        iterations: int = 0,
        temperature: float = 0.0,
        exploration: float = 0.4,
        first: float = 0.05,
        trust: float = 1.0,
        steps: int = 16,
        weights: str = _WEIGHTS,
        policy: str = "",
        beta: float = 200.0,
        prior: float = 0.5,
        device: str = "auto",
    ) -> None:
        problem = self.wrong_option(
            ms=ms, samples=samples, threads=threads, iterations=iterations, temperature=temperature,
            exploration=exploration, first=first, trust=trust, steps=steps, beta=beta, prior=prior, policy=policy,
            device=device,
        )  # fmt: skip
        if problem:
            raise BadInput(f"search:exact: {problem}")
        files_of(weights)
        from agents.search.exact.root_values import TreeSettings

        self.ms, self.samples, self.iterations, self.temperature = ms, samples, iterations, temperature
        self.threads, self.beta, self.prior = threads, beta, prior
        self._settings = TreeSettings(exploration, first, trust, steps)
        if reason := self.missing():
            raise BadInput(f"search:exact: {reason}")
        self._weights = weights
        self._game: Game | None = None
        network = self._network_of({"policy": policy})
        self._network = None if network is None else network(device=device)

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """Return True with iterations instead of a time limit, if the network of `policy` is repeatable."""
        network = cls._network_of(options)
        return options.get("iterations", 0) > 0 and (network is None or network.repeats(**_device(options)))

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a digest of the weights, and with `policy` one of the network's."""
        network, weights = cls._network_of(options), digest_of(options.get("weights", _WEIGHTS))
        return weights if network is None else f"{weights} {network.version()}"

    @classmethod
    def uses(cls, **options: Any) -> tuple[str, ...]:
        """Return the module of the network of `policy`, if there is one."""
        network = cls._network_of(options)
        return () if network is None else (network.__module__,)

    @classmethod
    def _network_of(cls, options: dict[str, Any]) -> type[Any] | None:
        """The network that options name, as a class of agents; None for none."""
        name = options.get("policy", "")
        if not name:
            return None
        if cls.networks is None:
            raise BadInput(
                f"search:exact: policy={name}: networks are not loaded yet: make it with "
                f"agents.resolve('search:exact?policy={name}').make()"
            )
        return cls.networks(name)

    @classmethod
    def wrong_option(cls, **options: Any) -> str:
        """Check the device of the network of `policy` too."""
        network = cls._network_of(options)
        wrong = "" if network is None else network.wrong_option(**_device(options))
        return super().wrong_option(**options) or str(wrong)

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return why it cannot play a format (None: any), with the fix; empty if it can. Reads a file of weights."""
        if format_id is None:
            lacking = lacks_any()
        elif get_format(format_id).id not in ALL_FORMATS:
            return f"the engines play {FORMATS_IN_WORDS} only"
        else:
            gen = get_format(format_id).gen
            lacking = lacks(gen) or _unreadable(options.get("weights", _WEIGHTS), gen)
        network = cls._network_of(options)
        return lacking or ("" if network is None else network.missing(format_id))

    def prepare(self, format_id: str) -> None:
        self._game = self._new_game(get_format(format_id).gen)

    def team_preview(self, battle: SeatBattle) -> Choice | Awaitable[Choice] | None:
        """Return the network's lead if it chooses one, else that of `heuristic:expert`: the search begins in turn 1."""
        self._of(battle).follow(battle)
        if self._network is not None and self._network.decides_previews:
            return self._lead_of(self._network, battle)
        return best_lead(battle, Matchups())

    async def _lead_of(self, network: Any, battle: SeatBattle) -> Choice:
        log_policy, win_probability = await network.judge(battle)
        policy = {choice: math.exp(log_p) for choice, log_p in log_policy.items()}
        self.diagnostics = {
            "win_probability": round(win_probability, 4),
            "probabilities": {choice.label: round(p, 4) for choice, p in policy.items()},
        }
        return self._pick(policy)

    def act(self, battle: SeatBattle) -> Choice | Awaitable[Choice]:
        began = time.perf_counter()
        game = self._of(battle)
        game.follow(battle)
        seat = seat_of(battle)
        if self._network is not None:
            return self._act_with_network(battle, seat, time.perf_counter() - began)
        choice = battle.legal[0] if len(battle.legal) == 1 else self._searched(battle, seat, began)
        game.chose(battle, choice)
        return choice

    def finish(self, battle: SeatBattle) -> None:
        if self._network is not None:
            self._network.finish(battle)

    def _of(self, battle: SeatBattle) -> Game:
        """The game of a battle, made here if the agent has not prepared for it."""
        if self._game is None:
            self._game = self._new_game(battle.gen)
        return self._game

    def _new_game(self, gen: int) -> Game:
        compiled(gen)
        self._chunk = _CHUNK[gen]
        if gen == 1:
            from agents.search.exact.first_generation import FirstGeneration

            return FirstGeneration(self._settings, read(self._weights))
        from agents.search.exact.gen9.game import NinthGeneration
        from agents.search.exact.gen9.network import read_weights

        return NinthGeneration(self._settings, read_weights(self._weights))

    async def _act_with_network(self, battle: SeatBattle, seat: int, spent: float) -> Choice:
        """spent: seconds of this decision so far. Other battles have their turns until the network has answered."""
        from agents.search.exact.guide import ask

        game = self._of(battle)
        guidance = await ask(self._network, battle, game)
        began = time.perf_counter() - spent
        if guidance is None:
            self.diagnostics = {"no_action": True}
            game.chose(battle, battle.legal[0])
            return battle.legal[0]
        several = len(battle.legal) > 1
        planted = self._plant(battle, seat, began, guidance.priors(seat, self.prior)) if several else []
        found = {"iterations": self._grow(planted, began)} if planted else {"failed": _NO_POSITION} if several else {}
        probabilities, self.diagnostics = guidance.improved(planted, seat, self.beta)
        self.diagnostics["search"] = found | self.diagnostics["search"]
        choice = self._pick(probabilities)
        game.chose(battle, choice)
        return choice

    def _searched(self, battle: SeatBattle, seat: int, began: float) -> Choice:
        planted = self._plant(battle, seat, began)
        if not planted:
            self.diagnostics = {"failed": _NO_POSITION}
            return self.rng.choice(battle.legal)
        made, game = self._grow(planted, began), self._of(battle)
        shares, scores = [0.0] * game.actions, [0.0] * game.actions
        for tree in planted:
            visits, totals = tree.edges(seat)
            weight = 1 / (float(visits.sum()) * len(planted))
            for action in range(game.actions):
                shares[action] += float(visits[action]) * weight
                scores[action] += float(totals[action]) * weight
        actions = {choice: game.action(choice) for choice in battle.legal}
        self.diagnostics = {
            "iterations": made,
            "visits": {choice.label: round(shares[action], 4) for choice, action in actions.items()},
            "values": {c.label: round(scores[a] / shares[a], 4) if shares[a] else 0.0 for c, a in actions.items()},
            "win_probability": round(sum(scores[action] for action in actions.values()), 4),
        }
        return self._pick({choice: shares[action] for choice, action in actions.items()})

    def _spent(self, began: float) -> float:
        """Milliseconds since then."""
        return (time.perf_counter() - began) * 1000

    def _plant(
        self, battle: SeatBattle, seat: int, began: float, guide: NDArray[np.float32] | None = None
    ) -> list[SearchTree]:
        """A new tree for each sample whose legal actions are those of the request. guide: as `Game.plant` takes it."""
        game = self._of(battle)
        mask = sum({1 << game.action(choice) for choice in battle.legal})
        every = (1 << game.actions) - 1
        wanted = self.samples or _SAMPLES[battle.gen]
        planted: list[SearchTree] = []
        for attempt in range(wanted + _RETRIES):
            if len(planted) == wanted:
                break
            root = game.sample(battle, self.rng)
            possible = game.legal(root, seat)
            if (possible != mask and attempt < _RETRIES) or not possible & mask:
                continue
            allowed = (mask, every) if seat == 0 else (every, mask)
            planted.append(game.plant(len(planted), root, allowed, 1 + self.rng.getrandbits(60), guide))
            if not (self.samples or self.iterations) and self._spent(began) > self.ms / 2:
                break  # a machine so slow that no time would be left to search more
        return planted

    def _grow(self, planted: list[Any], began: float) -> int:
        """Adds iterations to all trees until the time is up; returns how many in total."""
        groups = [planted[start :: self.threads] for start in range(min(self.threads, len(planted)))]
        if len(groups) == 1:
            return self._grow_group(planted, began, len(planted))
        grown = _pool(self.threads).map(lambda group: self._grow_group(group, began, len(planted)), groups)
        return sum(grown)

    def _grow_group(self, group: list[Any], began: float, trees: int) -> int:
        """Adds iterations to some of the trees, to each as many; returns how many in total."""
        if self.iterations:
            share = max(1, self.iterations // trees)
            for tree in group:
                tree.grow(share)
            return share * len(group)
        made = 0
        while made == 0 or self._spent(began) < self.ms:
            for tree in group:
                tree.grow(self._chunk)
            made += self._chunk * len(group)
        return made

    def _pick(self, shares: dict[Choice, float]) -> Choice:
        if self.temperature == 0:
            return max(shares, key=shares.__getitem__)
        best = max(shares.values())
        odds = [(share / best) ** (1 / self.temperature) for share in shares.values()]
        return self.rng.choices(list(shares), odds)[0]


def lacks_any() -> str:
    """Return why no generation's engine can be used here, with the fix; empty if one can. Compiles nothing."""
    if not (reason := lacks(1)):
        return ""
    from agents.engine.gen9.library import CompilerMissing, check_compiler

    try:
        check_compiler()
    except CompilerMissing:
        return reason
    return ""


def lacks(gen: int) -> str:
    """Return why the engine of a generation cannot be used here, with the fix; empty if it can.

    Compiles that of generation 9 unless the cache has it: where this fails, it must be known before a battle.
    """
    if gen == 1:
        numba = importlib.util.find_spec("numba")
        return (
            "" if numba else "Numba is not installed: `make training` installs it (alone: uv pip install -e .[engine])"
        )
    from agents.engine.gen9.library import announce, build

    try:
        build(say=announce)
    except MissingTool as reason:
        return str(reason)
    return ""


def _unreadable(weights: str, gen: int) -> str:
    """Return why a file of weights cannot be used in a generation; empty if it can, and for a name ("network", "fitted")."""
    if weights in (_WEIGHTS, "fitted"):
        return ""
    try:
        if gen == 1:
            read(weights)
        else:
            from agents.search.exact.gen9.network import read_weights

            read_weights(weights)
    except BadInput as error:
        return str(error)
    return ""


def _device(options: dict[str, Any]) -> dict[str, Any]:
    return {"device": options.get("device", "auto")}


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads of this process; the compiled search lets them run at once."""
    return ThreadPoolExecutor(threads, thread_name_prefix="search-exact")


@cache
def compiled(gen: int) -> None:
    """Compiles a generation's search or loads it from the cache, before any decision. Other processes wait meanwhile.

    Raises BadInput where its engine cannot be used, MissingTool where the cache folder cannot be written.
    """
    if reason := lacks(gen):
        raise BadInput(f"search:exact: {reason}")
    if gen == 9:
        from agents.engine.gen9.library import library

        library()
        return
    from agents.search.exact.first_generation import warm

    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file_lock(folder / "search-exact.lock"):
            warm(_WEIGHTS)
    except OSError as error:
        raise not_writable(folder, error) from None
