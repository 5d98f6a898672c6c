"""The benchmarks run and print their ratios. What the ratios are is no affair of a test: machines are noisy."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from support.command_line import PROJECT
from support.compilers import need_compiler

from agents.rules.batched import PLAYERS as ARRAY_PLAYERS
from agents.search.poke_engine.builds import missing

SCRIPTS = PROJECT / "scripts"


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, str(SCRIPTS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.slow
def test_throughput_compares_the_arena_with_poke_env_over_a_server() -> None:
    said = run("bench/throughput.py", "--battles", "6", "--rounds", "1", "--formats", "gen1randombattle")
    for way in ("poke-env", "arena", "arena, stock", "arena, random"):
        (speed,) = re.findall(rf"^gen1randombattle +{way} +([\d.]+) battles/s", said, re.MULTILINE)
        assert float(speed) > 0
        ratios = re.findall(
            rf"^gen1randombattle +{way} +is [\d.]+ times poke-env(?:, with [\d.]+ of its CPU time a battle)?$",
            said,
            re.MULTILINE,
        )
        assert len(ratios) == (way != "poke-env")


@pytest.mark.slow
@pytest.mark.torch
def test_the_engine_is_compared_with_the_simulator_as_a_venue() -> None:
    said = run("bench/engine_venue.py", "--battles", "4", "--engine-battles", "8", "--rounds", "1")
    ratios = [float(line.split()[4]) for line in said.splitlines() if "times as many" in line]
    assert len(ratios) == 2 and min(ratios) > 0


@pytest.mark.slow
def test_soak_reports_speed_and_memory_of_every_role() -> None:
    said = run("bench/soak.py", "--battles", "60")
    assert "60 battles" in said and "faults: 0" in said
    for role in ("coordinator", "workers", "hosts"):
        assert f"memory of {role}" in said


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: make ray")
@pytest.mark.parametrize("name, options", [("Ray", ()), ("Ray's client", ("--client",))])
def test_ray_is_compared_with_processes(name: str, options: tuple[str, ...]) -> None:
    said = run("bench/ray_workers.py", "--battles", "400", "--rounds", "1", *options)
    (ratio,) = re.findall(rf": {name} has ([\d.]+) of the battles/s of processes \(median of 1 rounds\)", said)
    assert float(ratio) > 0


@pytest.mark.skipif(bool(missing(1)), reason=missing(1))
def test_search_is_measured_in_strength_time_and_foresight() -> None:
    said = run("bench/search.py", "--agent", "search:mcts?iterations=1000", "--against", "random", "--battles", "2")
    assert "of the points in 1 pair\n" in said and "failed: 0" in said
    said = run("simulate/search_outcomes.py", "--battles", "2", "--show", "1")
    predicted, _, turns = said.partition("gen1ou: ")[2].split()[:3]
    assert 0 < int(predicted) <= int(turns)


@pytest.mark.slow
@pytest.mark.torch
def test_inference_compares_many_battles_with_one() -> None:
    said = run("bench/inference.py", "--battles", "4", "--decisions", "5", "--rounds", "1")
    assert float(said.split()[-1]) > 0


@pytest.mark.slow
def test_players_on_arrays_are_timed() -> None:
    said = run("bench/arrays.py", "--battles", "2", "--batch", "64", "--rounds", "1", "--instances", "5")
    assert said.count("decisions/s") == said.count("5 instances") == len(ARRAY_PLAYERS)


@pytest.mark.slow
@pytest.mark.torch
def test_training_compares_batches_by_length_with_others() -> None:
    said = run("bench/training_steps.py", "--batch", "2", "--seconds", "0.1")
    assert float(said.split()[-1]) > 0


@pytest.mark.slow
@pytest.mark.torch
def test_the_engine_is_measured_beside_showdown_and_poke_env() -> None:
    said = run("bench/engine.py", "--rounds=1", "--seconds=0.2", "--battles=64", "--server-battles=2", "--no-compile")
    for way in ("showdown", "poke-env", "engine"):
        assert re.search(rf"^round 1: {way} [\d,]+ turns/s", said, re.MULTILINE)
    assert re.search(r"^round 1: engine, observed [\d,]+ turns/s, [1-9][\d,]* choices/s", said, re.MULTILINE)
    for figure in ("engine / showdown", "engine, both sides observed"):
        assert f"{figure}: " in said
    assert "libpkmn: not measured here" in said


@pytest.mark.slow
def test_the_generation_9_engine_is_measured_beside_showdown_and_both_bars_are_compared() -> None:
    need_compiler()
    said = run("bench/engine.py", "--gen=9", "--rounds=1", "--seconds=0.2", "--battles=16")
    for way in ("engine, 1 thread", "engine, 1 thread, observed", "showdown, 1 process"):
        assert re.search(
            rf"^round 1: {way}: .* battles, [1-9][\d,]* turns, [1-9][\d,]* choices a CPU second; ", said, re.M
        )
    bars = said.splitlines()[-2:]
    for bar, name, figure in zip(
        bars,
        ("engine / showdown, on one core", r"engine, both sides observed, \d+ cores"),
        (r"times \(at least 100", r"decisions/s \(at least 20,000"),
        strict=True,
    ):
        assert re.fullmatch(rf"{name}: [\d,.]+ {figure}: (?:yes|NO), [\d.]+ of it\)", bar), bar


def test_options_of_generation_1_are_refused_for_generation_9() -> None:
    command = [sys.executable, str(SCRIPTS / "bench/engine.py"), "--gen=9", "--no-compile"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and "--gen 9 has no --no-compile" in done.stderr


@pytest.mark.slow
@pytest.mark.torch
def test_online_training_is_measured_on_both_venues() -> None:
    said = run("bench/online.py", "--iterations=1", "--battles=8", "--showdown-battles=4")
    for preset in ("micro", "tiny"):
        assert re.search(rf"^{preset} on engine: [1-9][\d,]* decisions/s \(.*learn \d", said, re.MULTILINE)
        (ratio,) = re.findall(rf"^{preset}: at least .*engine / Showdown: ([\d.]+) times", said, re.MULTILINE)
        assert float(ratio) > 0


@pytest.mark.slow
@pytest.mark.torch
def test_large_minibatches_are_measured_by_their_pieces() -> None:
    said = run("bench/minibatches.py", "--presets=micro", "--battles=8", "--rounds=1", "--sizes=64")
    for name in ("pieces of 64", r"all [\d,]+"):
        assert re.search(rf"^micro, {name}: [1-9][\d,]* decisions/s, \d+% system, [\d.]+ times$", said, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(
    ("options", "samples"),
    [
        ("--judge-samples=2 --determinizations 0 2", (0, 2)),
        ("--format gen9ou --policy gen9ou --teams verdict", (0,)),
    ],
)
def test_the_targets_of_expert_iteration_are_measured_by_sharpness(options: str, samples: tuple[int, ...]) -> None:
    few = "--battles=1 --share=0.3 --iterations 20 --judge-iterations=20"
    said = run("bench/search_targets.py", *few.split(), *options.split())
    for number in samples:
        head = rf"^{number} determinizations, 20 iterations: [1-9]\d* decisions of 1 battles"
        (part,) = re.findall(head + r".*(?:\n  .*gain .*)+", said, re.MULTILINE)
        distances = [float(distance) for distance in re.findall(r"distance ([\d.]+)", part)]
        assert len(distances) == 7 and distances == sorted(distances) and 0 < distances[0] < distances[-1] < 1
