"""`metamon:NAME` and `metamon:PATH`: the models of metamon, each resident in one process for all battles."""

from __future__ import annotations

import json
import math
import os
import re
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import orjson
from poke_env.data import GenData, to_id_str

from agents.battle import SeatBattle
from agents.battle.choices import Choice
from agents.contract import SinglesAgent
from agents.external.metamon import environment
from agents.external.metamon.serve import MODULE, RESIDENT, Settings
from agents.serving.client import Connection, Service, connected, runs_on_cpu
from agents.serving.wire import ASK, socket_path
from teamsets.errors import BadInput

#: Models that `arena agents list` shows; all other names of metamon's pretrained models work too.
LISTED = ("SyntheticRLV2", "Abra", "Kakuna")
#: Formats in metamon's vocabulary.
_FORMATS = re.compile(r"gen[1-4](?:ou|uu|nu|ubers)|gen9ou")
_DEVICES = r"auto|cpu|cuda(:\d+)?"
_BACKENDS = ("", "metamon", "pokeagent", "poke-env")
#: What OWN_SETTINGS may leave out, as metamon.rl.train has it by default.
_DEFAULTS = {
    "obs_space": "TeamPreviewObservationSpace",
    "action_space": "DefaultActionSpace",
    "reward_function": "DefaultShapedReward",
    "tokenizer": "DefaultObservationSpace-v1",
    "battle_backend": "metamon",
}
_REQUIRED = ("model_gin_config", "train_gin_config")


