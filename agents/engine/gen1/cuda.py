"""The engine on a GPU: the same rules, compiled for CUDA by numba-cuda (extra `engine-cuda`), a thread for each battle.

Random play on an H200 had the CPU's counts of choices and turns; `step` was never run on a GPU (docs/engine.md). Without
one the kernels play the CPU's battles in CUDA's simulator, and they compile to PTX that fits
(tests/agents/engine/gen1/test_cuda.py). There is no `observe` yet.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numba
import numba.cuda
import numpy as np

from agents.engine.gen1.checks import check_actions_shape, indices
from agents.engine.gen1.engine import initial_rows
from agents.engine.gen1.layout import SIDE_WORDS, SIDES, UNDECIDED, WINNER, WORDS
from agents.engine.gen1.network_actions import engine_action
from agents.engine.gen1.requests import legal_actions
from agents.engine.gen1.rollout import play_at_random
from agents.engine.gen1.turn import start_battle, step_battle
from teamsets.errors import BadInput

cuda: Any = numba.cuda
config: Any = numba.config
#: Of a block. A step takes 255 registers: a multiprocessor holds 256 such threads.
THREADS = 64
DeviceArray = Any


def _load_numba_cuda() -> None:
    """Loads what numba-cuda else loads when it first compiles: its 0.30 asks for np.row_stack, which NumPy 2.5 removed."""
    if config.ENABLE_CUDASIM or find_spec("numba_cuda") is None or hasattr(np, "row_stack"):
        return
    arrays: Any = np
    arrays.row_stack = np.vstack
    try:
        importlib.import_module("numba.cuda.cudaimpl")
    finally:
        del arrays.row_stack


_load_numba_cuda()


def missing() -> str:
    """Why battles cannot be played on a GPU here, with what would help; empty where they can."""
    if not config.ENABLE_CUDASIM and find_spec("numba_cuda") is None:
        return "numba-cuda is not installed: run `uv pip install -e .[engine-cuda]`."
    return "" if cuda.is_available() else "there is no CUDA device: agents.engine.gen1.engine.Engine plays on the CPU."


@contextlib.contextmanager
def tables_in_global_memory() -> Iterator[None]:
    """While a kernel is compiled: each table of the rules once, in global memory.

    numba-cuda copies a table into constant memory at each place where a rule reads it: 1.97 MB for a step, of 64 KB that
    there are, and ptxas refuses that.
    """
    if config.ENABLE_CUDASIM:
        yield
        return
    from numba.cuda.target import CUDATargetContext

    target: Any = CUDATargetContext
    before = target.make_constant_array
    target.make_constant_array = _global_table
    try:
        yield
    finally:
        target.make_constant_array = before


def _global_table(context: Any, builder: Any, kind: Any, values: Any) -> Any:
    """Takes the place of CUDATargetContext.make_constant_array; equal tables have equal names and are merged."""
    from llvmlite import ir
    from numba.core import types

    values = np.ascontiguousarray(values)
    data = values.tobytes()
    name = f"table_{hashlib.sha256(data).hexdigest()[:16]}"
    table = builder.module.globals.get(name)
    if table is None:
        bytes_of = ir.ArrayType(ir.IntType(8), len(data))
        table = ir.GlobalVariable(builder.module, bytes_of, name, addrspace=1)
        table.linkage, table.global_constant, table.align = "linkonce_odr", True, 16
        table.initializer = ir.Constant(bytes_of, bytearray(data))
    array = context.make_array(kind)(context, builder)
    address = builder.addrspacecast(table, ir.PointerType(ir.IntType(8)), "generic")
    context.populate_array(
        array,
        data=builder.bitcast(address, array.data.type),
        shape=[context.get_constant(types.intp, size) for size in values.shape],
        strides=[context.get_constant(types.intp, stride) for stride in values.strides],
        itemsize=array.itemsize,
        parent=array.parent,
        meminfo=None,
    )
    return array._getvalue()


@cuda.jit
def begin_kernel(battles, rows, fresh):
    k = cuda.grid(1)
    if k < len(rows):
        b = battles[rows[k]]
        for word in range(len(b)):
            b[word] = fresh[k, word]
        start_battle(b)


@cuda.jit
def fork_kernel(battles, rows, copies):
    k = cuda.grid(1)
    if k < len(rows):
        for word in range(battles.shape[1]):
            copies[k, word] = battles[rows[k], word]


@cuda.jit
def legal_kernel(battles, masks):
    n = cuda.grid(1)
    if n < len(battles):
        for seat in range(2):
            playing = battles[n, WINNER] == UNDECIDED
            masks[n, seat] = legal_actions(battles[n], SIDES + seat * SIDE_WORDS) if playing else 0


@cuda.jit
def step_kernel(battles, actions, illegal):
    """illegal [1]: the greatest 1 + battle that had an illegal action, and was not stepped."""
    n = cuda.grid(1)
    if n < len(battles) and battles[n, WINNER] == UNDECIDED:
        refused = False
        for seat in range(2):
            legal = legal_actions(battles[n], SIDES + seat * SIDE_WORDS)
            if legal != 0 and (actions[n, seat] < 0 or (legal >> actions[n, seat]) & 1 == 0):
                refused = True
        if refused:
            cuda.atomic.max(illegal, 0, n + 1)
        else:
            step_battle(battles[n], actions[n, 0], actions[n, 1])


@cuda.jit
def translate_kernel(battles, rows, seats, actions, translated):
    k = cuda.grid(1)
    if k < len(rows):
        translated[k] = engine_action(battles[rows[k]], SIDES + seats[k] * SIDE_WORDS, actions[k])


@cuda.jit
def rollout_kernel(battles, fresh, states, steps, counts):
    n = cuda.grid(1)
    if n < len(battles):
        states[n] = play_at_random(battles[n], fresh[n], states[n], steps, counts[n])


class CudaEngine:
    """N battles in a GPU's memory, with the methods of agents.engine.gen1.engine.Engine.

    Arrays are on the device and cross to torch without a copy: `torch.as_tensor(engine.words, device="cuda")` shares its
    memory, and a method takes any array with `__cuda_array_interface__`, so a tensor. No method waits for the GPU, but
    `reset` and `check`. Raises BadInput where there is no GPU or no numba-cuda.
    """

    def __init__(self, battles: int, format_id: str = "gen1ou") -> None:
        if reason := missing():
            raise BadInput(f"CudaEngine: {reason}")
        self.format_id = format_id
        self.words: DeviceArray = cuda.to_device(np.zeros((battles, WORDS), np.int32))
        self._illegal = cuda.to_device(np.zeros(1, np.int32))

    def reset(self, teams: Sequence[tuple[str, str]], seeds: Sequence[str], rows: Sequence[int] | None = None) -> None:
        """Starts a battle in each row (of `rows`), as Engine.reset does."""
        places = np.arange(len(self.words)) if rows is None else indices("rows", rows, len(self.words))
        fresh = initial_rows(teams, seeds, len(places))
        _launch(begin_kernel, len(places), self.words, cuda.to_device(places), cuda.to_device(fresh))

    def fork(self, rows: Sequence[int]) -> CudaEngine:
        """A new engine with copies of those battles, in that order; a row may be named several times."""
        copied = indices("rows", rows, len(self.words))
        copies = CudaEngine(len(copied), self.format_id)
        _launch(fork_kernel, len(copied), self.words, cuda.to_device(copied), copies.words)
        return copies

    def legal(self) -> DeviceArray:
        """[N, 2] int32: each seat's legal actions as bits (layout.ACTIONS); 0 where it waits or the battle is over."""
        masks = cuda.to_device(np.zeros((len(self.words), 2), np.int32))
        _launch(legal_kernel, len(self.words), self.words, masks)
        return masks

    def step(self, actions: DeviceArray) -> None:
        """Plays `actions` [N, 2] int32. A battle with an illegal one stays as it is, and `check` reports it.

        Raises BadInput for another shape.
        """
        check_actions_shape(actions, len(self.words))
        _launch(step_kernel, len(self.words), self.words, actions, self._illegal)

    def check(self) -> None:
        """Waits for the GPU. Raises BadInput if any `step` so far had an illegal action."""
        battle = int(self._illegal.copy_to_host()[0]) - 1
        if battle >= 0:
            self._illegal.copy_to_device(np.zeros(1, np.int32))
            raise BadInput(f"battle {battle}: an action was not legal; the battle was not stepped.")

    def translate(self, rows: DeviceArray, seats: DeviceArray, actions: DeviceArray) -> DeviceArray:
        """The engine's actions (for `step`) of a network's actions (agents/observation/actions.py); -1: not legal."""
        translated = cuda.to_device(np.zeros(len(rows), np.int32))
        _launch(translate_kernel, len(rows), self.words, rows, seats, actions, translated)
        return translated

    def rollout(self, fresh: DeviceArray, states: DeviceArray, steps: int) -> DeviceArray:
        """Random play as agents.engine.gen1.rollout.rollout; returns its counts for each battle, [N, 3] int64."""
        counts = cuda.to_device(np.zeros((len(self.words), 3), np.int64))
        _launch(rollout_kernel, len(self.words), self.words, fresh, states, steps, counts)
        return counts


def _launch(kernel: Any, threads: int, *arguments: Any) -> None:
    """Runs a kernel with a thread for each of `threads`; compiles it the first time."""
    if threads:
        with tables_in_global_memory():
            kernel[-(-threads // THREADS), THREADS](*arguments)