class Metamon(SinglesAgent):
    """A model of metamon: its observation space, tokenizer, agent and action space, by metamon's own code.

    NAME is one of metamon's pretrained models; metamon downloads its weights from its hub (`arena agents setup metamon
    --model NAME`). PATH contains a "/" and is the folder of a run of your own, {save_dir}/{run_name} of metamon.rl.train,
    with its weights in ckpts/policy_weights. How its network is built is said by `model=NAME`, the pretrained model from
    which it was fine-tuned or whose weights these are, or by a file metamon.json in the folder, with the arguments of
    metamon.rl.train: {"model_gin_config": "minikazam.gin", "train_gin_config": "binary_rl.gin", "obs_space": …}.

    One process per checkpoint and machine plays all battles of all workers, and decides in batches. It reads the protocol
    lines and requests that the seat receives. Like metamon's evaluator, it samples among all actions, so that about one
    choice in a thousand for each illegal action is a random one, and its order of the team at team preview is random. On a
    CPU it is repeatable; on a GPU sums depend on the batch size, so it is not.

    Diagnostics of each decision: `probabilities` of the legal choices; `random`, true if the action was not legal and
    metamon's environment chose at random; `failed`, what metamon could not read, or why it gave no answer; `refused`, its
    order if that is not legal. Without a legal order the choice is random.

    Options: checkpoint, its number, the model's default or the latest of a folder; temperature, 1.0 as in metamon's
    evaluator, or 0 (the most probable action); model, for a folder; backend, how metamon reads the battle (metamon,
    pokeagent, poke-env), the model's own; preview, a checkpoint of metamon's team preview model; device, "auto" (the first
    GPU, else the CPU), "cpu", "cuda", "cuda:1".
    """

    path: ClassVar[str] = ""

    def __init__(
        self,
        checkpoint: str = "",
        temperature: float = 1.0,
        model: str = "",
        backend: str = "",
        preview: str = "",
        device: str = "auto",
    ) -> None:
        if problem := self._problem(checkpoint, temperature, model, backend, preview, device):
            raise BadInput(f"metamon:{self.path}: {problem}")
        self.temperature = temperature
        settings = self._settings(checkpoint, model, backend, preview, device)
        self._server = connected(_service(self.path, settings), Connection)
        self._session, self._release = self._server.open_session(self)
        self._sent = 0

    @classmethod
    def repeats(cls, **options: Any) -> bool:
        """Return whether the network runs on a CPU."""
        return runs_on_cpu(options.get("device", "auto"))

    @classmethod
    def missing(cls, format_id: str | None = None, **options: Any) -> str:
        """Return what is missing of its environment or its weights, or what is wrong with the options."""
        if format_id is not None and not _FORMATS.fullmatch(format_id):
            return "it plays ou, uu, nu and ubers of generations 1 to 4, and gen9ou: choose one of these"
        place = environment.python()
        if place is None:
            return f"metamon is not installed: {environment.SET_UP}"
        if not (place.is_file() and os.access(place, os.X_OK)):
            return f"{place} is not a Python that can be started: {environment.SET_UP}"
        if environment.package(place) is None:
            return f"{place} has no metamon with pretrained models (metamon.rl.pretrained): {environment.SET_UP}"
        if problem := cls._problem(**options):
            return problem
        if not _is_path(cls.path) and next((environment.cache_dir() / "pretrained_models").rglob("*.pt"), None) is None:
            return (
                f"no weights in {environment.cache_dir()}/pretrained_models: `arena agents setup metamon --model "
                f"{cls.path}` downloads them; a folder with these weights plays as metamon:./FOLDER?model={cls.path}"
            )
        return ""

    @classmethod
    def version(cls, **options: Any) -> str:
        """Return a hash of metamon's code, of ours in its process, and of a folder's weights."""
        place = environment.python()
        package = None if place is None or not place.is_file() else environment.package(place)
        if package is None or cls.missing(None, **options):
            return ""
        weights = cls.path
        if _is_path(cls.path):
            found = environment.checkpoints(Path(cls.path))
            weights = environment.file_identity(found[int(options.get("checkpoint") or max(found))])
        return environment.code_digest(package) + environment.code_digest(RESIDENT.parent) + weights

    @classmethod
    def _problem(
        cls,
        checkpoint: str = "",
        temperature: float = 1.0,
        model: str = "",
        backend: str = "",
        preview: str = "",
        device: str = "auto",
    ) -> str:
        """Return what is wrong with the options, with the fix; empty if nothing is."""
        if checkpoint and not checkpoint.isdecimal():
            return f"checkpoint={checkpoint}: must be a number"
        if not 0 <= temperature < math.inf:
            return f"temperature={temperature}: must be 0 (most probable action) or more"
        if backend not in _BACKENDS:
            return f"backend={backend}: must be {', '.join(_BACKENDS[1:])}"
        if not re.fullmatch(_DEVICES, device):
            return f"device={device}: must be auto, cpu, cuda or cuda:N"
        if preview and not Path(preview).is_file():
            return f"preview={preview}: no such file: give a checkpoint of metamon's team preview model"
        if not _is_path(cls.path):
            return f"model={model}: {cls.path} has its own architecture: leave it out" if model else ""
        found = environment.checkpoints(Path(cls.path))
        if not found:
            return (
                f"no weights in {cls.path}/ckpts/policy_weights: give the folder of a run of metamon, SAVE_DIR/RUN_NAME"
            )
        if checkpoint and int(checkpoint) not in found:
            return f"checkpoint={checkpoint}: its checkpoints are {', '.join(map(str, sorted(found)))}"
        return "" if model else _own_problem(Path(cls.path))

    @classmethod
    def _settings(cls, checkpoint: str, model: str, backend: str, preview: str, device: str) -> Settings:
        number = int(checkpoint) if checkpoint else None
        folder, own = "", {}
        if _is_path(cls.path):
            place = Path(cls.path).resolve()
            folder, number = str(place), number if number is not None else max(environment.checkpoints(place))
            own = {} if model else {**_DEFAULTS, **_read_own(place)}
        else:
            model = cls.path
        preview = str(Path(preview).resolve()) if preview else ""
        return Settings(
            model=model, folder=folder, checkpoint=number, backend=backend, preview=preview, own=own, device=device
        )

    async def act(self, battle: SeatBattle) -> Choice:
        answer = await self._asked(battle)
        labels = {}
        for text, share in answer.get("probabilities", {}).items():
            if (choice := meant(battle, text)) is not None:
                labels[choice.label] = round(share, 4)
        self.diagnostics = {"probabilities": labels} if labels else {}
        if answer.get("legal") is False:
            self.diagnostics["random"] = True
        if failed := answer.get("failed") or answer.get("error"):
            self.diagnostics["failed"] = failed
        chosen = meant(battle, answer.get("choice", ""))
        if chosen is None:
            if "choice" in answer:
                self.diagnostics["refused"] = answer["choice"]
            return self.rng.choice(battle.legal)
        return chosen

    async def team_preview(self, battle: SeatBattle) -> Any:
        answer = await self._asked(battle)
        return battle.legal[0] if "error" in answer else answer["choice"]

    async def _asked(self, battle: SeatBattle) -> dict[str, Any]:
        """Send what the seat has received since the last decision, and return the answer."""
        lines, self._sent = battle.lines[self._sent :], len(battle.lines)
        ask = {
            "format": battle.format_id,
            "name": battle.player_role,
            "lines": lines,
            "request": orjson.dumps(battle.last_request).decode(),
            "seed": self.rng.getrandbits(32),
            "temperature": self.temperature,
        }
        answer: dict[str, Any] = orjson.loads(await self._server.answer(ASK, self._session, 0, orjson.dumps(ask)))
        return answer

    def finish(self, battle: SeatBattle) -> None:
        self._release()


def meant(battle: SeatBattle, order: str) -> Choice | None:
    """Return the legal choice that metamon's order means. It may name a Pokémon by a forme that it has on the field only."""
    choice = battle.read_answer(order, battle.last_request)
    if choice is None and order.startswith("/choose switch "):
        wanted = _base_species(battle.gen, order.removeprefix("/choose switch "))
        switches = [one for one in battle.legal if one.kind == "switch"]
        same = [one for one in switches if wanted and _base_species(battle.gen, one.label.split()[1]) == wanted]
        choice = same[0] if len(same) == 1 else None
    return choice


def _base_species(gen: int, name: str) -> str:
    """Return the id of a Pokémon's base species; "" for an unknown name."""
    return to_id_str(GenData.from_gen(gen).pokedex.get(to_id_str(name), {}).get("baseSpecies", ""))


def _is_path(name: str) -> bool:
    return "/" in name


def _own_problem(folder: Path) -> str:
    """Return why the settings of a run's folder cannot be used; empty if they can."""
    fix = (
        f"add model=NAME, the pretrained model with this architecture, or write {folder}/{environment.OWN_SETTINGS} with "
        'the arguments of metamon.rl.train, {"model_gin_config": "minikazam.gin", "train_gin_config": "binary_rl.gin", …}'
    )
    try:
        own = _read_own(folder)
    except FileNotFoundError:
        return f"how its network is built is not known: {fix}"
    except (OSError, ValueError) as error:
        return f"{folder}/{environment.OWN_SETTINGS}: {error}: {fix}"
    lacking = [name for name in _REQUIRED if name not in own]
    unknown = sorted(own.keys() - _DEFAULTS.keys() - set(_REQUIRED))
    if lacking or unknown:
        what = f"lacks {', '.join(lacking)}" if lacking else f"has unknown fields: {', '.join(unknown)}"
        return f"{folder}/{environment.OWN_SETTINGS} {what}: it may have {', '.join([*_REQUIRED, *_DEFAULTS])}"
    return ""


def _read_own(folder: Path) -> dict[str, str]:
    own = json.loads((folder / environment.OWN_SETTINGS).read_text(encoding="utf-8"))
    if not (isinstance(own, dict) and all(isinstance(value, str) for value in own.values())):
        raise ValueError("not an object of texts")
    return own


def _service(name: str, settings: Settings) -> Service:
    """Return the server of a checkpoint."""
    place = environment.python()
    if place is None:
        raise BadInput(f"metamon:{name}: metamon is not installed: {environment.SET_UP}")
    text = settings.to_json()
    arguments = [str(place), text, "--device", settings.device, "--linger", "10"]
    files = environment.checkpoints(Path(settings.folder)) if settings.folder else {}
    weights = environment.file_identity(files[settings.checkpoint]) if settings.checkpoint in files else ""
    path = socket_path(f"{place}\n{environment.cache_dir()}\n{text}\n{weights}")
    return Service(f"metamon's process for {name}", path, MODULE, arguments)


@cache
def model(name: str) -> type[Metamon]:
    """Return the agent class of a model of metamon, or of a run's folder."""
    if not _is_path(name) and not re.fullmatch(r"\w+", name):
        raise BadInput(
            f"agent 'metamon:{name}': not a model name: use e.g. metamon:{LISTED[0]}, or a path like ./{name}"
        )
    documentation = f"metamon's model {name}: " + (Metamon.__doc__ or "").partition(": ")[2]
    return type("Metamon", (Metamon,), {"__doc__": documentation, "__module__": __name__, "path": name})


#: Name -> agent class, for the registry; "*" for models that are not listed, and for folders.
MODELS: dict[str, Any] = {**{name: model(name) for name in LISTED}, "*": model}
